"""Calls: which function each is, element-wise ones, Python's own, and helpers that fit derivatives to values."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ....runtime import broadcast, scan, scatter
from ... import ir
from ...domain.facts import INT
from ..kinds import BOOL, FLOAT32, FLOAT64, INT64, WIDTH, Bundle, Grid, Items, Number, Raw, Value
from ..passes.index_functions import elementwise, fitted, reduced, spread_once, to_number
from ..state import State, length_of
from . import lists, scalars
from .constructors import (
    array,
    cast_to,
    copied,
    created,
    expand,
    filled,
    full,
    like,
    numpy_scalar,
    of_others,
    outer,
    product,
    transpose,
    vdot,
)
from .expressions import arithmetic, dtype_of, lower, number, operands, repeated, resolved
from .gather_scatter import diagonal, from_gather, stored, trace
from .reductions import (
    Arguments,
    Keywords,
    all_any,
    count_nonzero,
    determinant,
    extreme_place,
    log_determinant,
    norm,
    of_matrix,
    reduction,
    solved,
    spread_of,
)
from .scalars import ARITHMETIC, BINARY, COMPARISONS, MATH, UNARY, compare
from .shaping import (
    as_array,
    concatenated,
    counted,
    flattened,
    ones_where,
    piled,
    reshaped,
    spaced,
    squeezed,
    swapped,
    triangle,
)
from .tape import popped


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
        return elementwise(state, lambda x: scalars.unary_function(UNARY[found], x[0]), [value])
    if found in BINARY and len(expr.args) == 2 and not keywords:
        return function_of_two(state, found, [lower(state, a) for a in expr.args])
    if found in MATH and len(expr.args) == 1:
        return math_call(state, MATH[found], number(state, expr.args[0]))
    try:
        handler = HANDLERS.get(found)
    except TypeError:
        handler = None
    if handler is None:
        raise state.outside(f"a call of {getattr(found, '__name__', 'something unknown')!r}")
    return handler(state, expr.args, keywords)


def function_of_two(state: State, found: Any, values: list[Value]) -> Value:
    operands(state, *values)
    name = BINARY[found]
    state.imported.add(name)
    result = elementwise(state, lambda x: scalars.binary_function(name, x[0], x[1]), values)
    if found in (math.hypot, math.atan2):
        result = state.let(result)
        state.check(ir.call("math.isfinite", result.expr))
        return Number(result.expr, result.dtype, True)
    return result


def math_call(state: State, name: str, value: Number) -> Number:
    """A function of `math`, in a variable; the program gives up where it raises."""
    state.imported.add(name)
    value = state.let(value)
    result = state.let(scalars.math_function(name, value), name.split(".")[-1])
    test = scalars.math_test(name, value, result)
    if test is not None:
        state.check(test)
    return result


def method(state: State, expr: Any, keywords: Keywords) -> Value:
    name = expr.func.attr
    if name == "pop" and isinstance(expr.func.value, gast.Name):
        base = state.values.get(expr.func.value.id)
        if isinstance(base, Items):
            return lists.popped(state, base, expr.args)
        return popped(state, expr.func.value.id)
    if name == "type" and getattr(expr.func.value, "attr", "") == "dtype":
        return numpy_scalar(dtype_of(state, expr.func.value))(state, expr.args, keywords)
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
        return of_numpy(arithmetic(state, op, of_numpy(a), of_numpy(b)))

    return handler


def of_numpy(value: Value) -> Value:
    """The native form of NumPy's functions of Python numbers: Python's own."""
    return replace(value, python=False) if isinstance(value, Number) else value


def function_of_one(function: Callable[[Number], Number], numpy: bool = True) -> Any:
    """The handler of a function of one argument, one of NumPy's or one that keeps Python's numbers."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside("a call with options")
        value = lower(state, args[0])
        operands(state, value)
        value = repeated(state, of_numpy(value) if numpy else value)
        return elementwise(state, lambda x: function(x[0]), [value])

    return handler


def extreme(name: str) -> Any:
    def function(a: Number, b: Number) -> Number:
        return scalars.extreme(name, a, b)

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
    return elementwise(state, lambda x: scalars.select(x[0], x[1], x[2]), values)


