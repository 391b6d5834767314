"""The compiler's door: read at the first gradient, so that importing the package stays quick."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from . import installed  # noqa: F401  (what the package's files are now is compared with what they are later)
from .forks import Lock

__all__ = ["compiled", "dispatch"]

KEPT = 64  # functions whose products are remembered between calls
PRODUCTS: dict[Any, Any] = {}
LOCK = Lock()


def dispatch() -> Any:
    """The module with `Adjoint`, `Pullback` and `Pushforward`."""
    from .compiler import dispatch as module

    return module


def compiled(kind: str, fn: Any, positions: tuple[int, ...], has_aux: bool, backend: str = "numpy") -> Any:
    """The `Pullback` or `Pushforward` of `fn`: that of an earlier call where nothing is kept alive by it."""
    make = getattr(dispatch(), kind)
    arguments = (fn, positions, *([()] if kind == "Pullback" else []), has_aux, backend)
    table = table_of(fn)
    if table is None:
        return make(*arguments)
    key = (kind, fn, getattr(fn, "__code__", None), positions, has_aux, backend)
    with LOCK:
        found = table.pop(key, None) or make(*arguments)
        table[key] = found  # the last used comes last
        while len(table) > KEPT:
            del table[next(iter(table))]
    return found


def table_of(fn: Any) -> dict[Any, Any] | None:
    """Where the products of a function are kept: with itself, or here if it captures nothing; else nowhere."""
    if type(fn) is FunctionType:
        return None if fn.__closure__ or fn.__defaults__ or fn.__kwdefaults__ else PRODUCTS
    return getattr(fn, "__autodiff_products__", None)
