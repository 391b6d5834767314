"""Marks of values, which two processes can compare, and paths to them from the function that is differentiated.

Equal marks mean that the compiler would do the same: a function's mark is what its code does and the lines that it
stands in; an array's is its kind, for its content is read at each call.  What has no mark is known only by itself (an
object of a user's class, a generator, a lock), and a program that depends on it is not kept.

Marks are lists, strings and numbers, as JSON has them.

========================  ===========================================
path                      what is there
========================  ===========================================
``[]``                    what is differentiated
``["module", name]``      a module of a library
``["global", p, name]``   a name as the function at ``p`` sees it
``["cell", p, k]``        its k-th closure variable
``["default", p, k]``     the default of its k-th parameter with one
``["keyword", p, name]``  the default of a keyword-only parameter
``["code", p]``           what it does
``["item", p, key]``      an item of what is at ``p``
``["attribute", p, name]``  an attribute of it
========================  ===========================================

`Paths` walks them in one order when a program is kept and when it is looked up.  The marks that it gives number
functions, their globals, closure cells and arrays as they are met: what was one object then has to be one object now.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...domain.dependencies import AttributeRead, CellRead, CodeRead, DefaultRead, GlobalRead, ItemRead, KwDefaultRead
from ...domain.pytree import is_tensor, key
from ...domain.values import home_of

__all__ = ["NotKept", "Paths", "mark_of_code", "mark_of_kind", "mark_of_name", "mark_of_plain", "named"]

PLAIN = (type(None), bool, int, float, complex, str, bytes)
LIBRARIES = frozenset({"numpy", "scipy", "autodiff_sct", "builtins", *sys.stdlib_module_names})
HOMES_OF_UFUNCS = ("numpy", "scipy.special")
STANDARD = os.path.dirname(os.__file__)


class NotKept(Exception):
    """A program depends on something that another process cannot find or compare."""


def mark_of_plain(value: Any) -> list[Any]:
    """The mark of a literal."""
    return [type(value).__name__, repr(value)]


def mark_of_kind(value: Any) -> Any:
    """The mark of an input: what a program is specialised on, not its content."""
    return told(key(value))


def told(kind: Any) -> Any:
    """The mark of a result of `structure.key`."""
    if isinstance(kind, tuple) and type(kind) is tuple:
        return ["key", *[told(part) for part in kind]]
    if isinstance(kind, np.dtype):
        if kind.fields is not None or kind.subdtype is not None or kind.metadata:
            raise NotKept(kind)
        return ["dtype", kind.str]
    if isinstance(kind, type):
        return mark_of_name(kind)
    if type(kind) in PLAIN:
        return mark_of_plain(kind)
    raise NotKept(kind)


def mark_of_name(value: Any) -> list[Any]:
    """The mark of something of a library: its module, its name there, and the library's version."""
    for home in homes(value):
        name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
        if is_library(home) and named(home, name) is value:
            return ["named", home, name, version_of(home)]
    raise NotKept(value)


def homes(value: Any) -> Iterator[str]:
    if isinstance(value, np.ufunc):
        yield from HOMES_OF_UFUNCS
    elif isinstance(home := getattr(value, "__module__", None), str):
        yield home


def named(home: str, name: str) -> Any:
    """The object of a dotted name in a module; None where there is none."""
    try:
        value: Any = import_module(home)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):
        return None
    return value


def is_library(home: str) -> bool:
    """True if a module is part of Python or of a library whose versions are told apart."""
    top = home.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    own = top not in sys.stdlib_module_names or file is None or file.startswith(STANDARD)
    return top in LIBRARIES and own


def version_of(home: str) -> str:
    return str(getattr(sys.modules.get(home.partition(".")[0]), "__version__", ""))


def mark_of_module(module: ModuleType) -> list[Any]:
    if sys.modules.get(module.__name__) is not module:
        raise NotKept(module)
    return ["module", module.__name__, version_of(module.__name__) if is_library(module.__name__) else ""]


def mark_of_code(fn: FunctionType) -> list[Any]:
    """The mark of a function's code and of its lines, which comments in the emitted text show."""
    if fn.__dict__:
        raise NotKept(fn)
    code = fn.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : last_line(code)]
    if not lines:
        raise NotKept(fn)
    digest = hashlib.sha256("\0".join([*facts_of_code(code), *lines]).encode("utf-8", "surrogatepass"))
    shape = [len(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {})]
    return ["function", fn.__module__ or "", fn.__name__, fn.__qualname__, shape, digest.hexdigest()]


def last_line(code: CodeType) -> int:
    """The last line of a function that any instruction comes from."""
    own = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return max([own, *(last_line(c) for c in code.co_consts if isinstance(c, CodeType))])


def facts_of_code(code: CodeType) -> Iterator[str]:
    """All that a code object says, its place in the text included."""
    yield code.co_filename
    yield repr((code.co_name, code.co_qualname, code.co_firstlineno, code.co_flags))
    yield repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))
    yield repr((code.co_code, code.co_linetable, code.co_exceptiontable))
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        yield from facts_of_constant(constant)


def facts_of_constant(constant: Any) -> Iterator[str]:
    if isinstance(constant, CodeType):
        yield from facts_of_code(constant)
    elif isinstance(constant, tuple):
        yield f"tuple of {len(constant)}"
        for item in constant:
            yield from facts_of_constant(item)
    elif isinstance(constant, frozenset):
        yield repr(sorted(repr(item) for item in constant))
    else:
        yield f"{type(constant).__name__} {constant!r}"


