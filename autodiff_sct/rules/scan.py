"""Functions along an axis: running sums and products, convolution, interpolation, integrals.

At a knot, ``interp`` has the slope on its right.
"""

from __future__ import annotations

import numpy as np

from ..errors import NoRule
from ..runtime import gather_adjoint
from ..runtime.scan import diff_adjoint, recurrence, running_products_adjoint, shift
from ..runtime.sorting import interval_of
from .difference import around
from .index import places_along
from .reduce import kept
from .shape import section
from .table import forward, linear, reverse, static

# Running sums and products


@linear(np.cumsum)
def cumsum(y, d, a, axis=None, dtype=None):
    if a.ndim == 1:
        return np.cumsum(d[::-1])[::-1]
    if axis is None:
        return np.reshape(np.cumsum(d[::-1])[::-1], np.shape(a))
    return np.flip(np.cumsum(np.flip(d, axis), axis), axis)


@linear(np.add.accumulate)
def add_accumulate(y, d, array, axis=0, dtype=None):
    return np.flip(np.cumsum(np.flip(d, axis), axis), axis)


@reverse(np.nancumsum)
def nancumsum(y, d, a, axis=None, dtype=None):
    return np.where(np.isnan(a), 0, cumsum(y, d, a, axis))


@forward(np.nancumsum)
def push_nancumsum(y, d, a, axis=None, dtype=None):
    return np.cumsum(np.where(np.isnan(a), 0, d), axis)


@reverse(np.cumprod)
def cumprod(y, d, a, axis=None, dtype=None):
    if axis is None and a.ndim != 1:
        return np.reshape(running_products_adjoint(d, np.ravel(a), 0, y), np.shape(a))
    return running_products_adjoint(d, a, 0 if axis is None else axis, y)


@forward(np.cumprod)
def push_cumprod(y, d, a, axis=None, dtype=None):
    return cumprod_tangent(np.ravel(d), np.ravel(a), 0) if axis is None else cumprod_tangent(d, a, axis)


@reverse(np.nancumprod)
def nancumprod(y, d, a, axis=None, dtype=None):
    return np.where(np.isnan(a), 0, cumprod(y, d, np.where(np.isnan(a), 1, a), axis))


@forward(np.nancumprod)
def push_nancumprod(y, d, a, axis=None, dtype=None):
    return push_cumprod(y, np.where(np.isnan(a), 0, d), np.where(np.isnan(a), 1, a), axis)


@reverse(np.multiply.accumulate)
def multiply_accumulate(y, d, array, axis=0, dtype=None):
    return running_products_adjoint(d, array, axis, y)


@forward(np.multiply.accumulate)
def push_multiply_accumulate(y, d, array, axis=0, dtype=None):
    return cumprod_tangent(d, array, axis)


def cumprod_adjoint(d, a, axis):
    # Recurrences instead of y / a, which a zero would spoil.
    before = np.cumprod(shift(a, 1, axis, 1), axis)
    return before * recurrence(shift(a, -1, axis), d, axis, backward=True)


def cumprod_tangent(d, a, axis):
    return recurrence(a, d * np.cumprod(shift(a, 1, axis, 1), axis), axis)


if hasattr(np, "cumulative_sum"):  # NumPy 2.1

    @linear(np.cumulative_sum)
    def cumulative_sum(y, d, x, *, axis=None, dtype=None, include_initial=False):
        along = 0 if axis is None else axis
        tail = section(d, 1, None, along) if include_initial else d
        return np.flip(np.cumsum(np.flip(tail, along), along), along)

    @reverse(np.cumulative_prod)
    def cumulative_prod(y, d, x, *, axis=None, dtype=None, include_initial=False):
        if x.ndim == 0:
            raise NoRule("np.cumulative_prod of a number: it is the number itself")
        along = 0 if axis is None else axis
        return cumprod_adjoint(section(d, 1, None, along) if include_initial else d, x, along)

    @forward(np.cumulative_prod)
    def push_cumulative_prod(y, d, x, *, axis=None, dtype=None, include_initial=False):
        along = 0 if axis is None else axis
        t = cumprod_tangent(d, x, along)
        return np.concatenate([np.zeros_like(section(t, 0, 1, along)), t], along) if include_initial else t


@reverse(running_products_adjoint)
def running_products_adjoint_adjoint(e, d_e, d, a, axis=-1, products=None):
    before, after = np.cumprod(shift(a, 1, axis, 1), axis), recurrence(shift(a, -1, axis), d, axis, backward=True)
    d_before = cumprod_adjoint(d_e * after, shift(a, 1, axis, 1), axis)
    d_sums = recurrence(a, d_e * before, axis)
    d_factors = d_sums * shift(after, -1, axis)
    d_a = shift(d_before, -1, axis) + shift(d_factors, 1, axis)
    return d_sums, d_a, None, 0.0  # what follows from `a` is not another input


