"""Interpolations of ``scipy.interpolate``: those that exist outside, those that a program makes, and radial ones.

One that a program makes is an object of a class of ``runtime.scipy``: SciPy's object is in a variable through which no
derivative passes, and the numbers that describe it are beside that.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import interpolate

from ....rules.scipy import interpolation
from ....runtime.scipy import scattered as texts
from ....runtime.scipy import splines
from ....runtime.scipy.splines import Polynomial, Table, increasing
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...interp.arrays.emit_op import array_of_list, numpy_call
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from .functions import bound, by_text, constant_result, refuse_complex, row

NOTHING = Const(None)


def places(s: Specialiser, value: Value) -> tuple[Value, Num]:
    """The places at which a spline is evaluated, and the facts of its values there."""
    value = array_of_list(s, value)
    refuse_complex(s, value, "a spline of scipy.interpolate")
    facts = s.num(value)
    if facts is None or facts.dims is None:
        raise s.refuse(
            "setting", "the places where a spline is evaluated are not known", "give it an array or a number"
        )
    return value, Num("array", np.dtype(np.float64), facts.dims)


@handles(interpolate.PPoly.__call__, interpolate.BSpline.__call__, interpolation.evaluated)
def evaluated(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a spline that exists outside."""
    spline, x, nu = args[0], args[1], kwargs.get("nu", args[2] if len(args) > 2 else Const(0))
    if set(kwargs) - {"nu"} or len(args) > 3 or not s.is_static(nu) or not isinstance(spline, Obj):
        raise s.refuse("setting", "a spline of scipy.interpolate with these settings has no derivative")
    outside = s.objects[spline.id][0] if spline.id in s.objects else None
    if np.iscomplexobj(getattr(outside, "c", 0)):
        raise s.refuse(
            "setting", "a spline of scipy.interpolate of complex numbers has no derivative", "make one for each part"
        )
    if np.ndim(getattr(outside, "c", 0)) != (2 if isinstance(outside, interpolate.PPoly) else 1):
        raise s.refuse(
            "setting", "a spline of scipy.interpolate of several values has no derivative", "make one for each value"
        )
    x, facts = places(s, x)
    expr = ir.call(s.expr(spline), s.expr(x), *([s.expr(nu)] if s.static(nu) else []))
    return row(s, interpolation.evaluated, expr, facts, [spline, x, nu], "spline")


# Made by the program


def arrays(s: Specialiser, what: str, *values: Value) -> list[Value]:
    """Arrays of floats of a known number of axes, of what a program gives to a function of SciPy."""
    made = []
    for value in values:
        value = array_of_list(s, value)
        refuse_complex(s, value, f"scipy.interpolate.{what}")
        facts = s.num(value)
        if facts is None or not facts.ndim:
            raise s.refuse(
                "setting", f"scipy.interpolate.{what} of these has no derivative", "give it arrays of known shape"
            )
        if facts.dtype is None or facts.dtype.kind != "f":
            value = numpy_call(s, np.asarray, [value, Const(float)], {})
        made.append(value)
    return made


def made_by(s: Specialiser, what: str, args: list[Value], kwargs: dict[str, Value]) -> Leaf:
    """SciPy's object, through which no derivative passes."""
    callee = ir.attribute(s.bind("interpolate", interpolate), what)
    expr = ir.call(callee, *(s.expr(v) for v in args), **{k: s.expr(v) for k, v in kwargs.items()})
    return constant_result(s, expr, [*args, *kwargs.values()], "interpolation")


