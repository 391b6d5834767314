"""MindSpore's functions, as plain NumPy: they work on tensors, arrays and numbers, and the compiler inlines them."""

from ..api import stop_gradient
from . import arithmetic, creation, elementary, losses, reduction, selection, shaping
from .arithmetic import *  # noqa: F403
from .arithmetic import abs, div, floor_div, floor_mod, matmul, mul, neg, outer, pow, sub
from .creation import *  # noqa: F403
from .elementary import *  # noqa: F403
from .elementary import acos, acosh, asin, asinh, atan, atan2, atanh
from .erf import erf, erfc
from .losses import *  # noqa: F403
from .reduction import *  # noqa: F403
from .selection import *  # noqa: F403
from .selection import clamp, equal, gather_elements, greater, greater_equal, less, less_equal, not_equal
from .shaping import *  # noqa: F403
from .shaping import broadcast_to, flip, moveaxis, swapaxes, unstack

absolute = abs
arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh = acos, acosh, asin, asinh, atan, atan2, atanh
bmm = mm = batch_matmul = matmul
clip = clamp
divide = true_divide = div
eq, ge, gt, le, lt, ne = equal, greater_equal, greater, less_equal, less, not_equal
expand = broadcast_to
floor_divide = floor_div
gather_d = gather_elements
ger = outer
movedim = moveaxis
multiply = mul
negative = neg
power = pow
remainder = floor_mod
reverse = flip
subtract = sub
swapdims = swapaxes
unbind = unstack

__all__ = [
    "absolute",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "batch_matmul",
    "bmm",
    "clip",
    "divide",
    "eq",
    "erf",
    "erfc",
    "expand",
    "floor_divide",
    "gather_d",
    "ge",
    "ger",
    "gt",
    "le",
    "lt",
    "mm",
    "movedim",
    "multiply",
    "ne",
    "negative",
    "power",
    "remainder",
    "reverse",
    "stop_gradient",
    "subtract",
    "swapdims",
    "true_divide",
    "unbind",
]
__all__ += arithmetic.__all__
__all__ += creation.__all__
__all__ += elementary.__all__
__all__ += reduction.__all__
__all__ += selection.__all__
__all__ += shaping.__all__
__all__ += losses.__all__
