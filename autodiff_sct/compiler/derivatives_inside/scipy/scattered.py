"""Interpolations of ``scipy.interpolate`` on grids and between scattered points, and splines as ``splrep`` has them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import interpolate

from ....runtime.scipy import bases, grids
from ....runtime.scipy.grids import Nearest, OnGrid, Scattered
from ... import ir
from ...domain.facts import INT, Facts, Num
from ...domain.values import Const, ListV, Obj, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, call_value
from ...interp.objects.objects import construct
from ...ir.builder import Specialiser
from .bases import degree_of
from .by_text import by_text, constant_result
from .functions import known, vector_like
from .interpolate import NOTHING, arrays, made_by, of_scipy, ordered, places, settings

METHODS = ("linear", "nearest", "slinear", "cubic", "quintic")
GRIDS = "points values method bounds_error fill_value solver solver_args"


def points_of(s: Specialiser, value: Value, count: Value) -> Value:
    """Points, whose coordinates may be in a tuple of arrays; `count` of them are one point."""
    if isinstance(value, TupleV) and value.cls is None:
        return call_python(s, grids.stacked, list(value.items), {})
    value = array_of_list(s, value)
    facts = s.num(value)
    return call_python(s, grids.in_rows, [value, count], {}) if facts is not None and facts.ndim == 1 else value


# On grids


@handles(interpolate.RegularGridInterpolator)
def regular_grid(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``RegularGridInterpolator(points, values, method=..., fill_value=...)``."""
    named = bound_settings(s, "RegularGridInterpolator", GRIDS, args, kwargs)
    method = method_of(s, named.get("method", Const("linear")))
    grid = named["points"]
    if not isinstance(grid, (TupleV, ListV)):
        raise s.refuse("setting", "the axes of a grid are not known one by one", "write them as a tuple")
    made = made_by(s, "RegularGridInterpolator", args, kwargs)
    axes = arrays(s, "RegularGridInterpolator", *grid.items)
    for axis in axes:
        ordered(s, axis)
    (values,) = arrays(s, "RegularGridInterpolator", named["values"])
    fill = NOTHING if named.get("bounds_error", Const(True)) == Const(True) else named.get("fill_value", Const(np.nan))
    return construct(s, OnGrid, [made, TupleV(tuple(axes)), values, method, fill], {})


def bound_settings(s: Specialiser, what: str, names: str, args: Any, kwargs: Any) -> dict[str, Value]:
    """The arguments by name; None as a value to fill with stays, as it means something."""
    fill = bound_fill(names, args, kwargs)
    named = settings(s, what, names, args, kwargs)
    return named | ({"fill_value": NOTHING} if fill == NOTHING else {})


def bound_fill(names: str, args: Any, kwargs: Any) -> Value | None:
    return (dict(zip(names.split(), args)) | kwargs).get("fill_value")


def method_of(s: Specialiser, method: Value) -> Value:
    if not s.is_static(method) or s.static(method) not in METHODS:
        raise s.refuse(
            "setting", "an interpolation on a grid by this method has no derivative", "use 'linear' or 'cubic'"
        )
    return method


