"""The compiler's door: read at the first gradient, so that importing the package stays quick."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from . import installed  # noqa: F401  (what the package's files are now is compared with what they are later)
from .forks import Lock

__all__ = ["REGISTERED", "compiled", "dispatch", "made"]

KEPT = 64  # functions whose products are remembered between calls
PRODUCTS: dict[Any, Any] = {}
REGISTERED: list[Any] = []  # what users have registered a derivative for
LOCK = Lock()


def dispatch() -> Any:
    """The module with `Adjoint`, `Pullback` and `Pushforward`."""
    from .compiler import dispatch as module

    return module


def compiled(kind: str, fn: Any, *settings: Any, memory: int | None = None) -> Any:
    """The `Adjoint`, `Pullback` or `Pushforward` of `fn`: that of an earlier call where nothing is kept alive by it.

    A function that captures nothing is known by its code and its module: a lambda is another one each time.  What is
    compiled depends on the passes that are off and on the rules that users have registered, too.
    """
    table = table_of(fn)
    if table is None:
        return made(kind, fn, *settings, memory=memory)
    known = (fn.__code__, id(fn.__globals__)) if type(fn) is FunctionType else (fn,)
    key = (kind, *known, *settings, memory, dispatch().passes.off(), len(REGISTERED))
    with LOCK:
        found = table.pop(key, None)
        if found is None or getattr(found.fn, "__code__", None) is not getattr(fn, "__code__", None):
            found = made(kind, fn, *settings, memory=memory)
        table[key] = found  # the last used comes last
        while len(table) > KEPT:
            del table[next(iter(table))]
    return found


def made(kind: str, fn: Any, *settings: Any, memory: int | None = None) -> Any:
    """The `Adjoint`, `Pullback` or `Pushforward` of `fn`, made anew."""
    result = getattr(dispatch(), kind)(fn, *settings)
    result.memory = memory
    return result


def table_of(fn: Any) -> dict[Any, Any] | None:
    """Where the products of a function are kept: with itself, or here if it captures nothing; else nowhere.

    Of what is kept here, all stays alive: so it is for functions of modules, which do anyway.
    """
    if type(fn) is not FunctionType:
        return getattr(fn, "__autodiff_products__", None)
    module = sys.modules.get(fn.__globals__.get("__name__", ""))
    if fn.__closure__ or fn.__defaults__ or fn.__kwdefaults__ or fn.__dict__:
        return None
    return PRODUCTS if getattr(module, "__dict__", None) is fn.__globals__ else None
