"""Native programs as functions with the NumPy program behind them, and as files, so that their machine code is kept.

Native code gives up where Python or NumPy would do something else than compute: raise, broadcast an axis that happened
to have length 1, grow an integer past 64 bits.  It has no side effects and changes none of its arguments, so the NumPy
program then runs from the start and does what is right.

A program's file is named after its text and after everything else that its machine code depends on.  What runs is the
text that comes from the compiler or from `driver.cache`, never what the file holds: the file is compared with it and
replaced
if it differs.  Machine code is only taken from a folder that belongs to this user and that nobody else may write to,
and only if it is, byte for byte, what was noted down when it was made.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import linecache
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...core import storage, thresholds
from ...core.process_state import Lock
from . import NativeWarning, NoRoom

__all__ = ["KIND", "WIDTH", "Native", "NativeFunction", "forget", "kinds_from", "kinds_told", "note", "program"]

PREFIX, KIND = "autodiff_sct_native_", "native"
_lock = Lock()


@functools.cache
def surroundings() -> str:
    """The surroundings that machine code depends on beside the program's text."""
    import llvmlite.binding as llvm
    import numba
    import numpy

    own = Path(__file__).with_name("math_library.py").read_text(encoding="utf-8")
    cpu = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    return "\n".join([numba.__version__, numpy.__version__, sys.version, cpu, own])


def program(text: str, name: str) -> Any:
    """The function `name` of a native program, compiled or taken from the cache when it is first called."""
    digest = hashlib.sha256(f"{surroundings()}\n{text}".encode()).hexdigest()[:32]
    stem = PREFIX + digest
    with _lock:
        if stem not in sys.modules:
            sys.modules[stem] = load(stem, text)
        return getattr(sys.modules[stem], name)


