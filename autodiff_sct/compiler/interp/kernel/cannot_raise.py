"""Operations that surely succeed: what nobody reads of them need not run, and others may run before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...domain.values import Const, Value
from ...ir.builder import Specialiser

NEVER_FAIL = {np.add, np.subtract, np.multiply, np.negative}  # on Python's numbers
INTEGERS_FAIL = {np.power, np.left_shift, np.right_shift}  # on some integers, or on numbers that are no integers
SUMS = frozenset((np.sum, np.mean, np.prod, np.nansum, np.nanmean, np.nanprod))


def surely_sums(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True for a sum or a mean of numbers that cannot fail: it is over everything, or over an axis that there is."""
    if s.loud or fn not in SUMS:
        return False
    if len(args) == 1 and not kwargs:
        return True
    axis = args[1] if len(args) == 2 else kwargs.get("axis", Const(None))
    facts, keepdims = s.num(args[0]), kwargs.get("keepdims", Const(False))
    if len(args) > 2 or not kwargs.keys() <= {"axis", "keepdims"} or facts is None or facts.ndim is None:
        return False
    if not isinstance(axis, Const) or not isinstance(keepdims, Const):
        return False
    return axis.value is None or type(axis.value) is int and -facts.ndim <= axis.value < facts.ndim


def cannot_fail(s: Specialiser, fn: Callable[..., Any], python: Callable[..., Any], args: list[Value]) -> bool:
    """True if an elementwise operation surely succeeds: numbers whose shapes are known to fit."""
    if s.loud:
        return False
    shapes, numbers, integers = [], True, True
    for arg in args:
        facts = s.num(arg)
        if facts is None or facts.dtype is None or facts.dims is None:
            return False
        numbers, integers = numbers and facts.python, integers and facts.dtype.kind in "biu"
        if facts.dims:
            shapes.append(facts.dims)
    if integers and fn in INTEGERS_FAIL:
        return False
    if getattr(python, "__module__", None) == "math":  # which raises where NumPy warns, of NumPy's scalars, too
        return False
    if numbers:
        return isinstance(python, np.ufunc) or fn in NEVER_FAIL
    return s.have_met(shapes)