@handles(interpolate.RegularGridInterpolator.__call__)
def grid_from_outside(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of an interpolation on a grid that exists outside."""
    outside, xi = args[0], args[1]
    if len(args) > 2 or kwargs:
        raise s.refuse("setting", "a call of RegularGridInterpolator with these settings has no derivative")
    fields = [attribute_of(s, outside, name) for name in ("grid", "values", "method", "bounds_error", "fill_value")]
    grid, values, method, strict, fill = fields
    fill = NOTHING if s.is_static(strict) and s.static(strict) else fill
    made = constant_result(s, s.expr(outside), [], "interpolation")
    return on_grid(s, [made, grid, values, method_of(s, method), fill, xi], {})


@handles(grids.on_grid)
def on_grid(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, xi = args
    expr = ir.call(of_scipy(s, made), s.expr(xi))
    return by_text(s, grids.grid_at, expr, [*rest, points_of(s, xi, call_value(s, Const(len), [rest[0]], {}))])


@handles(interpolate.interpn)
def interpn(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``interpn(points, values, xi, method=..., bounds_error=..., fill_value=...)``."""
    named = dict(zip("points values xi method bounds_error fill_value".split(), args)) | kwargs
    xi = named.pop("xi")
    return on_grid_of(s, regular_grid(s, [named.pop("points"), named.pop("values")], named), xi)


def on_grid_of(s: Specialiser, made: Value, xi: Value) -> Value:
    names = ("made", "grid", "values", "method", "fill")
    return on_grid(s, [*(attribute_of(s, made, name) for name in names), xi], {})


# Between scattered points


def of_points(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``LinearNDInterpolator(points, values)`` and ``NearestNDInterpolator(x, y)``."""
    names = "points values fill_value rescale" if name.startswith("Linear") else "points values rescale tree_options"
    kwargs = {{"x": "points", "y": "values"}.get(k, k): v for k, v in kwargs.items()}
    named = bound_settings(s, name, names, args, kwargs)
    points, values = arrays(s, name, points_of(s, named["points"], Const(1)), named["values"])
    facts = s.num(points)
    if facts is None or facts.ndim != 2:
        raise s.refuse("setting", f"scipy.interpolate.{name} has a derivative for points of several coordinates")
    others = {k: v for k, v in named.items() if k not in ("points", "values")}
    made = made_by(s, name, [points, values], others)
    if name.startswith("Nearest"):
        return construct(s, Nearest, [made, values], {})
    return construct(s, Scattered, [made, points, values, named.get("fill_value", Const(np.nan))], {})


for _name in ("LinearNDInterpolator", "NearestNDInterpolator"):
    handles(getattr(interpolate, _name))(partial(of_points, _name))


@handles(interpolate.griddata)
def griddata(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``griddata(points, values, xi, method="linear")``."""
    named = dict(zip("points values xi method fill_value rescale".split(), args)) | kwargs
    points, values, xi = named.pop("points"), named.pop("values"), named.pop("xi")
    method = named.pop("method", Const("linear"))
    if method not in (Const("linear"), Const("nearest")):
        raise s.refuse("setting", "scipy.interpolate.griddata by this method has no derivative", "use method='linear'")
    if method == Const("nearest"):
        named.pop("fill_value", None)
        return nearest_of(s, of_points("NearestNDInterpolator", s, [points, values], named), xi)
    return scattered_of(s, of_points("LinearNDInterpolator", s, [points, values], named), xi)


def scattered_of(s: Specialiser, made: Value, xi: Value) -> Value:
    fields = [attribute_of(s, made, name) for name in ("made", "points", "values", "fill")]
    return scattered(s, [*fields, TupleV((xi,))], {})


def nearest_of(s: Specialiser, made: Value, xi: Value) -> Value:
    return nearest(s, [attribute_of(s, made, "made"), attribute_of(s, made, "values"), TupleV((xi,))], {})


def given_points(s: Specialiser, made: Value, xi: Value) -> tuple[Any, Value]:
    """The call of SciPy's object, and the points as one array."""
    assert isinstance(xi, TupleV)
    points = points_of(s, xi if len(xi.items) > 1 else xi.items[0], coordinates(s, [made], {}))
    return ir.call(of_scipy(s, made), *(s.expr(item) for item in xi.items)), points


@handles(grids.coordinates)
def coordinates(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return s.let(ir.call(s.bind("coordinates", grids.coordinates), of_scipy(s, args[0])), INT, hint="count")


@handles(grids.scattered)
def scattered(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, xi = args
    expr, points = given_points(s, made, xi)
    return by_text(s, grids.scattered_at, expr, [made, *rest, points])


@handles(grids.nearest)
def nearest(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, values, xi = args
    expr, points = given_points(s, made, xi)
    return by_text(s, grids.nearest_at, expr, [made, values, points])


@handles(interpolate.LinearNDInterpolator.__call__)
def scattered_from_outside(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of an interpolation that exists outside."""
    outside, *xi = args
    obj = s.objects[outside.id][0] if isinstance(outside, Obj) and outside.id in s.objects else None
    if kwargs or obj is None:
        raise s.refuse("setting", "a call of this LinearNDInterpolator has no derivative", "make it inside")
    dims = [dim for _ in range(2 + len(obj.values_shape)) for dim in vector_like(s).dims or ()]
    points, values = (Num("array", np.dtype(np.float64), tuple(found)) for found in (dims[:2], [dims[0], *dims[2:]]))
    expr = ir.call(s.bind("content", grids.content), s.expr(outside))
    found = s.let_several(expr, [points, values], None, "points")
    made = constant_result(s, s.expr(outside), [], "interpolation")
    return scattered(s, [made, *found, attribute_of(s, outside, "fill_value"), TupleV(tuple(xi))], {})


@handles(grids.simplices)
def simplices(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The corners of simplices, and which points are outside, through which no derivative passes."""
    made, x = args
    points = vector_like(s).dims or ()
    corners = Num("array", np.dtype(np.int64), (*points, *(vector_like(s).dims or ())))
    facts: list[Facts] = [corners, Num("array", np.dtype(np.int64), points)]
    expr = ir.call(s.bind("simplices", grids.simplices), of_scipy(s, made), s.expr(x))
    return TupleV(tuple(s.let_several(expr, facts, None, "corners")))


@handles(grids.neighbours)
def neighbours(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, x = args
    known = s.num(x)
    count = 1 if known is None or known.ndim is None else max(known.ndim - 1, 1)
    dims = tuple(dim for _ in range(count) for dim in vector_like(s).dims or ())
    expr = ir.call(s.bind("neighbours", grids.neighbours), of_scipy(s, made), s.expr(x))
    return s.let(expr, Num("array", np.dtype(np.int64), dims), hint="nearest")


# Splines as tuples of knots, coefficients and the degree


@handles(interpolate.splrep)
def splrep(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``splrep(x, y, k=...)``, which goes through all values."""
    named = settings(s, "splrep", "x y k s", args[:2], kwargs)
    if len(args) > 2 or named.get("s", Const(0)) not in (Const(0), Const(0.0)):
        raise s.refuse("setting", "scipy.interpolate.splrep with these settings has no derivative", "give it x, y, k")
    found = made_by(s, "splrep", args, kwargs)
    knots, values = arrays(s, "splrep", named["x"], named["y"])
    ordered(s, knots)
    degree = Const(degree_of(s, named))
    t, c = (ir.subscript(s.expr(found), ir.constant(k)) for k in (0, 1))
    t_value = by_text(s, bases.knots_of, t, [knots, degree, Const(False)])
    return TupleV((t_value, by_text(s, bases.padded, c, [t_value, degree, knots, values]), degree))


def parts_of(s: Specialiser, tck: Value) -> list[Value]:
    """Knots, coefficients and the degree."""
    if isinstance(tck, (TupleV, ListV)) and len(tck.items) == 3 and (degree := known(s, tck.items[2])) is not None:
        t, c = arrays(s, "splev", *tck.items[:2])
        facts = s.num(c)
        if facts is not None and facts.ndim == 1:
            return [t, c, degree]
    raise s.refuse("setting", "a spline of splev is no tuple of knots, coefficients and a degree", "use BSpline")


@handles(interpolate.splev)
def splev(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``splev(x, tck, der=0)``."""
    named = settings(s, "splev", "x tck der ext", args, kwargs)
    if named.get("ext", Const(0)) not in (Const(0), Const(2)):
        raise s.refuse("setting", "scipy.interpolate.splev with ext has no derivative", "leave ext out")
    x, _ = places(s, named["x"])
    t, c, k = parts_of(s, named["tck"])
    order = named.get("der", Const(0))
    if not s.is_static(order):
        raise s.refuse("setting", "the order of the derivative of a spline is not known", "write it as a number")
    tck = ir.tuple_([s.expr(v) for v in (t, c, k)])
    callee = ir.attribute(s.bind("interpolate", interpolate), "splev")
    expr = ir.call(callee, s.expr(x), tck, *([s.expr(order)] if order != Const(0) else []))
    return by_text(s, bases.spline_values, expr, [t, c, k, x, order])


@handles(interpolate.splint)
def splint(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``splint(a, b, tck)``."""
    named = settings(s, "splint", "a b tck", args, kwargs)
    t, c, k = parts_of(s, named["tck"])
    tck = ir.tuple_([s.expr(v) for v in (t, c, k)])
    callee = ir.attribute(s.bind("interpolate", interpolate), "splint")
    expr = ir.call(callee, s.expr(named["a"]), s.expr(named["b"]), tck)
    return by_text(s, bases.area_inside, expr, [t, c, k, named["a"], named["b"]])
