"""Meanings of calls, by function: tables that the rooms of the interpreter fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...domain.values import Value
from ...ir.builder import Specialiser

Handler = Callable[[Specialiser, list[Value], dict[str, Value]], Value]

HANDLERS: dict[Any, Handler] = {}
WRAPPERS: dict[Any, Callable[[Any, Handler], Handler]] = {}
OTHERWISE: dict[Any, Callable[[Specialiser, list[Value], dict[str, Value]], Value | None]] = {}  # else by the table
MADE: dict[type, Callable[[Specialiser, Any], Value]] = {}  # class of a callable object -> what is called for it
HOOKS: dict[str, Callable[[Specialiser, Any, list[Value], dict[str, Value]], Value]] = {}  # calls of derivatives


def handles(*fns: Any) -> Callable[[Any], Any]:
    """Register the meaning of a call that is more than one operation."""

    def register(handler: Any) -> Any:
        for fn in fns:
            HANDLERS[fn] = WRAPPERS[fn](fn, handler) if fn in WRAPPERS else handler
        return handler

    return register


def wraps(*fns: Any) -> Callable[[Any], Any]:
    """Register what is put around the meaning of a call, which may be registered before or after."""

    def register(wrapper: Any) -> Any:
        for fn in fns:
            WRAPPERS[fn] = wrapper
            if fn in HANDLERS:
                HANDLERS[fn] = wrapper(fn, HANDLERS[fn])
        return wrapper

    return register


def otherwise(fn: Any) -> Callable[[Any], Any]:
    """Register what some calls of a function in the table are written with; None says that the table has its rule."""

    def register(handler: Any) -> Any:
        OTHERWISE[fn] = handler
        return handler

    return register


def is_hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True