def settings(s: Specialiser, what: str, names: str, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arguments by name, of which a call may have no others."""
    named = bound(names, args, kwargs)
    if len(args) > len(names.split()) or set(named) - set(names.split()):
        raise s.refuse("setting", f"scipy.interpolate.{what} with these settings has no derivative")
    return {k: v for k, v in named.items() if v != NOTHING}


def ordered(s: Specialiser, knots: Value) -> None:
    """See to it that knots increase."""
    s.block.append(ir.Effect(ir.call(s.bind(increasing.__name__, increasing), s.expr(knots)), s.where()))


def lines_first(s: Specialiser, values: Value, axis: Value) -> tuple[Value, Const]:
    """Values whose first axis is that along which they are interpolated, and which it was."""
    facts = s.num(values)
    if facts is None or facts.ndim is None or not s.is_static(axis):
        raise s.refuse(
            "setting", "the axis along which these values are interpolated is not known", "write it as a number"
        )
    place = s.static(axis) % facts.ndim
    return numpy_call(s, np.moveaxis, [values, Const(place), Const(0)], {}) if place else values, Const(place)


def piecewise(cls: Any, slopes: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``PchipInterpolator(x, y)`` and its like."""
    names = "x y dydx axis" if slopes is None else "x y axis"
    named = settings(s, cls.__name__, names, args, kwargs)
    made = made_by(s, cls.__name__, args, kwargs)
    knots, values, *rest = arrays(s, cls.__name__, *(named[k] for k in ("x", "y", "dydx") if k in named))
    values, axis = lines_first(s, values, named.get("axis", Const(0)))
    rest = [lines_first(s, v, axis)[0] for v in rest]
    rest = rest or [call_python(s, slopes, [knots, values], {})]
    c = call_python(s, splines.cubic, [knots, values, *rest], {})
    return construct(s, Polynomial, [made, c, knots, axis, Const(False)], {})


handles(interpolate.PchipInterpolator)(partial(piecewise, interpolate.PchipInterpolator, splines.monotone))
handles(interpolate.Akima1DInterpolator)(partial(piecewise, interpolate.Akima1DInterpolator, splines.akima))
handles(interpolate.CubicHermiteSpline)(partial(piecewise, interpolate.CubicHermiteSpline, None))

CONDITIONS = {"not-a-knot": (0, 0.0), "natural": (2, 0.0), "clamped": (1, 0.0)}


@handles(interpolate.CubicSpline)
def cubic_spline(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``CubicSpline(x, y, axis, bc_type)``."""
    named = settings(s, "CubicSpline", "x y axis bc_type", args, kwargs)
    made = made_by(s, "CubicSpline", args, kwargs)
    knots, values = arrays(s, "CubicSpline", named["x"], named["y"])
    values, axis = lines_first(s, values, named.get("axis", Const(0)))
    condition = named.get("bc_type", Const("not-a-knot"))
    if condition == Const("periodic"):
        slopes = call_python(s, splines.cyclic, [knots, values], {})
    else:
        slopes = call_python(s, splines.smooth, [*conditions(s, condition), knots, values], {})
    c = call_python(s, splines.cubic, [knots, values, slopes], {})
    return construct(s, Polynomial, [made, c, knots, axis, Const(condition == Const("periodic"))], {})


def conditions(s: Specialiser, value: Value) -> list[Value]:
    """The conditions at both ends: the order of a derivative, and its value."""
    if isinstance(value, Const) and isinstance(value.value, str):
        ends: list[Value] = [value, value]
    else:
        ends = items(value)
    ends = [Const(CONDITIONS.get(e.value)) if isinstance(e, Const) and isinstance(e.value, str) else e for e in ends]
    pairs = [[Const(s.static(v)) if k == 0 and s.is_static(v) else v for k, v in enumerate(items(end))] for end in ends]
    if len(pairs) != 2 or any(len(p) != 2 or p[0] not in (Const(0), Const(1), Const(2)) for p in pairs):
        raise s.refuse(
            "setting",
            "scipy.interpolate.CubicSpline with this bc_type has no derivative",
            "use bc_type='natural' or 'clamped'",
        )
    return [TupleV(tuple(pair)) for pair in pairs]


def items(value: Value) -> list[Value]:
    if isinstance(value, (TupleV, ListV)):
        return list(value.items)
    return (
        [Const(v) for v in value.value] if isinstance(value, Const) and isinstance(value.value, (tuple, list)) else []
    )


@handles(interpolate.interp1d)
def interp1d(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``interp1d(x, y, kind, axis, fill_value=...)``."""
    from .scattered import through_values

    names = "x y kind axis copy bounds_error fill_value assume_sorted"
    named = settings(s, "interp1d", names, args, kwargs)
    made = made_by(s, "interp1d", args, kwargs)
    knots, values = arrays(s, "interp1d", named["x"], named["y"])
    ordered(s, knots)
    values, axis = lines_first(s, values, named.get("axis", Const(-1)))
    kind, fill = named.get("kind", Const("linear")), named.get("fill_value", Const(np.nan))
    degree = {Const("quadratic"): 2, Const("cubic"): 3}.get(kind) if isinstance(kind, Const) else None
    if degree is not None and (fill == Const("extrapolate") or "fill_value" not in named):
        return through_values(s, made, knots, values, degree, False, axis)
    if not isinstance(kind, Const) or kind.value not in ("linear", "nearest", "nearest-up", "previous", "next"):
        raise s.refuse("setting", "scipy.interpolate.interp1d with these settings has no derivative", "use CubicSpline")
    pair = items(fill)
    outside: Value = (
        NOTHING if fill == Const("extrapolate") else TupleV(tuple(pair if len(pair) == 2 else [fill, fill]))
    )
    return construct(s, Table, [made, kind, outside, axis, knots, values], {})


# Evaluated by the program


def of_scipy(s: Specialiser, value: Value) -> Any:
    """The expression of SciPy's object behind one that the program has made."""
    made = isinstance(value, Obj) and value.id not in s.objects or class_of_row(s, value) is not None
    return s.expr(attribute_of(s, value, "made") if made else value)


def order_of(s: Specialiser, nu: Value) -> list[Any]:
    """The expression of the order of a derivative, where it is not 0."""
    if not s.is_static(nu):
        raise s.refuse("setting", "the order of the derivative of a spline is not known", "write it as a number")
    return [s.expr(nu)] if s.static(nu) else []


@handles(splines.derived)
def derived(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    expr = ir.call(ir.attribute(of_scipy(s, args[0]), "derivative"), *(s.expr(v) for v in args[1:]))
    return constant_result(s, expr, [], "derivative")


@handles(splines.polynomials_at)
def polynomials(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, c, knots, axis, periodic, x, nu = args
    x, _ = places(s, x)
    expr = ir.call(of_scipy(s, made), s.expr(x), *order_of(s, nu))
    return by_text(s, splines.polynomials, expr, [c, knots, axis, periodic, x, nu])


@handles(splines.integral)
def integral(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest = args
    expr = ir.call(ir.attribute(of_scipy(s, made), "integrate"), *(s.expr(v) for v in rest[-2:]))
    return by_text(s, splines.area, ir.subscript(expr, ir.tuple_([])), rest)


@handles(splines.looked_up)
def looked_up(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, x = args
    x, _ = places(s, x)
    return by_text(s, splines.table_at, ir.call(of_scipy(s, made), s.expr(x)), [*rest, x])


@handles(interpolate.BarycentricInterpolator._evaluate)
def through_points(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A barycentric interpolation: at its points SciPy takes their values, which do not tell the slope there."""
    points, x = args
    fields = [attribute_of(s, points, name) for name in ("xi", "yi", "wi")]
    return barycentric(s, [*fields, x], {})


@handles(splines.barycentric)
def barycentric(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    xi, yi, _, x = args
    expr = ir.call(s.bind("barycentric", splines.barycentric), *map(s.expr, args))
    return by_text(s, splines.lagrange, expr, [xi, yi, x])


NAME = "RBFInterpolator"


@handles(interpolate.RBFInterpolator)
def rbf_interpolator(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``RBFInterpolator(y, d, smoothing=..., kernel=..., epsilon=..., degree=...)``."""
    named = settings(s, NAME, "y d neighbors smoothing kernel epsilon degree", args, kwargs)
    if "neighbors" in named:
        raise refusal(s, "`neighbors`", "leave neighbors out: all points are used")
    kernel, degree = named.get("kernel", Const("thin_plate_spline")), named.get("degree", Const(None))
    if not s.is_static(kernel) or s.static(kernel) not in texts.KERNELS or not s.is_static(degree):
        raise refusal(s, "a kernel or a degree known at run time only", "write them as constants")
    name = s.static(kernel)
    if name in texts.SCALE_FREE and "epsilon" in named:
        raise refusal(s, f"`epsilon` for the kernel {name!r}, which it only scales", "leave epsilon out")
    y, d = arrays(s, NAME, named["y"], named["d"])
    order = s.static(degree) if s.static(degree) is not None else texts.DEGREES.get(name, 0)
    if order > 2:
        raise refusal(s, f"polynomials of degree {order}", "use degree=2")
    made = made_by(s, NAME, args, kwargs)
    smoothing = array_of_list(s, named.get("smoothing", Const(0.0)))
    fields = [made, y, d, smoothing, named.get("epsilon", Const(1.0)), kernel, Const(order)]
    return construct(s, texts.Radial, fields, {})


def refusal(s: Specialiser, what: str, instead: str) -> Exception:
    return s.refuse("setting", f"scipy.interpolate.{NAME} with {what} has no derivative", instead)


@handles(texts.radial)
def radial(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, *rest, x = args
    call = ir.call(of_scipy(s, made), s.expr(x))
    return by_text(s, texts.radial_at, call, [*rest, array_of_list(s, x)])
