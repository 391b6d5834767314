"""Interpolations of ``scipy.interpolate`` on grids and between scattered points, and splines as ``splrep`` has them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import interpolate

from ....runtime.scipy import bases
from ....runtime.scipy import scattered as texts
from ....runtime.scipy.bases import Basis, Sheet
from ....runtime.scipy.scattered import Nearest, OnGrid, Scattered
from ... import ir
from ...domain.facts import INT, Facts, Num
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, call_value
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from .functions import NUMBER, by_text, computed, constant_result, known, row, vector_like
from .interpolate import NOTHING, arrays, lines_first, made_by, of_scipy, order_of, ordered, places, settings

NATURAL = {None: False, "not-a-knot": False, "natural": True, "clamped": True}


def degree_of(s: Specialiser, named: dict[str, Value], name: str = "k") -> int:
    """The degree of a spline, which is known."""
    degree = known(s, named.get(name, Const(3)))
    if degree is None:
        raise s.refuse("setting", "the degree of a spline is not known", "write it as a number")
    return int(degree.value)


@handles(interpolate.BSpline)
def b_spline(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``BSpline(t, c, k, axis=...)``."""
    named = settings(s, "BSpline", "t c k extrapolate axis", args, kwargs)
    if named.get("extrapolate", Const(True)) != Const(True):
        raise s.refuse("setting", "scipy.interpolate.BSpline with extrapolate has no derivative")
    made = made_by(s, "BSpline", args, kwargs)
    t, c = arrays(s, "BSpline", named["t"], named["c"])
    c, axis = lines_first(s, c, named.get("axis", Const(0)))
    return construct(s, Basis, [made, t, c, Const(degree_of(s, named)), axis], {})


