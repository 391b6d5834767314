"""B-splines of ``scipy.interpolate`` that a program makes, of one variable and of several."""

from __future__ import annotations

from functools import partial
from typing import Any

from scipy import interpolate

from ....runtime.scipy import bases
from ....runtime.scipy.bases import Basis, Sheet
from ... import ir
from ...domain.values import Const, Leaf, Value
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_python
from ...interp.objects.objects import construct
from ...ir.builder import Specialiser
from .by_text import by_text
from .functions import known
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