def logical(op: type) -> Any:
    def function(a: Number, b: Number) -> Number:
        return Number(gast.BoolOp(op(), [scalars.as_truth(a), scalars.as_truth(b)]), BOOL, False)

    return two(function)


def finite(name: str, python: bool = False) -> Any:
    return function_of_one(lambda x: Number(ir.call(f"math.{name}", scalars.as_float(x)), BOOL, python))


def clip(state: State, args: Arguments, keywords: Keywords) -> Value:
    if len(args) != 3 or keywords:
        raise state.outside("np.clip with options")
    state.imported |= {"maximum", "minimum"}
    values = [repeated(state, lower(state, arg)) for arg in args]
    operands(state, *values)
    return elementwise(
        state, lambda x: scalars.extreme("minimum", scalars.extreme("maximum", x[0], x[1]), x[2]), values
    )


# -- Python's


def builtin_extreme(name: str) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        whole = lower(state, args[0]) if len(args) == 1 and not keywords else None
        if isinstance(whole, Items):
            return lists.extreme(state, name, whole)
        if len(args) < 2 or keywords:
            raise state.outside(f"{name} of a container")
        items = [state.let(number(state, arg)) for arg in args]
        return scalars.builtin_extreme(name, items)

    return handler


def conversion(kind: Any) -> Any:
    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside("a conversion with options")
        value = lower(state, args[0])
        if not isinstance(value, Number):
            raise state.outside("an array made a number")
        if kind is int and value.python is not True:
            value = state.let(value)
        return scalars.converted(kind, value, state.check)

    return handler


def whole(name: str) -> Any:
    """Python's functions that make a float the whole number above, below or next to it."""

    def handler(state: State, args: Arguments, keywords: Keywords) -> Value:
        if len(args) != 1 or keywords:
            raise state.outside("a number rounded to some digits")
        value = number(state, args[0])
        if value.dtype.kind == "f":
            value = state.let(Number(ir.call(name, value.expr), FLOAT64, value.python))
        return scalars.converted(int, value, state.check)

    return handler


