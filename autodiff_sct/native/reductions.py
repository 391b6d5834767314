"""Sums, means and extremes."""

from __future__ import annotations

from typing import Any

import gast

from .elements import cast, constant_of
from .expressions import arithmetic, dtype_of, lower, operands
from .grids import all_or_any, elementwise, reduced, size_expr
from .kinds import BOOL, INT64, Grid, Number, Value
from .state import State

Arguments = list[Any]
Keywords = dict[str, Any]


def option(state: State, args: Arguments, keywords: Keywords, place: int, name: str) -> Any:
    """An argument given by place or by name, or None."""
    if name in keywords:
        return keywords[name]
    return args[place] if len(args) > place else None


def axes_of(state: State, given: Any, ndim: int) -> tuple[int, ...]:
    """The axes that an argument names."""
    if given is None or (isinstance(given, gast.Constant) and given.value is None):
        return tuple(range(ndim))
    items = given.elts if isinstance(given, gast.Tuple) else [given]
    found = [constant_of(item) for item in items]
    if not all(isinstance(axis, int) and -ndim <= axis < ndim for axis in found):
        raise state.outside("an axis that is not known before the run")
    return tuple(sorted(int(axis) % ndim for axis in found))  # type: ignore[arg-type]


def flag(expr: Any) -> bool:
    return isinstance(expr, gast.Constant) and expr.value is True


def reduction(kind: str, mean: bool = False) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if set(keywords) - {"axis", "keepdims", "dtype"} or len(args) > 3:
            raise state.outside("a reduction with options")
        value = lower(state, args[0])
        if isinstance(value, Number):
            return Number(value.expr, value.dtype, False, value.degree) if value.dtype != BOOL else boolean_sum(state)
        if not isinstance(value, Grid):
            raise state.outside("a reduction of a container")
        dtype = option(state, args, keywords, 2, "dtype")
        if dtype is not None:
            value = in_dtype(state, value, dtype_of(state, dtype))
        axes = axes_of(state, option(state, args, keywords, 1, "axis"), value.ndim)
        if kind != "sum":
            state.imported.add(kind)
            if value.dtype.kind != "f":
                raise state.outside("the extreme of an array that is not of floats")
        result = reduced(state, kind, value, axes, flag(keywords.get("keepdims")))
        if not mean:
            return result
        count = Number(size_expr(Grid(tuple(value.axes[k] for k in axes), value.dtype, value.at)), INT64, True)
        if value.dtype.kind != "f":
            raise state.outside("the mean of an array that is not of floats")
        return arithmetic(state, gast.Div, result, count)

    return handler


def boolean_sum(state: State) -> Number:
    raise state.outside("the sum of a truth value")


def all_any(name: str) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside(f"np.{name} along an axis")
        value = lower(state, args[0])
        operands(state, value)
        return all_or_any(state, name, value)

    return handler


def in_dtype(state: State, value: Value, dtype: Any) -> Value:
    """A number or an array in another dtype."""
    operands(state, value)
    return elementwise(state, lambda x: cast(x[0], dtype), [value])