@forward(running_products_adjoint)
def push_running_products_adjoint(e, t, d, a, axis=-1, products=None):
    before, after = np.cumprod(shift(a, 1, axis, 1), axis), recurrence(shift(a, -1, axis), d, axis, backward=True)
    t_before = cumprod_tangent(shift(t, 1, axis), shift(a, 1, axis, 1), axis)
    t_after = recurrence(shift(a, -1, axis), shift(t, -1, axis) * shift(after, -1, axis), axis, backward=True)
    return running_products_adjoint(t, a, axis), t_before * after + before * t_after, None, 0.0


@linear(shift)
def shift_back(y, d, x, by, axis=-1, fill=0):
    return shift(d, -by, axis)


@forward(shift)
def push_shift(y, d, x, by, axis=-1, fill=0):
    return shift(d, by, axis)


@reverse(recurrence)
def recurrence_adjoint(y, d, a, b, axis=-1, backward=False):
    step = -1 if backward else 1
    d_b = recurrence(shift(a, -step, axis), d, axis, not backward)
    return d_b * shift(y, step, axis), d_b


@forward(recurrence)
def push_recurrence(y, d, a, b, axis=-1, backward=False):
    step = -1 if backward else 1
    return recurrence(a, d * shift(y, step, axis), axis, backward), recurrence(a, d, axis, backward)


# The running extreme at k is the latest element before k that is one; ties go to the latest.


@reverse(np.maximum.accumulate, np.minimum.accumulate, np.fmax.accumulate, np.fmin.accumulate)
def maximum_accumulate(y, d, array, axis=0):
    places = places_along(latest(array == y, axis), array.shape, axis % array.ndim)
    return gather_adjoint(d, array, places)


@forward(np.maximum.accumulate, np.minimum.accumulate, np.fmax.accumulate, np.fmin.accumulate)
def push_maximum_accumulate(y, d, array, axis=0):
    return np.take_along_axis(d, latest(array == y, axis), axis)


def latest(true, axis):
    """The place of the last true element up to each."""
    numbers = np.reshape(np.arange(true.shape[axis]), only_axis(true.ndim, axis))
    return np.maximum.accumulate(np.where(true, numbers, 0), axis)


@static
def only_axis(ndim: int, axis: int) -> tuple[int, ...]:
    """The shape of what varies along one axis."""
    return tuple(-1 if k == axis % ndim else 1 for k in range(ndim))


# Convolution and counting


@reverse(np.convolve)
def convolve(y, d, a, v, mode="full"):
    d = as_full(d, min(a.size, v.size), mode, 0)
    return np.convolve(d, v[::-1], "valid"), np.convolve(d, a[::-1], "valid")


@forward(np.convolve)
def push_convolve(y, d, a, v, mode="full"):
    return np.convolve(d, v, mode), np.convolve(a, d, mode)


@reverse(np.correlate)
def correlate(y, d, a, v, mode="valid"):
    d = as_full(d, min(a.size, v.size), mode, 1 if a.size < v.size else 0)
    d_v = np.convolve(d, a[::-1], "valid")[::-1]
    if np.iscomplexobj(v):
        return np.convolve(d, np.conj(v), "valid"), np.conj(d_v)
    return np.convolve(d, v, "valid"), d_v


@forward(np.correlate)
def push_correlate(y, d, a, v, mode="valid"):
    return np.correlate(d, v, mode), np.correlate(a, d, mode)


def as_full(d, short, mode, odd):
    """The cotangent of the whole convolution, of which a mode returns the middle; `short` is the smaller size."""
    if mode == "full":
        return d
    before = short - 1 if mode == "valid" else (short - 1 + odd) // 2
    after = short - 1 if mode == "valid" else short - 1 - before
    return np.concatenate([np.zeros(before, d.dtype), d, np.zeros(after, d.dtype)])


@reverse(np.bincount)
def bincount(y, d, x, weights=None, minlength=0):
    return None, None if weights is None else d[x]


@forward(np.bincount)
def push_bincount(y, d, x, weights=None, minlength=0):
    return None, np.bincount(x, d, minlength)


# Interpolation, integrals, polynomials


def as_array(x):
    return x if isinstance(x, np.ndarray) else np.array(x)


def located(x, xp):
    """The interval between knots in which each `x` lies, and the fraction of it below `x`."""
    i = interval_of(x, xp)
    return i, np.clip((x - xp[i]) / (xp[i + 1] - xp[i]), 0, 1)


