"""Native reductions, linear systems and factorisations."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ... import ir
from ...domain.facts import INT
from ..kinds import BOOL, FLOAT64, INT64, WIDTH, Bundle, Grid, Number, Value
from ..passes.index_functions import STARTS, all_or_any, elementwise, in_order, made, reduced, size_expr
from ..state import State
from .expressions import arithmetic, dtype_of, lower, operands
from .scalars import as_truth, binary, cast, constant_of, unary_function

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
            return Number(value.expr, value.dtype, False, value.bits) if value.dtype != BOOL else boolean_sum(state)
        if not isinstance(value, Grid):
            raise state.outside("a reduction of a container")
        dtype = option(state, args, keywords, 2, "dtype")
        if dtype is not None:
            value = in_dtype(state, value, dtype_of(state, dtype))
        axes = axes_of(state, option(state, args, keywords, 1, "axis"), value.ndim)
        if kind not in STARTS:
            state.imported.add(kind)
        if kind != "sum":
            if value.dtype.kind != "f":
                raise state.outside("the extreme of an array that is not of floats")
        result = reduced(state, kind, value, axes, flag(keywords.get("keepdims")))
        if not mean:
            return result
        count = Number(size_expr(Grid(tuple(value.axes[k] for k in axes), value.dtype, value.at)), INT64, True, WIDTH)
        if value.dtype.kind != "f":
            raise state.outside("the mean of an array that is not of floats")
        return arithmetic(state, gast.Div, result, count)

    return handler


def count_nonzero(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.count_nonzero`` of a whole array."""
    value = lower(state, args[0])
    if len(args) != 1 or keywords or not isinstance(value, Grid):
        raise state.outside("np.count_nonzero with options")
    nonzero = elementwise(state, lambda x: Number(as_truth(x[0]), BOOL), [value])
    counted = reduced(state, "sum", nonzero, tuple(range(value.ndim)), False)
    return Number(counted.expr, INT64, isinstance(np.count_nonzero(np.zeros(1)), int), WIDTH)  # NumPy has changed it


def spread_of(root: bool) -> Any:
    """``var``, ``std``: the mean of squared differences from the mean."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if set(keywords) - {"axis", "keepdims"} or len(args) > 2:
            raise state.outside("a variance with options")
        value = lower(state, args[0])
        if not isinstance(value, Grid) or value.dtype.kind != "f":
            raise state.outside("the variance of something else than an array of floats")
        value = made(state, value)
        axes = axes_of(state, option(state, args, keywords, 1, "axis"), value.ndim)
        apart = arithmetic(state, gast.Sub, value, mean_of(state, value, axes, True))
        squares = arithmetic(state, gast.Mult, *[made(state, apart)] * 2)
        result = mean_of(state, squares, axes, flag(keywords.get("keepdims")))
        if not root:
            return result
        return elementwise(state, lambda x: unary_function("math.sqrt", x[0]), [result])

    return handler


def mean_of(state: State, value: Grid, axes: tuple[int, ...], keep: bool) -> Value:
    count = Number(size_expr(Grid(tuple(value.axes[k] for k in axes), value.dtype, value.at)), INT64, True, WIDTH)
    return arithmetic(state, gast.Div, reduced(state, "sum", value, axes, keep), count)


def norm(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.linalg.norm``: the root of the sum of squares."""
    if set(keywords) - {"axis", "keepdims"} or len(args) != 1:
        raise state.outside("a norm with options")
    value = lower(state, args[0])
    if not isinstance(value, Grid) or value.dtype.kind != "f":
        raise state.outside("the norm of something else than an array of floats")
    given = keywords.get("axis")
    axes = axes_of(state, given, value.ndim)
    if given is not None and len(axes) != 1:
        raise state.outside("the norm of matrices")
    squares = elementwise(state, lambda x: binary(gast.Mult, x[0], x[0], lambda test: None), [made(state, value)])
    total = reduced(state, "sum", squares, axes, flag(keywords.get("keepdims")))
    return elementwise(state, lambda x: unary_function("math.sqrt", x[0]), [total])


def extreme_place(name: str) -> Any:
    """``argmax``, ``argmin`` of a vector."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        value = lower(state, args[0])
        if len(args) != 1 or keywords or not isinstance(value, Grid) or value.ndim != 1 or value.dtype.kind != "f":
            raise state.outside(f"np.{name} along an axis")
        state.check(gast.Compare(ir.constant(0), [gast.Lt()], [value.axes[0].length]))
        expr = ir.call("int", ir.call(f"np.{name}", made(state, value).view))
        return state.let(Number(expr, INT64, False, WIDTH), "k")

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


def matrix(state: State, expr: Any) -> Grid:
    """A square matrix in memory, row by row."""
    value = lower(state, expr)
    if not isinstance(value, Grid) or value.ndim != 2 or value.dtype.kind != "f":
        raise state.outside("a factorisation of something else than a matrix")
    a, b = value.axes
    if a.one != b.one:
        raise state.outside("a factorisation of a matrix that is not square")
    if not a.one:
        state.same_length(a, b)
    return in_order(state, value)


def solved(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.linalg.solve``."""
    if len(args) != 2 or keywords:
        raise state.outside("a linear system with options")
    a, b = matrix(state, args[0]), lower(state, args[1])
    if not isinstance(b, Grid) or b.ndim > 2 or b.dtype != a.dtype:
        raise state.outside("a linear system with more than one right side")
    if a.axes[0].one != b.axes[0].one:
        raise state.outside("a linear system whose lengths differ")
    if not a.axes[0].one:
        state.same_length(a.axes[0], b.axes[0])
    b = in_order(state, b)
    return result(state, "np.linalg.solve", b.axes, a, b)


def result(state: State, name: str, axes: tuple[Any, ...], *values: Grid) -> Grid:
    """The array that a function of `np.linalg` makes; its memory may be in any order."""
    variable = state.s.fresh(name.rpartition(".")[2], INT)
    state.emit(ir.Let((variable,), ir.call("np.ascontiguousarray", ir.call(name, *(v.view for v in values)))))
    return state.array(variable, axes, values[0].dtype, True)


def of_matrix(name: str) -> Any:
    """``inv``, ``cholesky``."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside(f"{name} with options")
        value = matrix(state, args[0])
        return result(state, f"np.linalg.{name}", value.axes, value)

    return handler


def determinant(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = matrix(state, args[0])
    expr = ir.call("np.linalg.det", value.view)
    return state.let(Number(expr, value.dtype, False), "det")


def log_determinant(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``slogdet``: its sign and its logarithm."""
    value = matrix(state, args[0])
    if value.dtype != FLOAT64:
        raise state.outside("a determinant in single precision")
    names = [state.fresh(hint, value.dtype) for hint in ("sign", "logdet")]
    state.emit(ir.Let(tuple(names), ir.call("np.linalg.slogdet", value.view)))
    return Bundle(tuple(Number(ir.name(n), value.dtype, False) for n in names))
