"""Calls of functions that numba compiled, or that have a cache: the Python function behind them is followed."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ...domain.foreign_objects import is_vectorized, python_of
from ...domain.values import Const, Value
from ...ir.builder import Specialiser
from ..kernel.operations import call_constant, call_python, opaque_call
from .progress_bars import bar_like


def behind_of(fn: Any) -> Callable[..., Any] | None:
    """The function to follow in the place of a compiled one, or of a class of progress bars; None for others."""
    if isinstance(fn, type):
        return range if fn is getattr(sys.modules.get("numba"), "prange", None) else bar_like(fn)
    return python_of(fn)


def call_behind(s: Specialiser, callee: Const, behind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a compiled function, or of one with a cache, whose Python function is `behind`."""
    if hasattr(callee.value, "cache_info"):
        return call_cached(s, callee, behind, args, kwargs)
    if is_vectorized(callee.value) and not all(is_number(s, value) for value in args):
        behind = elementwise(behind)
    return call_constant(s, Const(behind), args, kwargs)


def is_number(s: Specialiser, value: Value) -> bool:
    """True for one number."""
    facts = s.num(value)
    return facts is not None and facts.dims == () and facts.kind != "array"


@functools.cache
def elementwise(fn: Any) -> np.vectorize:
    """A function of arrays, from that of their elements."""
    return np.vectorize(fn)


def call_cached(s: Specialiser, callee: Const, behind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function with a cache, called with floats: as if it had none, where that is no difference."""
    floats = [f for v in [*args, *kwargs.values()] if (f := s.num(v)) is not None and f.differentiable]
    if not floats:
        return opaque_call(s, s.expr(callee), callee.value, args, kwargs)
    mark = len(s.block)
    result = call_python(s, behind, args, kwargs)
    quiet = all(isinstance(stmt, (ir.Let, ir.If, ir.Raise)) for stmt in ir.walk(s.block[mark:]))
    number = s.num(result)
    if not quiet or number is None or number.dims != ():
        raise s.refuse("cached-function", f"{callee.value.__name__} has a cache, and does more than compute a number")
    return result
