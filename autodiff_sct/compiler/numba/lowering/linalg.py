"""Linear systems and factorisations: LAPACK's, by way of numba."""

from __future__ import annotations

from typing import Any

from ... import ir
from ...domain.facts import INT
from ..kinds import FLOAT64, Bundle, Grid, Number, Value
from ..passes.index_functions import in_order
from ..state import State
from .expressions import lower
from .reductions import Arguments, Keywords


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
