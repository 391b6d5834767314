"""Splines of ``scipy.interpolate``: those that exist outside, and those that a program makes."""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from ...rules.scipy import interpolation
from ...runtime.splines import Line, Spline, increasing
from .. import ir
from ..facts import Num
from ..specialise.calls import handles
from ..specialise.numpy_calls import array_of_list
from ..specialise.objects import construct
from ..specialise.state import Specialiser
from ..specialise.values import Const, Obj, Value
from .functions import refuse_complex, row

CONDITIONS = ("not-a-knot", "natural", "clamped")


def places(s: Specialiser, value: Value) -> tuple[Value, Num]:
    """Where a spline is evaluated, and the facts of its values there."""
    value = array_of_list(s, value)
    refuse_complex(s, value, "a spline of scipy.interpolate")
    facts = s.num(value)
    if facts is None or facts.dims is None:
        raise s.refuse("the places where a spline is evaluated are not known", "give it an array or a number")
    return value, Num("array", np.dtype(np.float64), facts.dims)


@handles(interpolate.PPoly.__call__, interpolate.BSpline.__call__, interpolation.evaluated)
def evaluated(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a spline that exists outside."""
    spline, x, nu = args[0], args[1], kwargs.get("nu", args[2] if len(args) > 2 else Const(0))
    if set(kwargs) - {"nu"} or len(args) > 3 or not s.is_static(nu) or not isinstance(spline, Obj):
        raise s.refuse("a spline of scipy.interpolate with these settings has no derivative", "leave extrapolate out")
    outside = s.objects[spline.id][0] if spline.id in s.objects else None
    if np.iscomplexobj(getattr(outside, "c", 0)):
        raise s.refuse("a spline of scipy.interpolate of complex numbers has no derivative", "make one for each part")
    if np.ndim(getattr(outside, "c", 0)) != (2 if isinstance(outside, interpolate.PPoly) else 1):
        raise s.refuse("a spline of scipy.interpolate of several values has no derivative", "make one for each value")
    x, facts = places(s, x)
    expr = ir.call(s.expr(spline), s.expr(x), *([s.expr(nu)] if s.static(nu) else []))
    return row(s, interpolation.evaluated, expr, facts, [spline, x, nu], "spline")


@handles(interpolate.CubicSpline)
def cubic_spline(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``CubicSpline(x, y, bc_type=...)``, made inside the program."""
    named = dict(zip("x y axis bc_type extrapolate".split(), args)) | kwargs
    condition = named.get("bc_type", Const("not-a-knot"))
    if set(named) - {"x", "y", "bc_type"} or not isinstance(condition, Const) or condition.value not in CONDITIONS:
        raise s.refuse(
            "scipy.interpolate.CubicSpline with these settings has no derivative", "use bc_type='natural' or 'clamped'"
        )
    given = [condition, array_of_list(s, named["x"]), array_of_list(s, named["y"])]
    return construct(s, Spline, given, {})


@handles(interpolation.spline_at)
def spline_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A spline that the program has made, at places."""
    condition, knots, values, x, nu = args
    known = s.num(values)
    refuse_complex(s, values, "a spline of scipy.interpolate")
    x, facts = places(s, x)
    if not s.is_static(nu) or known is None or known.dims is None or len(known.dims) > 2 or facts.dims is None:
        raise s.refuse("a spline of scipy.interpolate through these values has no derivative", "give it a vector")
    callee = ir.attribute(s.bind("interpolate", interpolate), "CubicSpline")
    default = condition == Const("not-a-knot")
    made = ir.call(callee, s.expr(knots), s.expr(values), **({} if default else {"bc_type": s.expr(condition)}))
    expr = ir.call(made, s.expr(x), *([s.expr(nu)] if s.static(nu) else []))
    facts = Num("array", np.dtype(np.float64), (*facts.dims, *known.dims[1:]))
    return row(s, interpolation.spline_at, expr, facts, args, "spline")


@handles(interpolate.interp1d)
def interp1d(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``interp1d(x, y)``, made inside the program."""
    named = dict(zip("x y kind axis copy bounds_error fill_value assume_sorted".split(), args)) | kwargs
    if set(named) - {"x", "y", "kind"} or named.get("kind", Const("linear")) != Const("linear"):
        raise s.refuse(
            "scipy.interpolate.interp1d with these settings has no derivative", "use CubicSpline or np.interp"
        )
    knots, values = array_of_list(s, named["x"]), array_of_list(s, named["y"])
    refuse_complex(s, values, "an interpolation")
    facts = s.num(values)
    if facts is None or facts.dims is None or len(facts.dims) != 1:
        raise s.refuse("scipy.interpolate.interp1d through these values has no derivative", "give it a vector")
    s.block.append(ir.Effect(ir.call(s.bind(increasing.__name__, increasing), s.expr(knots)), s.where()))
    return construct(s, Line, [knots, values], {})


@handles(interpolation.line_at)
def line_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Such an interpolation, at places."""
    knots, values, x = args
    x, facts = places(s, x)
    callee = ir.attribute(s.bind("interpolate", interpolate), "interp1d")
    expr = ir.call(ir.call(callee, s.expr(knots), s.expr(values)), s.expr(x))
    return row(s, interpolation.line_at, expr, facts, [knots, values, x], "line")
