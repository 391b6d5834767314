"""Native programs as files, so that their machine code is kept from one process to the next.

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
from pathlib import Path
from types import ModuleType
from typing import Any

from ...core import storage
from ...core.process_state import Lock

__all__ = ["KIND", "forget", "note", "program"]

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
