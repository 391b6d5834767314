"""The helpers of emitted code: derivatives fitted to what they belong to."""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...domain.facts import INT
from ..kinds import FLOAT64, INT64, Bundle, Grid, Items, Number, Raw, Value
from ..passes.index_functions import fitted, reduced, spread_once, to_number
from ..state import State, length_of
from . import lists, scalars
from .constructors import filled, full
from .expressions import lower, operands
from .reductions import Arguments, Keywords


def fitted_like(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``unbroadcast``: nothing to do where the shapes are one, which is checked."""
    cotangent, pattern = lower(state, args[0]), lower(state, args[1])
    operands(state, cotangent, pattern)
    if isinstance(pattern, Number):
        dtype = pattern.dtype if pattern.dtype.kind == "f" else FLOAT64
        if isinstance(cotangent, Grid):
            cotangent = to_number(state, "sum", cotangent)
        expr = scalars.as_dtype(cotangent, dtype)
        return Number(expr, dtype, pattern.python)
    if isinstance(cotangent, Number):
        return full(state, pattern.axes, cotangent, pattern.dtype)
    return fitted_grid(state, cotangent, pattern)


def fitted_grid(state: State, cotangent: Grid, pattern: Grid) -> Value:
    """A cotangent summed over the axes that its pattern lacks or has as 1, repeated along those that it lacks."""
    if cotangent.dtype != pattern.dtype:
        raise state.outside("a derivative whose dtype is not known before the run")
    extra = cotangent.ndim - pattern.ndim
    if extra > 0:
        cotangent = reduced(state, "sum", cotangent, tuple(range(extra)), False)
    behind = pattern.axes[-extra:] if extra < 0 else pattern.axes
    summed = tuple(k for k, (a, b) in enumerate(zip(cotangent.axes, behind)) if b.one and not a.one)
    if summed:
        cotangent = reduced(state, "sum", cotangent, summed, True)
    for a, b in zip(cotangent.axes, behind):
        if not a.one:
            state.same_length(a, b)
    if extra >= 0 and all(a.one == b.one for a, b in zip(cotangent.axes, behind)):
        return cotangent
    source = spread_once(state, cotangent, pattern.axes)
    return Grid(pattern.axes, pattern.dtype, lambda index: fitted(source, index), copied=True)


def spread(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = fitted_like(state, args, keywords)
    return Grid(value.axes, value.dtype, value.at, copied=True) if isinstance(value, Grid) else value


def derivative_like(fill: int) -> Any:
    """`zeros_like` and `ones_like` of the run time: integers have derivatives of double precision."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        pattern = lower(state, args[0])
        if isinstance(pattern, (Items, Bundle)):
            return lists.zeros(state, pattern, float(fill))
        operands(state, pattern)
        dtype = pattern.dtype if pattern.dtype.kind == "f" else FLOAT64
        value = Number(ir.constant(fill), INT64, True, 1)
        if isinstance(pattern, Number):
            return Number(filled(state, value, dtype).expr, dtype, pattern.python)
        return full(state, pattern.axes, value, dtype)

    return handler


def seed(state: State, args: Arguments, keywords: Keywords) -> Value:
    """A seed that a caller gives; its shape and dtype have been fitted before the call."""
    given, pattern = lower(state, args[0]), lower(state, args[1])
    if not isinstance(given, Raw) or not isinstance(given.expr, gast.Name):
        raise state.outside("a seed that is no argument")
    if isinstance(pattern, Number):
        return Number(given.expr, pattern.dtype, pattern.python)
    variable = state.s.fresh("seed", INT)
    state.emit(ir.Let((variable,), given.expr))
    array = state.array(variable, pattern.axes, pattern.dtype, False)
    state.kinds[given.expr.id] = state.kinds[variable]
    for k, axis in enumerate(pattern.axes):
        state.check(gast.Compare(length_of(variable, k, pattern.ndim), [gast.Eq()], [axis.length]))
    # The caller's memory: what is made of it has memory of its own.
    return Grid(pattern.axes, pattern.dtype, array.at, copied=True)
