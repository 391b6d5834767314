"""``scipy.interpolate.RBFInterpolator``: SciPy's values, with the derivatives of a text."""

from __future__ import annotations

from scipy import interpolate

from ....runtime.scipy import radial as texts
from ... import ir
from ...domain.values import Const, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.objects.objects import construct
from ...ir.builder import Specialiser
from .by_text import by_text
from .interpolate import arrays, made_by, of_scipy, settings

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