def rounded(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``np.round`` to whole numbers."""
    if len(args) != 1 or keywords:
        raise state.outside("numbers rounded to some digits")
    value = lower(state, args[0])
    operands(state, value)
    return elementwise(state, lambda x: scalars.unary_function("np.rint", x[0]), [value])


def math_power(state: State, args: Arguments, keywords: Keywords) -> Value:
    """``math.pow``: of two floats, whatever it is given."""
    a, b = (Number(scalars.as_float(number(state, arg)), FLOAT64, True) for arg in args)
    return arithmetic(state, gast.Pow, a, b)


def length(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if isinstance(value, Items):
        return lists.length(state, value)
    if isinstance(value, Bundle):
        return Number(ir.constant(len(value.items)), INT64, True, WIDTH)
    if not isinstance(value, Grid) or not value.axes:
        raise state.outside("the length of something that is no array")
    return Number(state.lasting(value.axes[0]), INT64, True, WIDTH)


def builtin_sum(state: State, args: Arguments, keywords: Keywords) -> Value:
    value = lower(state, args[0])
    if isinstance(value, Items) and len(args) == 1:
        return lists.total(state, value)
    if len(args) != 1 or not isinstance(value, Bundle) or not all(isinstance(v, Number) for v in value.items):
        raise state.outside("sum of a container")
    total = Number(ir.constant(0), INT64, True, 1)
    for item in value.items:
        item = Number(ir.call("int", item.expr), INT64, True, 1) if item.dtype == BOOL else item
        total = scalars.binary(gast.Add, total, item, state.check)
    return total


def power_of(state: State, args: Arguments, keywords: Keywords) -> Value:
    return operator(gast.Pow)(state, args, keywords)


HANDLERS: dict[Any, Any] = {
    np.abs: function_of_one(scalars.absolute),
    np.fabs: function_of_one(lambda x: scalars.absolute(scalars.floating(x))),
    builtins.abs: function_of_one(scalars.absolute, numpy=False), np.where: where, np.clip: clip,
    np.negative: function_of_one(scalars.negative), np.square: function_of_one(
        lambda x: scalars.binary(gast.Mult, x, x, lambda test: None)
    ),
    np.reciprocal: function_of_one(
        lambda x: scalars.binary(gast.Div, Number(ir.constant(1.0), FLOAT64, True), x, lambda test: None)
    ),
    np.maximum: extreme("maximum"), np.minimum: extreme("minimum"), np.power: power_of,
    np.logical_and: logical(gast.And), np.logical_or: logical(gast.Or),
    np.logical_not: function_of_one(scalars.negation), np.isnan: finite("isnan"), np.isinf: finite("isinf"),
    np.isfinite: finite("isfinite"), math.isnan: finite("isnan", True),
    math.isfinite: finite("isfinite", True), math.isinf: finite("isinf", True),
    builtins.min: builtin_extreme("min"), builtins.max: builtin_extreme("max"), builtins.float: conversion(float),
    builtins.int: conversion(int), builtins.bool: conversion(bool), builtins.len: length, builtins.sum: builtin_sum,
    builtins.round: whole("np.rint"), math.floor: whole("np.floor"), math.ceil: whole("np.ceil"),
    math.trunc: whole("np.trunc"), np.round: rounded, np.around: rounded, math.pow: math_power,
    np.sum: reduction("sum"), np.mean: reduction("sum", True), np.max: reduction("maximum"),
    np.min: reduction("minimum"), np.amax: reduction("maximum"), np.amin: reduction("minimum"),
    np.count_nonzero: count_nonzero, np.all: all_any("all"), np.any: all_any("any"),
    np.zeros_like: like(0), np.ones_like: like(1), np.full_like: like(None), np.empty_like: like(0),
    np.zeros: created(0.0), np.ones: created(1.0), np.full: created(None), np.empty: created(0.0), np.array: array,
    np.copy: copied, np.expand_dims: expand, np.transpose: transpose, np.outer: outer, np.dot: product,
    np.matmul: product, np.vdot: vdot, np.float64: numpy_scalar(FLOAT64), np.float32: numpy_scalar(FLOAT32),
    np.reshape: reshaped, np.ravel: flattened(False), "flatten": flattened(True), np.squeeze: squeezed,
    np.swapaxes: swapped, np.asarray: as_array, np.ascontiguousarray: as_array, np.eye: ones_where(gast.Eq),
    np.identity: ones_where(gast.Eq), np.tri: ones_where(gast.LtE),
    np.arange: counted, np.linspace: spaced, np.concatenate: concatenated, np.stack: piled, np.tril: triangle(True),
    np.triu: triangle(False), np.prod: reduction("product"), np.var: spread_of(False), np.std: spread_of(True),
    np.linalg.norm: norm, np.argmax: extreme_place("argmax"), np.argmin: extreme_place("argmin"),
    np.linalg.solve: solved, np.linalg.inv: of_matrix("inv"), np.linalg.cholesky: of_matrix("cholesky"),
    np.linalg.det: determinant, np.linalg.slogdet: log_determinant, np.diag: diagonal, np.trace: trace,
    scatter.gather_adjoint: from_gather, scatter.stored: stored, scan.products_of_others: of_others,
    broadcast.unbroadcast: fitted_like, broadcast.spread: spread, broadcast.zeros_like: derivative_like(0),
    broadcast.ones_like: derivative_like(1), broadcast.seed: seed,
}  # fmt: skip
HANDLERS |= {fn: operator(op) for fn, op in ARITHMETIC.items()}
HANDLERS |= {fn: two(lambda a, b, op=op: compare(op, a, b)) for fn, op in COMPARISONS.items()}  # type: ignore[misc]
METHODS: dict[str, Any] = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "copy": np.copy, "dot": np.dot,
    "transpose": np.transpose, "all": np.all, "any": np.any, "astype": "astype",
    "reshape": np.reshape, "ravel": np.ravel, "flatten": "flatten", "squeeze": np.squeeze, "swapaxes": np.swapaxes,
    "var": np.var, "std": np.std, "prod": np.prod, "argmax": np.argmax, "argmin": np.argmin,
}  # fmt: skip
HANDLERS["astype"] = cast_to
