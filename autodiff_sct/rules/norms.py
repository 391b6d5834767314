"""Rules for norms and the condition number of ``numpy.linalg``, and second derivatives of magnitudes at zero.

At 0 a norm's derivative is taken to be 0, as the derivative of the absolute value is; where several elements attain an
extremum, they share its derivative evenly.

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

from ..runtime import real_power
from ..runtime.linalg import degenerate
from ..runtime.linalg.degenerate import away_from_mean, away_from_zero
from ..runtime.linalg.slopes import nan_at_zero_norm, pushed, slope, slope_of_absolute
from .elementwise import log_of_base
from .linalg import conjugate
from .products import transposed
from .reduce import centre, deviation, freedom, kept, total
from .table import elementwise, forward, perturbing, reverse, static


@reverse(np.linalg.norm)
def norm(y, d, x, ord=None, axis=None, keepdims=False):
    axes = norm_axes(axis, x.ndim)
    y, d = widened(y, axes, keepdims, x.ndim), widened(d, axes, keepdims, x.ndim)
    if is_euclidean(ord, axis, x.ndim):
        return d / nonzero(y) * conjugate(x)
    return d * norm_gradient(y, x, ord, axes)


@forward(np.linalg.norm)
def push_norm(y, d, x, ord=None, axis=None, keepdims=False):
    axes = norm_axes(axis, x.ndim)
    gradient = norm_gradient(
        widened(y, axes, keepdims, x.ndim), x, None if is_euclidean(ord, axis, x.ndim) else ord, axes
    )
    return np.sum(np.real(gradient * d), axes, keepdims=keepdims)


# Squares of magnitudes: the compiler differentiates these where a program squares what has a kink at zero.


def squared_absolute(x):
    """The square of the absolute value."""
    return np.abs(x) ** 2


def squared_hypot(*coordinates):
    """The square of the hypotenuse."""
    return sum([c * c for c in coordinates])


def squared_norm(x, ord=None, axis=None, keepdims=False):
    """The square of a Euclidean norm."""
    return np.linalg.norm(x, ord, axis, keepdims) ** 2


def root_of_squares(x):
    """The square root of a sum of squares, which is a norm."""
    return np.sqrt(x)


@elementwise(root_of_squares)
def root_of_sum(y, d, x):
    return d / (2 * nonzero(y))


def power_of_squares(x, p):
    """A power of a sum of squares, which is one of a norm: from the root on, its slope at zero is taken to be 0."""
    return x**p


@elementwise(power_of_squares)
def power_of_sum(y, d, x, p):
    inside = nonzero(x) if p == 0 or p >= 0.5 else x
    return d * (p * real_power(inside, p - 1)), d * (y * log_of_base(x, p))


@elementwise(squared_absolute)
def square_of_absolute(y, d, x):
    return d * (2 * conjugate(x))


@elementwise(squared_hypot)
def square_of_hypot(y, d, *coordinates):
    return (*[d * (2 * c) for c in coordinates],)


@reverse(squared_norm)
def square_of_norm(y, d, x, ord=None, axis=None, keepdims=False):
    return 2 * widened(d, norm_axes(axis, x.ndim), keepdims, x.ndim) * conjugate(x)


@forward(squared_norm)
def push_square_of_norm(y, d, x, ord=None, axis=None, keepdims=False):
    return 2 * np.sum(np.real(conjugate(x) * d), norm_axes(axis, x.ndim), keepdims=keepdims)


@reverse(np.linalg.vector_norm)
def vector_norm(y, d, x, *, axis=None, keepdims=False, ord=2):
    axes = norm_axes(axis, x.ndim)
    return widened(d, axes, keepdims, x.ndim) * vector_gradient(widened(y, axes, keepdims, x.ndim), x, ord, axes)


@forward(np.linalg.vector_norm)
def push_vector_norm(y, d, x, *, axis=None, keepdims=False, ord=2):
    axes = norm_axes(axis, x.ndim)
    gradient = vector_gradient(widened(y, axes, keepdims, x.ndim), x, ord, axes)
    return np.sum(np.real(gradient * d), axes, keepdims=keepdims)


@reverse(np.linalg.matrix_norm)
def matrix_norm(y, d, x, *, keepdims=False, ord="fro"):
    return norm(y, d, x, ord, (-2, -1), keepdims)


@forward(np.linalg.matrix_norm)
def push_matrix_norm(y, d, x, *, keepdims=False, ord="fro"):
    return push_norm(y, d, x, ord, (-2, -1), keepdims)


@static
def norm_axes(axis: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """The axes that a norm is taken over, counted from the front."""
    axes = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple(k % ndim for k in axes)


@static
def is_euclidean(ord: float | str | None, axis: int | tuple[int, ...] | None, ndim: int) -> bool:
    """True if a norm is the root of the sum of the squares of all elements."""
    return ord is None or ord == "fro" or (ord == 2 and len(norm_axes(axis, ndim)) == 1)


def widened(value, axes, keepdims, ndim):
    """`value` with the axes that the norm has removed, unless it has removed all."""
    return value if keepdims or len(axes) == ndim else np.expand_dims(value, axes)


def nonzero(y):
    """`y` with 1 in the place of 0, to divide by."""
    return y + (y == 0)


def direction(x):
    """The derivative of the absolute value, 0 at 0."""
    return np.conj(x) / nonzero(np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def norm_gradient(y, x, ord, axes):
    if ord is not None and len(axes) == 2:
        return matrix_gradient(x, ord, axes)
    return vector_gradient(y, x, 2 if ord is None else ord, axes)


def vector_gradient(y, x, ord, axes):
    if ord == 2:
        return conjugate(x) / nonzero(y)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return direction(x)
    if abs(ord) == np.inf:
        return direction(x) * even_share(np.abs(x) == y, axes, y.dtype)
    return direction(x) * (np.abs(x) / nonzero(y)) ** (ord - 1)


def even_share(at, axes, dtype):
    """One over the number of places that attain an extremum, at those places."""
    return at / np.sum(at, axes, dtype=dtype, keepdims=True)


def matrix_gradient(x, ord, axes):
    if ord == "nuc" or abs(ord) == 2:
        if axes == (x.ndim - 2, x.ndim - 1):
            return spectral_gradient(x, ord)
        return np.moveaxis(spectral_gradient(np.moveaxis(x, axes, (-2, -1)), ord), (-2, -1), axes)
    summed, compared = (axes[0], axes[1]) if abs(ord) == 1 else (axes[1], axes[0])
    sums = np.sum(np.abs(x), summed, keepdims=True)
    extreme = np.max(sums, compared, keepdims=True) if ord > 0 else np.min(sums, compared, keepdims=True)
    return direction(x) * even_share(sums == extreme, compared, sums.dtype)


def spectral_gradient(x, ord):
    """The derivative of the sum (``"nuc"``), the largest or the smallest of the singular values of each matrix."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    if ord == "nuc":
        return conjugate(u @ vh)
    weights = even_share(s == (s[..., :1] if ord == 2 else s[..., -1:]), -1, s.dtype)
    return conjugate((u * (weights if x.ndim == 2 else weights[..., None, :])) @ vh)


