"""Calls: NumPy's and Python's functions, the methods of arrays, and the helpers of emitted code."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ..compiler import ir
from ..compiler.facts import INT
from ..runtime import boundary, broadcast
from . import elements
from .elements import ARITHMETIC, COMPARISONS, MATH, UNARY, compare, constant_of
from .expressions import arithmetic, dtype_of, lower, number, operands, repeated, resolved
from .grids import (
    all_or_any,
    elementwise,
    in_memory,
    make,
    made,
    new_array,
    reduced,
    size_expr,
    to_number,
)  # fmt: skip
from .indexing import expanded, transposed
from .kinds import BOOL, DTYPES, FLOAT32, FLOAT64, INT64, ONE, Axis, Bundle, Grid, Number, Raw, Value, promote
from .linear import form_of
from .state import State

Arguments = list[Any]
Keywords = dict[str, Any]


def call(state: State, expr: Any) -> Value:
    """The value of a call."""
    keywords = {k.arg: k.value for k in expr.keywords}
    if any(isinstance(a, gast.Starred) for a in expr.args) or None in keywords:
        raise state.outside("a call with starred arguments")
    found = resolved(state, expr.func)
    if found is None and isinstance(expr.func, gast.Attribute):
        return method(state, expr, keywords)
    if found in UNARY and len(expr.args) == 1 and not keywords:
        value = lower(state, expr.args[0])
        operands(state, value)
        state.imported.add(UNARY[found])
        return elementwise(state, lambda x: elements.unary_function(UNARY[found], x[0]), [value])
    if found in MATH and len(expr.args) == 1:
        return math_call(state, MATH[found], number(state, expr.args[0]))
    try:
        handler = HANDLERS.get(found)
    except TypeError:
        handler = None
    if handler is None:
        raise state.outside(f"a call of {getattr(found, '__name__', 'something unknown')!r}")
    return handler(state, expr.args, keywords)


def math_call(state: State, name: str, value: Number) -> Number:
    """A function of `math`: in a variable, since its result is checked."""
    state.imported.add(name)
    checks: list[Any] = []
    result = elements.math_function(name, value, checks.append)
    result = state.let(result, name.split(".")[-1])
    if checks:
        state.check(ir.call("math.isfinite", result.expr))
    return result


def method(state: State, expr: Any, keywords: Keywords) -> Value:
    name = expr.func.attr
    if name == "pop" and not expr.args and isinstance(expr.func.value, gast.Name):
        from .saving import popped

        return popped(state, expr.func.value.id)
    as_function = METHODS.get(name)
    if as_function is None:
        raise state.outside(f"the method {name!r}")
    return HANDLERS[as_function](state, [expr.func.value, *expr.args], keywords)


# -- element by element


def two(function: Callable[[Number, Number], Number]) -> Any:
    """The handler of a function of two arguments."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 2 or keywords:
            raise state.outside("a call with options")
        a, b = (lower(state, arg) for arg in args)
        operands(state, a, b)
        return elementwise(state, lambda x: function(x[0], x[1]), [repeated(state, a), repeated(state, b)])

    return handler


def operator(op: type) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 2 or keywords:
            raise state.outside("a call with options")
        a, b = (lower(state, arg) for arg in args)
        operands(state, a, b)
        # NumPy's function makes NumPy numbers out of Python's.
        a, b = (Number(v.expr, v.dtype, False, v.degree) if isinstance(v, Number) and v.dtype == FLOAT64 else v for v in (a, b))
        return arithmetic(state, op, a, b)

    return handler


def function_of_one(function: Callable[[Number], Number]) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside("a call with options")
        value = lower(state, args[0])
        operands(state, value)
        return elementwise(state, lambda x: function(x[0]), [repeated(state, value)])

    return handler


def extreme(name: str) -> Any:
    def function(a: Number, b: Number) -> Number:
        return elements.extreme(name, a, b)

    inner = two(function)

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        state.imported.add(name)
        return inner(state, args, keywords)

    return handler


