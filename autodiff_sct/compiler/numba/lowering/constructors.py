"""New arrays, arrays in other shapes, and products of arrays."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ... import ir
from ...domain.facts import INT, Dim
from ..kinds import BOOL, FLOAT64, INT64, ONE, Axis, Bundle, Grid, Items, Number, Value, promote
from ..passes.affine import form_of
from ..passes.index_functions import (
    LEAVES,
    along,
    in_memory,
    in_order,
    is_short,
    make,
    new_array,
    new_memory,
    over,
    store_item,
    to_number,
)
from ..state import Scope, State
from . import scalars
from .expressions import arithmetic, dtype_of, lower, number, operands
from .lists import array as array_of
from .reductions import Arguments, Keywords, in_dtype, option
from .scalars import constant_of
from .tape_index import expanded, transposed


def like(fill: Any) -> Any:
    """``zeros_like``, ``ones_like``, ``full_like``."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if set(keywords) - {"dtype"}:
            raise state.outside("a new array with options")
        pattern = lower(state, args[0])
        value = Number(ir.constant(fill), INT64, True, 1) if fill is not None else lower(state, args[1])
        operands(state, pattern)
        dtype = dtype_of(state, keywords["dtype"]) if "dtype" in keywords else pattern.dtype
        if isinstance(pattern, Number):
            # NumPy makes an array of rank 0, which acts as a number.
            return filled(state, value, dtype)
        return full(state, pattern.axes, value, dtype)

    return handler


def filled(state: State, value: Value, dtype: np.dtype) -> Number:
    if not isinstance(value, Number):
        raise state.outside("an array filled with an array")
    constant = constant_of(value.expr)
    if constant is not None and dtype == FLOAT64:
        return Number(ir.constant(float(constant)), FLOAT64, None)
    return Number(scalars.as_dtype(value, dtype) if dtype.kind == "f" else value.expr, dtype, None)


def full(state: State, axes: tuple[Axis, ...], value: Value, dtype: np.dtype) -> Value:
    if not isinstance(value, Number) or (value.dtype.kind == "f" and dtype.kind != "f"):
        raise state.outside("an array filled with an array")
    value = filled(state, state.let(value), dtype)
    return Grid(axes, dtype, lambda index: value.expr)


def created(fill: Any) -> Any:
    """``zeros``, ``ones``, ``full``, ``empty``."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        place = 2 if fill is None else 1
        dtype = option(state, args, keywords, place, "dtype")
        if set(keywords) - {"dtype"}:
            raise state.outside("a new array with options")
        shape = lower(state, args[0])
        items = shape.items if isinstance(shape, Bundle) else (shape,)
        axes = tuple(axis_of(state, item) for item in items)
        value = Number(ir.constant(fill), FLOAT64, True) if fill is not None else lower(state, args[1])
        chosen = dtype_of(state, dtype) if dtype is not None else value.dtype
        if not axes:
            raise state.outside("an array of rank 0")
        return full(state, axes, value, chosen)

    return handler


def axis_of(state: State, item: Value) -> Axis:
    """The axis whose length a number is."""
    if not isinstance(item, Number) or item.dtype != INT64:
        raise state.outside("a shape that is not of whole numbers")
    item = state.let(state.settled(item), "n")
    form = form_of(state, item.expr)
    if not form.terms:
        return ONE if form.constant == 1 else Axis(ir.constant(form.constant), form.constant)
    if len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant and isinstance(form.terms[0][0], tuple):
        key = form.terms[0][0]
        if key[0] == "dim":
            size = getattr(state.s.facts.get(getattr(item.expr, "id", "")), "size", None)
            found = state.canonical(size) if size is not None else state.outer(key[1])
            return Axis(item.expr, found if isinstance(found, Dim) else key)
    return Axis(item.expr, ("sum", tuple(sorted((repr(k), c) for k, c, _ in form.terms)), form.constant))


def array(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.array`` of a list of numbers; of an array, a copy."""
    if set(keywords) - {"dtype"} or len(args) != 1:
        raise state.outside("np.array with options")
    value = lower(state, args[0])
    if isinstance(value, Items):
        value = array_of(state, value)
    elif isinstance(value, Bundle):
        value = stacked(state, value)
    elif isinstance(value, Grid):
        value = make(state, value, state.s.fresh("t", INT))
    else:
        raise state.outside("an array of rank 0")
    return in_dtype(state, value, dtype_of(state, keywords["dtype"])) if "dtype" in keywords else value