@reverse(np.linalg.cond)
def cond(y, d, x, p=None):
    d = d if x.ndim == 2 else d[..., None, None]
    if p is None or p in (2, -2):
        return d * cond_gradient(x, p)
    inverse = np.linalg.inv(x)
    length, other = np.linalg.norm(x, p, (-2, -1), True), np.linalg.norm(inverse, p, (-2, -1), True)
    d_inverse = norm(other, d * length, inverse, p, (-2, -1), True)
    return norm(length, d * other, x, p, (-2, -1), True) - transposed(inverse) @ d_inverse @ transposed(inverse)


@forward(np.linalg.cond)
def push_cond(y, d, x, p=None):
    if p is None or p in (2, -2):
        return np.sum(np.real(cond_gradient(x, p) * d), (-2, -1))
    inverse = np.linalg.inv(x)
    length, other = np.linalg.norm(x, p, (-2, -1)), np.linalg.norm(inverse, p, (-2, -1))
    t_other = push_norm(other, -(inverse @ d @ inverse), inverse, p, (-2, -1))
    return push_norm(length, d, x, p, (-2, -1)) * other + length * t_other


def cond_gradient(x, p):
    """The derivative of the largest singular value over the smallest (``p=-2``: the other way round)."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    top, bottom = s[..., :1, None], s[..., -1:, None]
    first = conjugate(u[..., :, :1] @ vh[..., :1, :])
    last = conjugate(u[..., :, -1:] @ vh[..., -1:, :])
    if p == -2:
        return last / top - first * bottom / (top * top)
    return first / bottom - last * top / (bottom * bottom)


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


@reverse(np.std, again=True)
def std_again(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    """A standard deviation is a norm of deviations."""
    share = kept(d, axis, keepdims) / freedom(a, axis, ddof, where)
    return slope(share, kept(y, axis, keepdims), deviation(a, axis, where))


@forward(np.std, again=True)
def push_std_again(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    share = (d - centre(d, axis, where)) / freedom(a, axis, ddof, where)
    return total(pushed(share, kept(y, axis, keepdims), deviation(a, axis, where)), axis, keepdims)


@reverse(np.nanstd, again=True)
def nanstd_again(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return std_again(y, d, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))


@forward(np.nanstd, again=True)
def push_nanstd_again(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return push_std_again(y, d, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))


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


@reverse(degenerate.norm)
def norm_near(y, d, x, ord=None, axis=None, keepdims=False):
    return norm_again(y, d, x + away_from_zero(x, axis), ord, axis, keepdims)


@forward(degenerate.norm)
def push_norm_near(y, d, x, ord=None, axis=None, keepdims=False):
    return push_norm_again(y, d, x + away_from_zero(x, axis), ord, axis, keepdims)


@reverse(degenerate.vector_norm)
def vector_norm_near(y, d, x, *, axis=None, keepdims=False, ord=2):
    return vector_norm_again(y, d, x + away_from_zero(x, axis), axis=axis, keepdims=keepdims, ord=ord)


@forward(degenerate.vector_norm)
def push_vector_norm_near(y, d, x, *, axis=None, keepdims=False, ord=2):
    return push_vector_norm_again(y, d, x + away_from_zero(x, axis), axis=axis, keepdims=keepdims, ord=ord)


@reverse(degenerate.matrix_norm)
def matrix_norm_near(y, d, x, *, keepdims=False, ord="fro"):
    return norm_again(y, d, x + away_from_zero(x, (-2, -1)), ord, (-2, -1), keepdims)


@forward(degenerate.matrix_norm)
def push_matrix_norm_near(y, d, x, *, keepdims=False, ord="fro"):
    return push_norm_again(y, d, x + away_from_zero(x, (-2, -1)), ord, (-2, -1), keepdims)


@reverse(degenerate.std)
def std_near(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return std_again(y, d, a + away_from_mean(a, axis, where), axis, ddof=ddof, keepdims=keepdims, where=where)


@forward(degenerate.std)
def push_std_near(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return push_std_again(y, d, a + away_from_mean(a, axis, where), axis, ddof=ddof, keepdims=keepdims, where=where)


@elementwise(degenerate.hypot)
def hypot_near(y, d, *coordinates):
    return (*[slope(d, y, c) for c in coordinates],)


@elementwise(degenerate.sqrt)
def sqrt_near(y, d, x):
    return d / (2 * y)


@elementwise(degenerate.absolute)
def absolute_near(y, d, x):
    return absolute_again(y, d, x)


NORMS = (np.linalg.norm, np.linalg.vector_norm, np.linalg.matrix_norm, np.std, np.hypot, math.hypot, np.sqrt, math.sqrt)
for fn in NORMS:
    perturbing(fn, getattr(degenerate, fn.__name__), slope, pushed)
perturbing(np.absolute, degenerate.absolute, slope, pushed)