def load(stem: str, text: str) -> ModuleType:
    """The module of a program, its text in a file where that may be."""
    place = storage.folder(KIND)
    module = ModuleType(stem)
    if place is None or not kept(place / f"{stem}.py", text):
        # Without a file there is nothing to key machine code on.
        filename = f"<{stem}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        text = text.replace("cache=True, ", "", 1)
    else:
        filename = str(place / f"{stem}.py")
        verify(place, stem)
        module.__spec__ = importlib.util.spec_from_file_location(stem, filename)
    module.__file__ = filename
    sys.modules[stem] = module
    try:
        exec(compile(text, filename, "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[stem]
        raise
    return module


def kept(path: Path, text: str) -> bool:
    """Have the text in a file; one that holds it already is left alone."""
    content = text.encode()
    try:
        if not path.is_symlink() and path.is_file() and path.read_bytes() == content:
            return True
        storage.write(path, content)
    except OSError:
        return False
    return True


def machine_code(place: Path, stem: str) -> list[Path]:
    """The files in which numba keeps the machine code of a program."""
    return sorted(p for p in (place / "__pycache__").glob(f"{stem}.*") if p.suffix in (".nbi", ".nbc"))


def digest_of(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def note(stem: str) -> None:
    """Note down what the machine code of a program is, after it was made."""
    place = storage.folder(KIND)
    if place is not None and (files := machine_code(place, stem)):
        try:
            storage.write(place / f"{stem}.sum", digest_of(files).encode())
            storage.prune()
        except OSError:
            pass


def verify(place: Path, stem: str) -> None:
    """Throw machine code away that is not what was noted down."""
    try:
        files = machine_code(place, stem)
        path = place / f"{stem}.sum"
        if files and (not path.is_file() or path.read_text() != digest_of(files)):
            forget(place, stem)
    except (OSError, ValueError):
        forget(place, stem)


def forget(place: Path, stem: str) -> None:
    """Remove the machine code of a program."""
    for path in [*machine_code(place, stem), place / f"{stem}.sum"]:
        try:
            path.unlink()
        except OSError:
            pass


WIDTH = 28  # bits of integers that come from outside, and of lengths: there is room for products of two and for sums
WHOLE = 2**WIDTH


@dataclass(frozen=True)
class Native:
    """The text of a native function and the kinds of its results: types, None where nothing is a number, or tuples."""

    name: str
    text: str
    results: Any
    loops: bool  # whether the program itself has loops


class NativeFunction:
    """An emitted function that runs natively.

    Attributes
    ----------
    text : str
        The native program.
    plain : callable
        The NumPy program for the same.
    names : dict
        What the names of the NumPy program stand for.
    """

    def __init__(self, native: Native, plain: Callable[..., Any], title: str, names: dict[str, Any]) -> None:
        self.text, self.plain, self.title, self.names = native.text, plain, title, names
        self.native, self.name, self.results = native, native.name, native.results
        self.count = plain.__code__.co_argcount
        self.kernel: Any = None
        self.whole: list[int] = []  # the places of integers
        self.rest: tuple[Any, ...] = ()  # seeds that a call leaves out, and the room for lists that grow
        self.overloads: Any = ()  # the kinds of arguments that there is machine code for
        self.known = 0  # how many of them were noted down in the cache
        self.convert: Any = None  # what gives results the types of `results`, where machine code does not
        self.told = False
        self.__code__ = plain.__code__
        self.__name__ = plain.__name__
        self.__autodiff_origins__ = getattr(plain, "__autodiff_origins__", {})

    def __call__(self, *args: Any) -> Any:
        kernel = self.kernel
        if kernel is None:
            kernel = self.loaded(args)
        for k in self.whole:
            if not -WHOLE < args[k] < WHOLE:
                return self.plain(*args)
        try:
            result = kernel(*args, *self.rest)
        except NoRoom:
            *seeds, room = self.rest
            self.rest = (*seeds, 8 * room)
            return self(*args)
        except Exception as error:
            return self.give_up(args, error)
        if len(self.overloads) != self.known:
            self.note(result)
        return result if self.convert is None else self.convert(result)

    def loaded(self, args: tuple[Any, ...]) -> Any:
        """The compiled function; what kinds of arguments a program is called with does not change."""
        import numba

        self.whole = [
            k for k, value in enumerate(args) if isinstance(value, (int, np.integer)) and type(value) is not bool
        ]
        ours = f"(.*[/\\\\])?<?{PREFIX}"  # the file's name without its ending, or that of a text
        warnings.filterwarnings("ignore", category=numba.NumbaPerformanceWarning, module=ours)
        self.kernel = program(self.text, self.name)
        grows = self.kernel.py_func.__code__.co_argcount > self.count
        self.rest = (1.0,) * (self.count - len(args)) + (thresholds.ITEMS_AT_FIRST,) * grows
        self.overloads = self.kernel.overloads
        return self.kernel

    def note(self, result: Any) -> None:
        """New machine code was made, or found in the cache: note down what is there, and which types it gives."""
        first = self.known == 0
        self.known = len(self.overloads)
        self.convert = conversion(self.results, result if first else None)
        if any(self.kernel.stats.cache_misses.values()):
            note(self.kernel.__module__)

    def give_up(self, args: tuple[Any, ...], error: Exception) -> Any:
        """Run the NumPy program; if it works, say once that the native one did not."""
        import numba

        uncompiled = isinstance(error, numba.errors.NumbaError)
        if uncompiled:
            self.kernel = lambda *args: self.plain(*args)
            self.overloads, self.known = (), 0
            self.convert = None
        result = self.plain(*args)
        if not self.told:
            self.told = True
            reason = f"numba: {str(error).splitlines()[0]}" if uncompiled else f"{type(error).__name__} {error}".strip()
            warnings.warn(NativeWarning(f"{self.title} ran as NumPy code ({reason})"), stacklevel=4)
        return result


PYTHON = (float, int, bool)  # the kinds of Python's own numbers


def kinds_told(kinds: Any) -> Any:
    """The kinds of results as JSON has them."""
    if isinstance(kinds, tuple):
        return [kinds_told(kind) for kind in kinds]
    return None if kinds is None else f"Python {kinds.__name__}" if kinds in PYTHON else np.dtype(kinds).name


def kinds_from(told: Any) -> Any:
    """The kinds of results from what `kinds_told` made of them."""
    if isinstance(told, list):
        return tuple(map(kinds_from, told))
    named = {f"Python {kind.__name__}": kind for kind in PYTHON}
    return None if told is None else named[told] if told in named else np.dtype(told).type


def conversion(kinds: Any, result: Any) -> Any:
    """The conversion of results to the types that NumPy gives them: natively, every number is a Python number.

    None where nothing has to be done, since `result`, one of them, has these types already.
    """
    if kinds is None or type(result) is kinds:
        return None
    if not isinstance(kinds, tuple):
        return kinds
    given = result if isinstance(result, tuple) else (None,) * len(kinds)
    parts = [conversion(kind, value) for kind, value in zip(kinds, given)]
    if not any(parts):
        return None

    def convert(value: Any) -> Any:
        return tuple([v if part is None else part(v) for part, v in zip(parts, value)])

    return convert