def where(state: State, args: Arguments, keywords: Keywords) -> Value:
    if len(args) != 3 or keywords:
        raise state.outside("np.where with one argument")
    values = [lower(state, arg) for arg in args]
    operands(state, *values)
    return elementwise(state, lambda x: elements.select(x[0], x[1], x[2]), values)


def logical(op: type) -> Any:
    def function(a: Number, b: Number) -> Number:
        return Number(gast.BoolOp(op(), [elements.as_truth(a), elements.as_truth(b)]), BOOL, False)

    return two(function)


def finite(name: str) -> Any:
    return function_of_one(lambda x: Number(ir.call(f"math.{name}", elements.as_float(x)), BOOL, False))


def clip(state: State, args: Arguments, keywords: Keywords) -> Value:
    if len(args) != 3 or keywords:
        raise state.outside("np.clip with options")
    state.imported |= {"maximum", "minimum"}
    values = [repeated(state, lower(state, arg)) for arg in args]
    operands(state, *values)
    return elementwise(
        state, lambda x: elements.extreme("minimum", elements.extreme("maximum", x[0], x[1]), x[2]), values
    )


# -- Python's


def absolute(state: State, args: Arguments, keywords: Keywords) -> Value:
    return function_of_one(elements.absolute)(state, args, keywords)


def builtin_extreme(name: str) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) < 2 or keywords:
            raise state.outside(f"{name} of a container")
        items = [state.let(number(state, arg)) for arg in args]
        return elements.builtin_extreme(name, items)

    return handler


def conversion(kind: Any) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside("a conversion with options")
        value = lower(state, args[0])
        if not isinstance(value, Number):
            raise state.outside("an array made a number")
        if kind is int and value.dtype.kind == "f":
            value = state.let(value)
        return elements.converted(kind, value, state.check)

    return handler


