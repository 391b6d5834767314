"""Marks: what a value is, in a form that another process can compare.

Equal marks mean that the compiler would do the same: a function's mark is what its code does and the lines that it
stands in; an array's is its kind, for its content is read at each call.  What has no mark is known only by itself (an
object of a user's class, a generator, a lock), and a program that depends on it is not kept.

Marks are lists, strings and numbers, as JSON has them.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...domain.pytree import is_tensor, key

__all__ = ["NotKept", "mark_of_code", "mark_of_kind", "mark_of_name", "mark_of_plain", "named"]

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
