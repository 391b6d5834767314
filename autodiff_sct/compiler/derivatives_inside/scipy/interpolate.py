"""Splines of ``scipy.interpolate``: those that exist outside, and those that a program makes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import interpolate

from ....rules.scipy import interpolation
from ....runtime.scipy import splines
from ....runtime.scipy.splines import Interpolant, Line, Piecewise, Spline, increasing
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Obj, Value
from ...interp.calls.dispatch import call_python, handles
from ...interp.numpy.calls import array_of_list
from ...interp.objects.attributes import attribute_of
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from ...ir.builder import Specialiser
from .by_text import by_text, constant_result
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
    own = nu == Const(0) and len(known.dims) == 1
    made = spline_expr(s, condition, s.expr(knots), s.expr(values), own)
    expr = ir.call(made, s.expr(x), *([s.expr(nu)] if s.static(nu) else []))
    facts = Num("array", np.dtype(np.float64), (*facts.dims, *known.dims[1:]))
    return row(s, interpolation.spline_at, expr, facts, args, "spline")


def spline_expr(s: Specialiser, condition: Value, knots: Any, values: Any, own: bool) -> Any:
    """The expression of a spline: by the function that the program calls, where that is asked for its values."""
    kind: Any = condition.value if isinstance(condition, Const) else None
    module = s.bind("interpolate", interpolate)
    if isinstance(kind, str):
        named = {} if kind == "not-a-knot" else {"bc_type": ir.constant(kind)}
        return ir.call(ir.attribute(module, "CubicSpline"), knots, values, **named)
    name, degree = kind if own else ("make_interp_spline", kind[1])
    settings: dict[str, Any] = {"k": degree}
    if name == "interp1d":
        settings = {"kind": DEGREES[degree]}
    elif name == "UnivariateSpline":
        settings |= {"s": 0}
    return ir.call(ir.attribute(module, name), knots, values, **{k: ir.constant(v) for k, v in settings.items()})


DEGREES = {2: "quadratic", 3: "cubic"}


def interpolant(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``make_interp_spline(x, y, k)`` and its like, made inside the program."""
    named = dict(zip(["x", "y"], args)) | kwargs
    degree = named.pop("k", args[2] if name == "make_interp_spline" and len(args) > 2 else Const(3))
    smooth = named.pop("s", Const(None if name == "UnivariateSpline" else 0))
    if set(named) != {"x", "y"} or smooth != Const(0) or not isinstance(degree, Const):
        raise s.refuse(
            f"scipy.interpolate.{name} with these settings has no derivative", "give it x, y, k, and s=0 if it smooths"
        )
    knots, values = array_of_list(s, named["x"]), array_of_list(s, named["y"])
    s.block.append(ir.Effect(ir.call(s.bind(increasing.__name__, increasing), s.expr(knots)), s.where()))
    return construct(s, Interpolant, [Const((name, degree.value)), knots, values], {})


for _name in ("make_interp_spline", "InterpolatedUnivariateSpline", "UnivariateSpline"):
    handles(getattr(interpolate, _name))(partial(interpolant, _name))


def piecewise(cls: Any, slopes: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``PchipInterpolator(x, y)`` and its like, made inside the program."""
    names = ["x", "y", *(["dydx"] if slopes is None else [])]
    named = dict(zip(names, args)) | kwargs
    if set(named) != set(names) or len(args) > len(names):
        raise s.refuse(f"scipy.interpolate.{cls.__name__} with these settings has no derivative", "leave them out")
    given = [array_of_list(s, named[name]) for name in names]
    if any((f := s.num(v)) is None or f.ndim != 1 for v in given):
        raise s.refuse(f"scipy.interpolate.{cls.__name__} has a derivative for vectors", "make one for each line")
    callee = ir.attribute(s.bind("interpolate", interpolate), cls.__name__)
    made = constant_result(s, ir.call(callee, *(s.expr(v) for v in given)), given, "interpolation")
    given = given if slopes is None else [*given, call_python(s, slopes, given, {})]
    return construct(s, Piecewise, [made, *given], {})


handles(interpolate.PchipInterpolator)(partial(piecewise, interpolate.PchipInterpolator, splines.monotone))
handles(interpolate.Akima1DInterpolator)(partial(piecewise, interpolate.Akima1DInterpolator, splines.akima))
handles(interpolate.CubicHermiteSpline)(partial(piecewise, interpolate.CubicHermiteSpline, None))


@handles(splines.hermite)
def piecewise_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Such an interpolation, at places."""
    made, *rest = args
    known = class_of_row(s, made) is Piecewise or isinstance(made, Obj) and made.cls is Piecewise
    made = attribute_of(s, made, "made") if known else made
    rest[-1] = array_of_list(s, rest[-1])
    refuse_complex(s, rest[1], "an interpolation")
    return by_text(s, splines.hermite, ir.call(s.expr(made), s.expr(rest[-1])), [made, *rest])


@handles(interpolate.interp1d)
def interp1d(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``interp1d(x, y)``, made inside the program."""
    named = dict(zip("x y kind axis copy bounds_error fill_value assume_sorted".split(), args)) | kwargs
    degree = {name: k for k, name in DEGREES.items()}.get(str(getattr(named.get("kind"), "value", "")))
    if degree is not None and set(named) == {"x", "y", "kind"}:
        knots, values = array_of_list(s, named["x"]), array_of_list(s, named["y"])
        s.block.append(ir.Effect(ir.call(s.bind(increasing.__name__, increasing), s.expr(knots)), s.where()))
        return construct(s, Interpolant, [Const(("interp1d", degree)), knots, values], {})
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