def length(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if isinstance(value, Bundle):
        return Number(ir.constant(len(value.items)), INT64, True, 0)
    if not isinstance(value, Grid) or not value.axes:
        raise state.outside("the length of something that is no array")
    return Number(value.axes[0].length, INT64, True, 1)


def builtin_sum(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if len(args) != 1 or not isinstance(value, Bundle) or not all(isinstance(v, Number) for v in value.items):
        raise state.outside("sum of a container")
    total = Number(ir.constant(0), INT64, True, 0)
    for item in value.items:
        item = Number(ir.call("int", item.expr), INT64, True, 0) if item.dtype == BOOL else item
        total = elements.binary(gast.Add, total, item, state.check)
    return total


def power_of(state: State, args: Arguments, keywords: Keywords) -> Value:
    return operator(gast.Pow)(state, args, keywords)


# -- reductions


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
            value = as_type(state, value, dtype_of(state, dtype))
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


# -- new arrays


def like(fill: Any) -> Any:
    """``zeros_like``, ``ones_like``, ``full_like``."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if set(keywords) - {"dtype"}:
            raise state.outside("a new array with options")
        pattern = lower(state, args[0])
        value = Number(ir.constant(fill), INT64, True, 0) if fill is not None else lower(state, args[1])
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
    return Number(elements.as_dtype(value, dtype) if dtype.kind == "f" else value.expr, dtype, None)


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
        if dtype is None and chosen != FLOAT64:
            raise state.outside("an array of integers")
        if not axes:
            raise state.outside("an array of rank 0")
        return full(state, axes, value, chosen)

    return handler


def axis_of(state: State, item: Value) -> Axis:
    """The axis whose length a number is."""
    if not isinstance(item, Number) or item.dtype != INT64:
        raise state.outside("a shape that is not of whole numbers")
    item = state.let(item, "n")
    constant = constant_of(item.expr)
    if constant is not None:
        return ONE if constant == 1 else Axis(item.expr, int(constant))
    form = form_of(state, item.expr)
    if len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant and isinstance(form.terms[0][0], tuple):
        key = form.terms[0][0]
        from ..compiler.facts import Dim

        if key[0] == "dim":
            size = getattr(state.s.facts.get(getattr(item.expr, "id", "")), "size", None)
            found = state.s.canonical(size)
            return Axis(item.expr, found if isinstance(found, Dim) else key)
    return Axis(item.expr, ("sum", tuple(sorted((repr(k), c) for k, c, _ in form.terms)), form.constant))


def array(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.array`` of a list of numbers; of an array, a copy."""
    if set(keywords) - {"dtype"} or len(args) != 1:
        raise state.outside("np.array with options")
    value = lower(state, args[0])
    if isinstance(value, Bundle):
        value = stacked(state, value)
    elif isinstance(value, Grid):
        value = make(state, value, state.s.fresh("t", INT))
    else:
        raise state.outside("an array of rank 0")
    return as_type(state, value, dtype_of(state, keywords["dtype"])) if "dtype" in keywords else value


def stacked(state: State, value: Bundle) -> Grid:
    items = value.items
    if not items or not all(isinstance(item, Number) for item in items):
        raise state.outside("an array of arrays")
    dtype = items[0].dtype
    for item in items[1:]:
        dtype = promote(Number(None, dtype, False), Number(None, item.dtype, item.python))
    if dtype.kind != "f":
        raise state.outside("an array of integers")
    items = tuple(state.let(item) for item in items)
    variable = state.s.fresh("t", INT)
    axes = (Axis(ir.constant(len(items)), len(items), len(items) == 1),)
    result = new_array(state, variable, axes, dtype)
    for k, item in enumerate(items):
        state.emit(ir.Store(variable, ir.constant(k), elements.as_dtype(item, dtype)))
    return result


def copied(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if isinstance(value, Number):
        return value
    if not isinstance(value, Grid) or len(args) > 1 or keywords:
        raise state.outside("a copy of a container")
    return Grid(value.axes, value.dtype, value.at, copied=True)


def as_type(state: State, value: Value, dtype: np.dtype) -> Value:
    operands(state, value)
    return elementwise(state, lambda x: elements.cast(x[0], dtype), [value])


def cast_to(state: State, args: Arguments, keywords: Keywords) -> Value:
    if len(args) != 2 or keywords:
        raise state.outside("astype with options")
    value = as_type(state, lower(state, args[0]), dtype_of(state, args[1]))
    return Grid(value.axes, value.dtype, value.at, copied=True) if isinstance(value, Grid) else value


def numpy_scalar(dtype: np.dtype) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        return elements.cast(number(state, args[0]), dtype)

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


def matmul(state: State, a: Value, b: Value) -> Value:
    """``a @ b`` of vectors and matrices: BLAS does it, but for a product of two vectors."""
    if isinstance(a, Number) or isinstance(b, Number):
        return arithmetic(state, gast.Mult, a, b)
    if not (isinstance(a, Grid) and isinstance(b, Grid)) or a.ndim > 2 or b.ndim > 2:
        raise state.outside("a product of more than matrices")
    if a.dtype != b.dtype or a.dtype.kind != "f":
        raise state.outside("a product of arrays of two dtypes")
    inner, other = a.axes[-1], b.axes[0]
    if inner.one != other.one:
        raise state.outside("a product whose inner lengths differ")
    if not inner.one:
        state.same_length(inner, other)
    if a.ndim == b.ndim == 1:
        return to_number(state, "sum", arithmetic(state, gast.Mult, a, b))
    axes = (*a.axes[:-1], *b.axes[1:])
    variable = state.s.fresh("product", INT)
    state.emit(ir.Let((variable,), ir.call("np.dot", in_memory(state, a), in_memory(state, b))))
    return state.array(variable, axes, a.dtype, True)


# -- the helpers of emitted code


def fitted_like(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``unbroadcast``: nothing to do where the shapes are one, which is checked."""
    cotangent, pattern = lower(state, args[0]), lower(state, args[1])
    operands(state, cotangent, pattern)
    if isinstance(pattern, Number):
        dtype = pattern.dtype if pattern.dtype.kind == "f" else FLOAT64
        if isinstance(cotangent, Grid):
            cotangent = to_number(state, "sum", cotangent)
        expr = elements.as_dtype(cotangent, dtype)
        return Number(expr, dtype, pattern.python)
    if isinstance(cotangent, Number):
        return full(state, pattern.axes, cotangent, pattern.dtype)
    if cotangent.ndim != pattern.ndim or cotangent.dtype != pattern.dtype:
        raise state.outside("a derivative whose rank is not known before the run")
    for a, b in zip(cotangent.axes, pattern.axes):
        if a.one != b.one:
            raise state.outside("a derivative whose shape is not known before the run")
        if not a.one:
            state.same_length(a, b)
    return cotangent


def spread(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = fitted_like(state, args, keywords)
    return Grid(value.axes, value.dtype, value.at, copied=True) if isinstance(value, Grid) else value


def derivative_like(fill: int) -> Any:
    """`zeros_like` and `ones_like` of the run time: integers have derivatives of double precision."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        pattern = lower(state, args[0])
        operands(state, pattern)
        dtype = pattern.dtype if pattern.dtype.kind == "f" else FLOAT64
        value = Number(ir.constant(fill), INT64, True, 0)
        if isinstance(pattern, Number):
            return Number(filled(state, value, dtype).expr, dtype, pattern.python)
        return full(state, pattern.axes, value, dtype)

    return handler


def seed(state: State, args: Arguments, keywords: Keywords) -> Value:
    """A seed that a caller gives; its shape and dtype have been fitted before the call."""
    given, pattern = lower(state, args[0]), lower(state, args[1])
    if not isinstance(given, Raw):
        raise state.outside("a seed that is no argument")
    if isinstance(pattern, Number):
        return Number(given.expr, pattern.dtype, pattern.python)
    raise state.outside("a seed for an array")


HANDLERS: dict[Any, Any] = {
    np.abs: absolute, np.fabs: absolute, builtins.abs: absolute, np.where: where, np.clip: clip,
    np.negative: function_of_one(elements.negative), np.square: function_of_one(
        lambda x: elements.binary(gast.Mult, x, x, lambda test: None)
    ),
    np.reciprocal: function_of_one(
        lambda x: elements.binary(gast.Div, Number(ir.constant(1.0), FLOAT64, True), x, lambda test: None)
    ),
    np.maximum: extreme("maximum"), np.minimum: extreme("minimum"), np.power: power_of,
    np.logical_and: logical(gast.And), np.logical_or: logical(gast.Or),
    np.logical_not: function_of_one(elements.negation), np.isnan: finite("isnan"), np.isinf: finite("isinf"),
    np.isfinite: finite("isfinite"), math.isnan: finite("isnan"), math.isfinite: finite("isfinite"),
    builtins.min: builtin_extreme("min"), builtins.max: builtin_extreme("max"), builtins.float: conversion(float),
    builtins.int: conversion(int), builtins.bool: conversion(bool), builtins.len: length, builtins.sum: builtin_sum,
    np.sum: reduction("sum"), np.mean: reduction("sum", True), np.max: reduction("maximum"),
    np.min: reduction("minimum"), np.all: all_any("all"), np.any: all_any("any"),
    np.zeros_like: like(0), np.ones_like: like(1), np.full_like: like(None), np.empty_like: like(0),
    np.zeros: created(0.0), np.ones: created(1.0), np.full: created(None), np.empty: created(0.0), np.array: array,
    np.copy: copied, np.expand_dims: expand, np.transpose: transpose, np.outer: outer, np.dot: product,
    np.matmul: product, np.float64: numpy_scalar(FLOAT64), np.float32: numpy_scalar(FLOAT32),
    broadcast.unbroadcast: fitted_like, broadcast.spread: spread, broadcast.zeros_like: derivative_like(0),
    broadcast.ones_like: derivative_like(1), boundary.seed: seed,
}  # fmt: skip
HANDLERS |= {fn: operator(op) for fn, op in ARITHMETIC.items()}
HANDLERS |= {fn: two(lambda a, b, op=op: compare(op, a, b)) for fn, op in COMPARISONS.items()}  # type: ignore[misc]
METHODS: dict[str, Any] = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "copy": np.copy, "dot": np.dot,
    "transpose": np.transpose, "all": np.all, "any": np.any, "astype": "astype",
}  # fmt: skip
HANDLERS["astype"] = cast_to

__all__ = ["call", "made", "DTYPES"]
