"""Foreign objects, which the program passes on and calls methods of, and whose attributes the compiler does not read.

Theirs are classes of the standard library (a logger, a path), compiled ones (a connection, an HDF5 file), and those of
installed packages that keep their data in a compiled object (a pandas frame).  What their methods return is of a kind
that only the run knows, and carries no derivative.
"""

from __future__ import annotations

import builtins
import sys
import sysconfig
from types import BuiltinFunctionType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["PACKAGES", "extends_builtin", "home_of", "is_compiled", "is_foreign", "is_packaged", "python_of"]

PACKAGES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
# Modules of the standard library whose objects are made of values that can be followed.
FOLLOWED = set("_thread argparse builtins collections dataclasses enum fractions functools threading types".split())
KNOWN: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_foreign(value: Any) -> bool:
    """True if an object is of a class whose attributes are not read; the first object of a class decides for all."""
    cls = type(value)
    if cls not in KNOWN:
        KNOWN[cls] = is_opaque(cls) or (is_installed(cls) and holds_opaque(value))
    return KNOWN[cls]


def is_opaque(cls: type) -> bool:
    """True for a class of the standard library, and for one that is compiled or extends such a class."""
    root = cls.__module__.split(".")[0]
    if root in sys.stdlib_module_names:
        return root not in FOLLOWED
    return any(is_compiled(base) and not is_basic(base) for base in cls.__mro__)


def extends_builtin(cls: type) -> bool:
    """True if a class extends one of Python's own, such as dict."""
    return any(base.__module__ == "builtins" for base in cls.__mro__[1:-1])


def is_compiled(cls: type) -> bool:
    """True if a class is not written in Python, so that its objects hold more than can be seen of them."""
    return isinstance(vars(cls).get("__new__"), BuiltinFunctionType)


def is_basic(cls: type) -> bool:
    """True for a class of Python itself or of NumPy."""
    return getattr(builtins, cls.__name__, None) is cls or cls.__module__.split(".")[0] in ("numpy", *FOLLOWED)


def is_installed(cls: type) -> bool:
    """True if the module of a class is in an installed package."""
    return is_packaged(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")


def is_packaged(text: Any) -> bool:
    """True for a file of an installed package, and for a function whose text is in one."""
    file = text.__code__.co_filename if isinstance(text, FunctionType) else text
    return isinstance(file, str) and file.startswith(PACKAGES)


def holds_opaque(value: Any) -> bool:
    """True if an attribute of an object is a compiled object, or one that extends such."""
    held = [getattr(value, name, None) for cls in type(value).__mro__ for name in slots_of(cls)]
    return any(is_opaque(type(each)) for each in [*held, *getattr(value, "__dict__", {}).values()])


def slots_of(cls: type) -> tuple[str, ...]:
    """The names of the slots of a class."""
    names = vars(cls).get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)


def python_of(fn: Any) -> FunctionType | None:
    """The Python function behind one that was compiled (`numba.njit`) or is remembered (`functools.lru_cache`).

    Of numba's vectorized functions, it is that of their elements.
    """
    if isinstance(fn, (FunctionType, type)) or not callable(fn):
        return None
    own = getattr(fn._dispatcher if is_vectorized(fn) else fn, "__dict__", {})
    behind = own.get("__wrapped__") if hasattr(type(fn), "cache_info") else own.get("py_func")
    return behind if isinstance(behind, FunctionType) else None


def is_vectorized(fn: Any) -> bool:
    """True for a function that `numba.vectorize` made."""
    return type(fn).__name__ == "DUFunc" and type(fn).__module__.startswith("numba.")


def home_of(fn: Any) -> str:
    """The name of the module whose text makes a callable: a wrapper's ``__module__`` is that of what it wraps."""
    if isinstance(fn, FunctionType):
        return str(fn.__globals__.get("__name__", ""))
    return getattr(fn, "__module__", None) or ""
