"""Functions of NumPy with settings that say the same as other functions of NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .calls import call_python
from .numpy_calls import numpy_call
from .state import Specialiser
from .values import Const, Value

UNSTACK = {np.unstack} if hasattr(np, "unstack") else set()


def rewritten(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """What a call means, where it has such settings."""
    if fn is np.average and kwargs.get("returned", Const(False)) == Const(True):
        return call_python(s, average_and_weight, args, {k: v for k, v in kwargs.items() if k != "returned"})
    if fn in (np.var, np.std) and "correction" in kwargs:
        named = {k: v for k, v in kwargs.items() if k != "correction"}
        return numpy_call(s, fn, args, {**named, "ddof": kwargs["correction"]})
    if fn in (np.var, np.std) and "mean" in kwargs:
        return call_python(s, variance_around if fn is np.var else deviation_around, args, kwargs)
    if fn in UNSTACK and not is_known(s, args[0], kwargs.get("axis", Const(0))):
        return call_python(s, unstacked, args, kwargs)
    return None


def is_known(s: Specialiser, x: Value, axis: Value) -> bool:
    """Whether it is known how long an axis is."""
    facts = s.num(x)
    if facts is None or facts.dims is None or not s.is_static(axis):
        return False
    return isinstance(facts.dims[s.static(axis)], int)


def average_and_weight(a: Any, axis: Any = None, weights: Any = None) -> Any:
    average = np.average(a, axis, weights)
    if weights is None:
        return average, np.full_like(average, a.size / average.size)
    if weights.ndim < a.ndim:
        return average, np.full_like(average, 1.0) * np.sum(weights)
    return average, np.sum(weights, axis)


def variance_around(a: Any, axis: Any = None, mean: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    distance = a - mean
    return np.sum(distance * distance, axis, keepdims=keepdims) / (together(a, axis) - ddof)


def deviation_around(a: Any, axis: Any = None, mean: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    return np.sqrt(variance_around(a, axis, mean, ddof, keepdims))


def together(a: Any, axis: Any) -> Any:
    """How many elements a reduction takes together."""
    if axis is None:
        return a.size
    if isinstance(axis, tuple):
        return math.prod([a.shape[k] for k in axis])
    return a.shape[axis]


def unstacked(x: Any, axis: Any = 0) -> Any:
    return tuple(np.moveaxis(x, axis, 0)) if axis != 0 else tuple(x)