def interp_slope(d, x, xp, fp):
    i, _ = located(x, xp)
    return np.where((xp[0] <= x) & (x <= xp[-1]), d * (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]), 0)


def spread_to_knots(d, x, xp, like):
    """The adjoint of ``fp -> np.interp(x, xp, fp)``."""
    i, below = located(x, xp)
    return gather_adjoint(d * (1 - below), like, i) + gather_adjoint(d * below, like, i + 1)


def inner(d, x, xp, left, right):
    """`d` without the places whose result is `left` or `right`."""
    d = d if left is None else np.where(x < xp[0], 0, d)
    return d if right is None else np.where(x > xp[-1], 0, d)


@reverse(np.interp)
def interp(y, d, x, xp, fp, left=None, right=None):
    xp, fp = as_array(xp), as_array(fp)
    d_x = interp_slope(d, x, xp, fp)
    d_fp = spread_to_knots(inner(d, x, xp, left, right), x, xp, fp)
    return d_x, -spread_to_knots(d_x, x, xp, xp), d_fp, np.where(x < xp[0], d, 0), np.where(x > xp[-1], d, 0)


@forward(np.interp)
def push_interp(y, d, x, xp, fp, left=None, right=None):
    xp, fp = as_array(xp), as_array(fp)
    return (
        interp_slope(d, x, xp, fp),
        -interp_slope(np.interp(x, xp, d), x, xp, fp),
        inner(np.interp(x, xp, d), x, xp, left, right),
        np.where(x < xp[0], d, 0),
        np.where(x > xp[-1], d, 0),
    )


@reverse(np.trapezoid)
def trapezoid(area, d, y, x=None, dx=1.0, axis=-1):
    d = kept(d, axis, False)
    d_widths = d * (section(y, 1, None, axis) + section(y, None, -1, axis)) / 2
    if x is None:
        return ends_added(d * (dx / 2) + np.zeros_like(section(y, 1, None, axis)), axis), None, d_widths
    others = other_axes(y.ndim, x.ndim, axis)
    widths = np.expand_dims(np.diff(x), others) if others else np.diff(x, axis=axis)
    d_x = diff_adjoint(d_widths, 1, axis)
    return ends_added(d * widths / 2 + np.zeros_like(d_widths), axis), np.sum(d_x, others) if others else d_x


@forward(np.trapezoid)
def push_trapezoid(area, d, y, x=None, dx=1.0, axis=-1):
    # The area is linear in the heights and in the places alike.
    if x is None:
        return np.trapezoid(d, dx=dx, axis=axis), None, np.trapezoid(y, dx=d, axis=axis)
    return np.trapezoid(d, x, axis=axis), np.trapezoid(y, d, axis=axis)


def ends_added(pairs, axis):
    """The adjoint of adding neighbours."""
    return np.pad(pairs, around(pairs.ndim, axis, 0, 1)) + np.pad(pairs, around(pairs.ndim, axis, 1, 0))


@static
def other_axes(ndim: int, x_ndim: int, axis: int) -> tuple[int, ...]:
    """The axes that one-dimensional sample points do not have."""
    if x_ndim not in (1, ndim):
        raise NoRule("np.trapezoid with x: of one axis, or of as many as y")
    return tuple(k for k in range(ndim) if k != axis % ndim) if x_ndim == 1 else ()


@reverse(np.polyval)
def polyval(y, d, p, x):
    c = as_array(p)
    exponents = np.arange(c.size - 1, -1, -1, dtype=c.dtype)
    if np.ndim(x) == 0:
        d_c = d * x**exponents
    else:
        d_c = np.sum(np.expand_dims(d, -1) * np.expand_dims(x, -1) ** exponents, tuple(range(np.ndim(x))))
    return [d_c[k] for k in range(len(p))] if isinstance(p, (list, tuple)) else d_c, polyval_slope(d, c, x)


@forward(np.polyval)
def push_polyval(y, d, p, x):
    return np.polyval(d, x), polyval_slope(d, as_array(p), x)


def polyval_slope(d, c, x):
    return d * np.polyval(c[:-1] * np.arange(c.size - 1, 0, -1, dtype=c.dtype), x)


@reverse(np.vander)
def vander(y, d, x, N=None, increasing=False):
    return np.sum(d * vander_slope(y, increasing), -1)


@forward(np.vander)
def push_vander(y, d, x, N=None, increasing=False):
    return np.expand_dims(d, -1) * vander_slope(y, increasing)


def vander_slope(y, increasing):
    # Each power's derivative is its exponent times the column with the power below.
    count = y.shape[-1]
    if increasing:
        return np.arange(count, dtype=y.dtype) * shift(y, 1)
    return np.arange(count - 1, -1, -1, dtype=y.dtype) * shift(y, -1)