@handles(interpolate.make_interp_spline)
def make_interp_spline(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``make_interp_spline(x, y, k, bc_type=..., axis=...)``."""
    named = settings(s, "make_interp_spline", "x y k bc_type axis", args[:3], kwargs)
    degree, condition = degree_of(s, named), named.get("bc_type", NOTHING)
    known = isinstance(condition, Const) and condition.value in NATURAL
    if not known or len(args) > 3 or NATURAL[condition.value] and degree != 3:
        raise s.refuse(
            "setting",
            "scipy.interpolate.make_interp_spline with these settings has no derivative",
            "leave t and bc_type out",
        )
    made = made_by(s, "make_interp_spline", args, kwargs)
    knots, values = arrays(s, "make_interp_spline", named["x"], named["y"])
    ordered(s, knots)
    values, axis = lines_first(s, values, named.get("axis", Const(0)))
    return through_values(s, made, knots, values, degree, condition.value, axis)


def through_values(s: Specialiser, made: Leaf, x: Value, y: Value, degree: int, condition: Any, axis: Const) -> Value:
    """The spline of a degree through values, with or without a condition at its ends."""
    natural = Const(bool(NATURAL.get(condition)))
    order = Const({"natural": 2, "clamped": 1}.get(condition, 0))
    t = call_python(s, bases.knots_of, [x, Const(degree), natural], {})
    c = call_python(s, bases.coefficients, [t, Const(degree), order, x, y], {})
    return construct(s, Basis, [made, t, c, Const(degree), axis], {})


def univariate(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``InterpolatedUnivariateSpline(x, y, k=...)`` and ``UnivariateSpline(x, y, k=..., s=0)``."""
    named = settings(s, name, "x y k s", args[:2], kwargs)
    if len(args) > 2 or (name == "UnivariateSpline") != (named.get("s") == Const(0)):
        raise s.refuse(
            "setting", f"scipy.interpolate.{name} with these settings has no derivative", "give it x, y, k and s=0"
        )
    made = made_by(s, name, args, kwargs)
    knots, values = arrays(s, name, named["x"], named["y"])
    ordered(s, knots)
    return through_values(s, made, knots, values, degree_of(s, named), None, Const(0))


for _name in ("InterpolatedUnivariateSpline", "UnivariateSpline"):
    handles(getattr(interpolate, _name))(partial(univariate, _name))


@handles(interpolate.RectBivariateSpline)
def rect_bivariate_spline(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``RectBivariateSpline(x, y, z, kx=..., ky=...)`` through all values."""
    named = settings(s, "RectBivariateSpline", "x y z bbox kx ky s", args, kwargs)
    if "bbox" in named or named.get("s", Const(0)) != Const(0):
        raise s.refuse("setting", "scipy.interpolate.RectBivariateSpline with bbox or s has no derivative")
    made = made_by(s, "RectBivariateSpline", args, kwargs)
    x, y, z = arrays(s, "RectBivariateSpline", *(named[k] for k in "xyz"))
    degrees = [Const(degree_of(s, named, k)) for k in ("kx", "ky")]
    knots = [call_python(s, bases.knots_of, [p, k, Const(False)], {}) for p, k in zip((x, y), degrees)]
    c = call_python(s, bases.on_grid, [*knots, *degrees, x, y, z], {})
    return construct(s, Sheet, [made, *knots, c, *degrees], {})


# Evaluated by the program


@handles(bases.spline_at)
def spline_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, x, nu = args
    x, _ = places(s, x)
    expr = ir.call(of_scipy(s, made), s.expr(x), *order_of(s, nu))
    return by_text(s, bases.basis_sum, expr, [*rest, x, nu])


@handles(bases.area)
def area(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest = args
    expr = ir.call(
        s.bind(bases.integrated.__name__, bases.integrated), of_scipy(s, made), *(s.expr(v) for v in rest[-2:])
    )
    return by_text(s, bases.area_below, expr, rest)


@handles(bases.sheet_at)
def sheet_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, x, y, dx, dy, grid = args
    (x, _), (y, _) = places(s, x), places(s, y)
    if not isinstance(grid, Const):
        raise s.refuse("setting", "grid of a spline of two variables is not known", "write it as True or False")
    orders = {k: s.expr(v) for k, v in (("dx", dx), ("dy", dy)) if order_of(s, v)}
    spline = of_scipy(s, made)
    callee = spline if grid.value else ir.attribute(spline, "ev")
    expr = ir.call(callee, s.expr(x), s.expr(y), **orders)
    return by_text(s, bases.products, expr, [*rest, x, y, dx, dy, grid])


METHODS = ("linear", "nearest", "slinear", "cubic", "quintic")
GRIDS = "points values method bounds_error fill_value solver solver_args"


def points_of(s: Specialiser, value: Value, count: Value) -> Value:
    """Points, whose coordinates may be in a tuple of arrays; `count` of them are one point."""
    if isinstance(value, TupleV) and value.cls is None:
        return call_python(s, texts.stacked, list(value.items), {})
    value = array_of_list(s, value)
    facts = s.num(value)
    return call_python(s, texts.in_rows, [value, count], {}) if facts is not None and facts.ndim == 1 else value


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


@handles(texts.on_grid)
def on_grid(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, xi = args
    expr = ir.call(of_scipy(s, made), s.expr(xi))
    return by_text(s, texts.grid_at, expr, [*rest, points_of(s, xi, call_value(s, Const(len), [rest[0]], {}))])


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


@handles(texts.coordinates)
def coordinates(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return s.let(ir.call(s.bind("coordinates", texts.coordinates), of_scipy(s, args[0])), INT, hint="count")


@handles(texts.scattered)
def scattered(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, xi = args
    expr, points = given_points(s, made, xi)
    return by_text(s, texts.scattered_at, expr, [made, *rest, points])


@handles(texts.nearest)
def nearest(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, values, xi = args
    expr, points = given_points(s, made, xi)
    return by_text(s, texts.nearest_at, expr, [made, values, points])


@handles(interpolate.LinearNDInterpolator.__call__)
def scattered_from_outside(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of an interpolation that exists outside."""
    outside, *xi = args
    obj = s.objects[outside.id][0] if isinstance(outside, Obj) and outside.id in s.objects else None
    if kwargs or obj is None:
        raise s.refuse("setting", "a call of this LinearNDInterpolator has no derivative", "make it inside")
    dims = [dim for _ in range(2 + len(obj.values_shape)) for dim in vector_like(s).dims or ()]
    points, values = (Num("array", np.dtype(np.float64), tuple(found)) for found in (dims[:2], [dims[0], *dims[2:]]))
    expr = ir.call(s.bind("content", texts.content), s.expr(outside))
    found = s.let_several(expr, [points, values], None, "points")
    made = constant_result(s, s.expr(outside), [], "interpolation")
    return scattered(s, [made, *found, attribute_of(s, outside, "fill_value"), TupleV(tuple(xi))], {})


@handles(texts.simplices)
def simplices(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The corners of simplices, and which points are outside, through which no derivative passes."""
    made, x = args
    points = vector_like(s).dims or ()
    corners = Num("array", np.dtype(np.int64), (*points, *(vector_like(s).dims or ())))
    facts: list[Facts] = [corners, Num("array", np.dtype(np.int64), points)]
    expr = ir.call(s.bind("simplices", texts.simplices), of_scipy(s, made), s.expr(x))
    return TupleV(tuple(s.let_several(expr, facts, None, "corners")))


@handles(texts.neighbours)
def neighbours(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, x = args
    known = s.num(x)
    count = 1 if known is None or known.ndim is None else max(known.ndim - 1, 1)
    dims = tuple(dim for _ in range(count) for dim in vector_like(s).dims or ())
    expr = ir.call(s.bind("neighbours", texts.neighbours), of_scipy(s, made), s.expr(x))
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
    area = call_python(s, bases.area_inside, [t, c, k, named["a"], named["b"]], {})
    return row(s, computed, expr, NUMBER, [area], "area")  # SciPy returns a float of Python's