def is_input(value: Any) -> bool:
    """True if a value from outside is an input of the emitted program, told by its kind."""
    if type(value) is list:
        return all(map(is_input, value))
    plain_tensor = is_tensor(value) and type(value).__name__ == "Tensor" and is_library(type(value).__module__)
    return type(value) in (int, float, complex, np.ndarray) or isinstance(value, np.generic) or plain_tensor


Path = list[Any]


class Paths:
    """The functions of a program and where they are."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.functions: dict[int, Path] = {}
        self.tables: dict[int, Path] = {}  # of globals -> a function that has them
        self.cells: dict[int, Path] = {}
        self.numbers: dict[int, tuple[int, Any]] = {}  # id -> number, and the object, kept alive
        self.start = self.mark(root, [])

    # -- marks

    def mark(self, value: Any, path: Path) -> list[Any]:
        """The mark of the object at a path; functions there are known from now on."""
        if isinstance(value, ModuleType):
            return mark_of_module(value)
        if hasattr(type(value), "__autodiff_gradient__"):
            return self.mark_gradient(value, path)
        if isinstance(value, FunctionType) and not is_library(home_of(value)):
            return self.mark_function(value, path)
        if type(value) in PLAIN and type(value) not in (int, float, complex):
            return mark_of_plain(value)
        if type(value) is tuple:
            return ["tuple", len(value)]
        if is_input(value):
            one = isinstance(value, (int, float, complex, np.generic))
            return ["input", mark_of_kind(value), -1 if one else self.number(value)]
        return mark_of_name(value)

    def mark_function(self, fn: FunctionType, path: Path) -> list[Any]:
        self.functions.setdefault(id(fn), path)
        self.tables.setdefault(id(fn.__globals__), path)
        cells = fn.__closure__ or ()
        for k, cell in enumerate(cells):
            self.cells.setdefault(id(cell), ["cell", path, k])
        numbers = [self.number(each) for each in (fn, fn.__globals__, *cells)]
        return [*mark_of_code(fn), numbers]

    def mark_gradient(self, gradient: Any, path: Path) -> list[Any]:
        """A gradient function is what it is a gradient of and its settings."""
        names = vars(type(gradient)).get("__autodiff_settings__")  # its own, not those of a class that it extends
        if names is None or gradient.weights is not None:
            raise NotKept(gradient)
        settings = [repr(getattr(gradient, name)) for name in names]
        return ["gradient", *settings, self.mark(gradient.fn, ["attribute", path, "fn"])]

    def number(self, value: Any) -> int:
        """A number for an object, the same whenever it is met."""
        return self.numbers.setdefault(id(value), (len(self.numbers), value))[0]

    # -- from readings to paths

    def locate(self, read: Callable[[], Any]) -> Path | None:
        """The path of something that is read; None as long as nothing leads there."""
        if isinstance(read, GlobalRead):
            home = self.tables.get(id(read.table))
            return self.in_library(read) if home is None else ["global", home, read.name]
        if isinstance(read, CellRead):
            return self.cells.get(id(read.cell))
        if isinstance(read, DefaultRead):
            return self.of_function("default", read.fn, read.place)
        if isinstance(read, KwDefaultRead):
            return self.of_function("keyword", read.fn, read.name)
        if isinstance(read, CodeRead):
            return self.of_function("code", read.fn)
        if isinstance(read, ItemRead):
            inner = self.locate(read.read)
            return None if inner is None else ["item", inner, read.key]
        if isinstance(read, AttributeRead) and isinstance(read.owner, ModuleType):
            return ["attribute", ["module", mark_of_module(read.owner)[1]], read.name]
        return None

    def of_function(self, kind: str, fn: FunctionType, *rest: Any) -> Path | None:
        home = self.functions.get(id(fn))
        return None if home is None else [kind, home, *rest]

    def in_library(self, read: GlobalRead) -> Path | None:
        """The globals of a library's own functions."""
        home = read.table.get("__name__", "")
        return ["attribute", ["module", home], read.name] if is_library(home) and read.name in read.table else None

    # -- and back

    def read(self, path: Path) -> Callable[[], Any]:
        """The reader of a path, for any number of reads."""
        kind, inner, *rest = path
        if kind == "item":
            return ItemRead(self.read(inner), rest[0])
        if kind == "attribute":
            return AttributeRead(self.value(inner), rest[0])
        if kind == "cell":
            return CellRead(self.value(inner).__closure__[rest[0]])
        if kind == "global":
            return GlobalRead(self.value(inner).__globals__, rest[0])
        makers: dict[str, Any] = {"default": DefaultRead, "keyword": KwDefaultRead, "code": CodeRead}
        made: Callable[[], Any] = makers[kind](self.value(inner), *rest)
        return made

    def value(self, path: Path) -> Any:
        """The object at a path at present."""
        if not path:
            return self.root
        if path[0] == "module":
            return module_of(path[1])
        return self.read(path)()


def module_of(name: str) -> ModuleType:
    found = sys.modules.get(name)
    if found is None and is_library(name):
        named(name, "__name__")
        found = sys.modules.get(name)
    if found is None:
        raise NotKept(name)
    return found