def stacked(state: State, value: Bundle) -> Grid:
    items = value.items
    if items and all(isinstance(item, Bundle) for item in items):
        items = tuple(stacked(state, item) for item in items)
    if items and all(isinstance(item, Grid) for item in items):
        from .shaping import pile

        if len({(item.dtype, item.ndim) for item in items}) > 1:
            raise state.outside("arrays of several kinds put together")
        return pile(state, list(items), 0)
    if not items or not all(isinstance(item, Number) for item in items):
        raise state.outside("an array of arrays")
    dtype = items[0].dtype
    for item in items[1:]:
        dtype = promote(Number(None, dtype, False), Number(None, item.dtype, item.python))
    if dtype == BOOL:
        raise state.outside("an array of truth values")
    items = tuple(state.let(item) for item in items)
    variable = state.s.fresh("t", INT)
    axes = (Axis(ir.constant(len(items)), len(items), len(items) == 1),)
    result = new_array(state, variable, axes, dtype)
    for k, item in enumerate(items):
        state.emit(ir.Store(variable, ir.constant(k), scalars.as_dtype(item, dtype)))
    return result


def copied(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if isinstance(value, Number):
        return value
    if not isinstance(value, Grid) or len(args) > 1 or keywords:
        raise state.outside("a copy of a container")
    return Grid(value.axes, value.dtype, value.at, copied=True)


def cast_to(state: State, args: Arguments, keywords: Keywords) -> Value:
    if len(args) != 2 or keywords:
        raise state.outside("astype with options")
    value = in_dtype(state, lower(state, args[0]), dtype_of(state, args[1]))
    return Grid(value.axes, value.dtype, value.at, copied=True) if isinstance(value, Grid) else value


def numpy_scalar(dtype: np.dtype) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        return scalars.cast(number(state, args[0]), dtype)

    return handler


# -- shapes


def expand(state: State, args: Arguments, keywords: Keywords) -> Value:
    value, axis = lower(state, args[0]), option(state, args, keywords, 1, "axis")
    place = None if axis is None else constant_of(axis)
    if isinstance(value, Number) and place in (0, -1):
        return Grid((ONE,), value.dtype, lambda index: value.expr)
    if not isinstance(value, Grid) or not isinstance(place, int):
        raise state.outside("np.expand_dims of something that is no array")
    return expanded(value, place)


def transpose(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if not isinstance(value, Grid) or keywords:
        raise state.outside("the transpose of something that is no array")
    given = args[1].elts if len(args) == 2 and isinstance(args[1], gast.Tuple) else args[1:]
    order = [constant_of(a) for a in given] or list(range(value.ndim))[::-1]
    if not all(isinstance(k, int) for k in order):
        raise state.outside("a transpose that is not known before the run")
    order = [int(k) % value.ndim for k in order]  # type: ignore[arg-type]
    view = None if value.view is None else ir.call("np.transpose", value.view, ir.constant(tuple(order)))
    return transposed(value, order, view)


def outer(state: State, args: Arguments, keywords: Keywords) -> Value:
    a, b = (lower(state, arg) for arg in args)
    if not (isinstance(a, Grid) and isinstance(b, Grid) and a.ndim == b.ndim == 1):
        raise state.outside("np.outer of something else than vectors")
    return arithmetic(state, gast.Mult, expanded(a, 1), expanded(b, 0))


# -- products


def product(state: State, args: Arguments, keywords: Keywords) -> Value:
    if len(args) != 2 or keywords:
        raise state.outside("a product with options")
    return matmul(state, lower(state, args[0]), lower(state, args[1]))


def of_others(state: State, args: Arguments, keywords: Keywords) -> Value:
    """The products of the other elements of a vector, which the derivative of its product reads."""
    a = lower(state, args[0])
    if len(args) != 1 or keywords or not isinstance(a, Grid) or a.ndim != 1 or a.dtype.kind != "f":
        raise state.outside("a product along one of several axes")
    variable = state.s.fresh("product", INT)
    state.imported.add("products_of_others")
    memory = new_memory(state, a.axes, a.dtype)
    state.emit(ir.Let((variable,), ir.call("products_of_others", in_memory(state, a), memory)))
    return state.array(variable, a.axes, a.dtype, True)


def vdot(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.vdot``: the sum of products."""
    a, b = (lower(state, arg) for arg in args)
    if isinstance(a, Number) and isinstance(b, Number):
        return arithmetic(state, gast.Mult, Number(a.expr, a.dtype), b)
    if not (isinstance(a, Grid) and isinstance(b, Grid)) or [x.one for x in a.axes] != [x.one for x in b.axes]:
        raise state.outside("a product of arrays of several shapes")
    if a.dtype != b.dtype or a.dtype.kind != "f":
        raise state.outside("a product of arrays of two dtypes")
    for x, y in zip(a.axes, b.axes):
        if not x.one:
            state.same_length(x, y)
    return to_number(state, "sum", arithmetic(state, gast.Mult, a, b))


def matmul(state: State, a: Value, b: Value) -> Value:
    """``a @ b`` of vectors and matrices: BLAS does it, but for a product of two vectors."""
    if isinstance(a, Number) or isinstance(b, Number):
        return arithmetic(state, gast.Mult, a, b)
    if not (isinstance(a, Grid) and isinstance(b, Grid)) or (a.ndim != b.ndim and max(a.ndim, b.ndim) > 2):
        raise state.outside("a product of arrays of several ranks")
    if a.dtype != b.dtype or a.dtype.kind != "f":
        raise state.outside("a product of arrays of two dtypes")
    inner, other = a.axes[-1], b.axes[max(b.ndim - 2, 0)]
    if inner.one != other.one:
        raise state.outside("a product whose inner lengths differ")
    if not inner.one:
        state.same_length(inner, other)
    if a.ndim == b.ndim == 1:
        return to_number(state, "sum", arithmetic(state, gast.Mult, a, b))
    if max(a.ndim, b.ndim) > 2:
        return batched(state, a, b)
    axes = (*a.axes[:-1], *b.axes[1:])
    if is_short(inner):
        return by_elements(state, a, b, inner.key)
    if min(a.ndim, b.ndim) == 1 and a.dtype == FLOAT64 and state.in_loop:
        return product_in_loop(state, a, b, axes)
    variable = state.s.fresh("product", INT)
    name = {(2, 1): "matrix_vector", (1, 2): "vector_matrix", (2, 2): "matrix_matrix"}[a.ndim, b.ndim]
    state.imported.add(name)
    memory = new_memory(state, axes, a.dtype)
    state.emit(ir.Let((variable,), ir.call(name, in_memory(state, a), in_memory(state, b), memory)))
    return state.array(variable, axes, a.dtype, True)


def product_in_loop(state: State, a: Grid, b: Grid, axes: tuple[Axis, ...]) -> Grid:
    """A matrix times a vector in a loop: where that is small, it costs less than calling a function for it."""
    a, b = (x if x.view is not None else make(state, x, state.s.fresh("t", INT)) for x in (a, b))
    name, matrix = ("matrix_vector", a) if a.ndim == 2 else ("vector_matrix", b)
    state.imported.add(name)
    result = new_array(state, state.s.fresh("product", INT), axes, a.dtype)
    size = ir.binop(state.lasting(matrix.axes[0]), gast.Mult, state.lasting(matrix.axes[1]))
    with state.inside(Scope("if")) as large:
        state.emit(ir.Effect(ir.call(name, a.view, b.view, result.view)))
    with state.inside(Scope("if")) as small:
        rows(state, a, b, result) if a.ndim == 2 else columns(state, a, b, result)
    state.emit(ir.If(gast.Compare(size, [gast.Gt()], [ir.constant(thresholds.PRODUCTS_IN_LOOPS)]), large, small, []))
    return result


def rows(state: State, a: Grid, b: Grid, result: Grid) -> None:
    """``result = a @ b`` for a matrix and a vector: each element is a sum."""

    def body(index: list[Any]) -> None:
        terms = Grid(b.axes, b.dtype, lambda k: ir.binop(a.at([*index, *k]), gast.Mult, b.at(k)))
        store_item(state, result, index, to_number(state, "sum", terms), None)

    over(state, result.axes, body)


def columns(state: State, a: Grid, b: Grid, result: Grid) -> None:
    """``result = a @ b`` for a vector and a matrix: one row after the other is added."""
    zero = Number(ir.constant(0.0), FLOAT64)
    over(state, result.axes, lambda index: store_item(state, result, index, zero, None))

    def body(index: list[Any]) -> None:
        term = ir.binop(a.at(index[:1]), gast.Mult, b.at(index))
        store_item(state, result, index[1:], Number(term, FLOAT64), gast.Add)

    over(state, b.axes, body)


def by_elements(state: State, a: Grid, b: Grid, count: int) -> Grid:
    """A product whose inner length is known and small: each element is a sum of a few products."""
    axes = (*a.axes[:-1], *b.axes[1:])
    a, b = (
        x if isinstance(x.at([ir.name("i")] * x.ndim), LEAVES) else make(state, x, state.s.fresh("t", INT))
        for x in (a, b)
    )

    def at(index: list[Any]) -> Any:
        left, right = index[: a.ndim - 1], index[a.ndim - 1 :]
        total: Any = None
        for k in range(count):
            part = ir.binop(a.at([*left, ir.constant(k)]), gast.Mult, b.at([ir.constant(k), *right]))
            total = part if total is None else ir.binop(total, gast.Add, part)
        return total

    return make(state, Grid(axes, a.dtype, at), state.s.fresh("product", INT))


def batched(state: State, a: Grid, b: Grid) -> Grid:
    """Products of stacks of matrices, one after the other."""
    if a.ndim != 3:
        raise state.outside("a product of arrays of more than three axes")
    lead, other = a.axes[0], b.axes[0]
    if lead.one != other.one or lead.one:
        raise state.outside("a product of one matrix with many")
    state.same_length(lead, other)
    axes = (lead, a.axes[1], b.axes[2])
    a, b = in_order(state, a), in_order(state, b)
    result = new_array(state, state.s.fresh("product", INT), axes, a.dtype)

    def body(index: list[Any]) -> None:
        state.emit(ir.Effect(ir.call("np.dot", *(ir.subscript(x.view, index[0]) for x in (a, b, result)))))

    along(state, result.axes[0], body)
    return result
