"""Second derivatives of magnitudes at zero: of norms, absolute values, hypotenuses and roots of sums of squares.

The slope of a magnitude is taken to be 0 at 0, and of a slope of 0 nothing would be left of the second derivatives of a
function of the magnitude, such as its cosine.  So derivatives that are differentiated again call these functions.

`slope`: the derivative `d` of a smooth function of the square of a norm is zero where the norm `y` is, and the quotient
``d / y`` has a limit, of which the values at that point tell nothing.  There the derivative of `slope` is NaN, and
programs that are run near by tell it, as at degenerate spectra (``runtime/linalg/degenerate.py``).

`pushed` is its like in forward mode, where the norm's own tangent is lost, whatever meets it later.

`slope_of_absolute`: a function of the absolute value of a real number has second derivatives on either side of zero,
which are one if the function is even.  Those from the right are taken, and in forward mode the tangent from the right.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from ..runtime.linalg import perturbed
from ..runtime.linalg.perturbed import away_from_zero
from ..runtime.linalg.slopes import nan_at_zero_norm, pushed, slope, slope_of_absolute
from .linalg import conjugate
from .norms import is_euclidean, nonzero, norm, norm_axes, push_norm, push_vector_norm, vector_norm, widened
from .table import elementwise, forward, perturbing, reverse


@elementwise(slope)
def slope_in_turn(out, e, d, y, x):
    return e * x / nonzero(y), -e * out / nonzero(y), e * (d / nonzero(y) + nan_at_zero_norm(y, e))


@elementwise(pushed)
def pushed_in_turn(out, e, d, y, x):
    return e * x / nonzero(y), -e * out / nonzero(y), e * d / nonzero(y) + nan_at_zero_norm(y, d)


@reverse(np.linalg.norm, again=True)
def norm_again(y, d, x, ord=None, axis=None, keepdims=False):
    if not is_euclidean(ord, axis, x.ndim):
        return norm(y, d, x, ord, axis, keepdims)
    axes = norm_axes(axis, x.ndim)
    return slope(widened(d, axes, keepdims, x.ndim), widened(y, axes, keepdims, x.ndim), conjugate(x))


@forward(np.linalg.norm, again=True)
def push_norm_again(y, d, x, ord=None, axis=None, keepdims=False):
    if not is_euclidean(ord, axis, x.ndim):
        return push_norm(y, d, x, ord, axis, keepdims)
    axes = norm_axes(axis, x.ndim)
    return np.sum(np.real(pushed(d, widened(y, axes, keepdims, x.ndim), conjugate(x))), axes, keepdims=keepdims)


@reverse(np.linalg.vector_norm, again=True)
def vector_norm_again(y, d, x, *, axis=None, keepdims=False, ord=2):
    if ord != 2:
        return vector_norm(y, d, x, axis=axis, keepdims=keepdims, ord=ord)
    return norm_again(y, d, x, None, axis, keepdims)


@forward(np.linalg.vector_norm, again=True)
def push_vector_norm_again(y, d, x, *, axis=None, keepdims=False, ord=2):
    if ord != 2:
        return push_vector_norm(y, d, x, axis=axis, keepdims=keepdims, ord=ord)
    return push_norm_again(y, d, x, None, axis, keepdims)


@reverse(np.linalg.matrix_norm, again=True)
def matrix_norm_again(y, d, x, *, keepdims=False, ord="fro"):
    return norm_again(y, d, x, ord, (-2, -1), keepdims)


@forward(np.linalg.matrix_norm, again=True)
def push_matrix_norm_again(y, d, x, *, keepdims=False, ord="fro"):
    return push_norm_again(y, d, x, ord, (-2, -1), keepdims)


@reverse(np.hypot, again=True)
def hypot_again(y, d, a, b):
    return slope(d, y, a), slope(d, y, b)


@forward(np.hypot, again=True)
def push_hypot_again(y, d, a, b):
    return pushed(d, y, a), pushed(d, y, b)


@reverse(math.hypot, again=True)
def hypot_of_many_again(y, d, *coordinates):
    return (*[slope(d, y, c) for c in coordinates],)


def root_of_coordinates(*coordinates):
    """The root of a sum of squares."""
    return np.sqrt(sum([c * c for c in coordinates]))


@elementwise(root_of_coordinates)
def root(y, d, *coordinates):
    return (*[slope(d, y, c) for c in coordinates],)


@forward(root_of_coordinates, math.hypot, again=True)
def push_root(y, d, *coordinates):
    return (*[pushed(d, y, c) for c in coordinates],)


def root_mean_square(x, axis=None, keepdims=False):
    """The root of the mean of squares."""
    return np.sqrt(np.mean(x * x, axis, keepdims=keepdims))


@reverse(root_mean_square)
def root_of_mean(y, d, x, axis=None, keepdims=False):
    return norm_again(y, d / (x.size // y.size), x, None, axis, keepdims)


@forward(root_mean_square)
def push_root_of_mean(y, d, x, axis=None, keepdims=False):
    return push_norm_again(y, d, x, None, axis, keepdims) / (x.size // y.size)


@elementwise(slope_of_absolute)
def slope_of_absolute_in_turn(y, e, d, x):
    return e * np.copysign(1.0, x), 0.0


@reverse(np.absolute, np.fabs, math.fabs, operator.abs, abs, again=True)
def absolute_again(y, d, x):
    if np.iscomplexobj(x):
        return slope(d, y, np.conj(x))
    return slope_of_absolute(d, x)


@forward(np.absolute, np.fabs, math.fabs, operator.abs, abs, again=True)
def push_absolute_again(y, d, x):
    if np.iscomplexobj(x):
        return pushed(d, y, np.conj(x))
    return d * np.copysign(1.0, x)


# Programs that are run near by


@reverse(perturbed.norm)
def norm_near(y, d, x, ord=None, axis=None, keepdims=False):
    return norm_again(y, d, x + away_from_zero(x, axis), ord, axis, keepdims)


@forward(perturbed.norm)
def push_norm_near(y, d, x, ord=None, axis=None, keepdims=False):
    return push_norm_again(y, d, x + away_from_zero(x, axis), ord, axis, keepdims)


@reverse(perturbed.vector_norm)
def vector_norm_near(y, d, x, *, axis=None, keepdims=False, ord=2):
    return vector_norm_again(y, d, x + away_from_zero(x, axis), axis=axis, keepdims=keepdims, ord=ord)


@forward(perturbed.vector_norm)
def push_vector_norm_near(y, d, x, *, axis=None, keepdims=False, ord=2):
    return push_vector_norm_again(y, d, x + away_from_zero(x, axis), axis=axis, keepdims=keepdims, ord=ord)


@reverse(perturbed.matrix_norm)
def matrix_norm_near(y, d, x, *, keepdims=False, ord="fro"):
    return norm_again(y, d, x + away_from_zero(x, (-2, -1)), ord, (-2, -1), keepdims)


@forward(perturbed.matrix_norm)
def push_matrix_norm_near(y, d, x, *, keepdims=False, ord="fro"):
    return push_norm_again(y, d, x + away_from_zero(x, (-2, -1)), ord, (-2, -1), keepdims)


@elementwise(perturbed.hypot)
def hypot_near(y, d, *coordinates):
    return (*[slope(d, y, c) for c in coordinates],)


@elementwise(perturbed.sqrt)
def sqrt_near(y, d, x):
    return d / (2 * y)


@elementwise(perturbed.absolute)
def absolute_near(y, d, x):
    return absolute_again(y, d, x)


for fn in (np.linalg.norm, np.linalg.vector_norm, np.linalg.matrix_norm, np.hypot, math.hypot, np.sqrt, math.sqrt):
    perturbing(fn, getattr(perturbed, fn.__name__), slope, pushed)
perturbing(np.absolute, perturbed.absolute, slope, pushed)
