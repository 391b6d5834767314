"""Sorting and order statistics.

Where elements tie, the derivatives of ``sort`` and ``partition`` follow a stable sort, and those of ``median``,
``quantile`` and ``percentile`` are shared evenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime import sorting
from ..runtime.sorting import put_in_order, sorted_lanes, stable_order
from .reduce import count, how_many, in_lanes, kept, shared, total
from .table import forward, linear, nondifferentiable, reverse, static

nondifferentiable(sorting.linear_level, sorting.level_rate, stable_order)


@reverse(np.sort)
def sort(y, d, a, axis=-1, kind=None):
    if axis is None:
        return np.reshape(put_in_order(d, stable_order(np.ravel(a))), np.shape(a))
    return put_in_order(d, stable_order(a)) if axis == -1 else put_in_order(d, stable_order(a, axis), axis)


@forward(np.sort)
def push_sort(y, d, a, axis=-1, kind=None):
    if axis is None:
        return np.ravel(d)[stable_order(np.ravel(a))]
    return d[stable_order(a)] if a.ndim == 1 else np.take_along_axis(d, stable_order(a, axis), axis)


# A partitioned array and its source are the same once sorted, which tells where each element went.


@reverse(np.partition)
def partition(y, d, a, kth, axis=-1, kind="introselect"):
    if axis is None:
        return np.reshape(put_in_order(d[stable_order(y)], stable_order(np.ravel(a))), np.shape(a))
    return put_in_order(np.take_along_axis(d, stable_order(y, axis), axis), stable_order(a, axis), axis)


@forward(np.partition)
def push_partition(y, d, a, kth, axis=-1, kind="introselect"):
    if axis is None:
        return put_in_order(np.ravel(d)[stable_order(np.ravel(a))], stable_order(y))
    return put_in_order(np.take_along_axis(d, stable_order(a, axis), axis), stable_order(y, axis), axis)


@linear(put_in_order)
def taken(y, d, values, order, axis=-1):
    return d[order] if d.ndim == 1 else np.take_along_axis(d, order, axis)


@reverse(sorted_lanes)
def unsorted_lanes(y, d, a):
    return put_in_order(d, stable_order(a)) if a.shape[-1] > 0 else np.zeros_like(a)


@forward(sorted_lanes)
def push_sorted_lanes(y, d, a):
    if a.shape[-1] == 0:
        return np.zeros_like(y)
    return d[stable_order(a)] if a.ndim == 1 else np.take_along_axis(d, stable_order(a), -1)


def order_statistics(a, q, axis):
    """The two order statistics between which the quantile `q` lies, and how far it is from the first."""
    position = q * (count(a, axis) - 1)
    low = int(position)
    lanes = sorted_lanes(in_lanes(a, axis))
    return lanes[..., low], lanes[..., min(low + 1, count(a, axis) - 1)], position - low


def check_method(method):
    if method not in sorting.METHODS:
        raise NoRule("quantiles by a method that skips between elements")


def by_method(d, a, q, axis, keepdims, method):
    """The slope of a quantile by another method than the linear one, by `a`, and its derivative by the level."""
    check_method(method)
    level = sorting.linear_level(q, count(a, axis), method)
    rate = sorting.level_rate(q, count(a, axis), method)
    return quantile_slope(kept(d, axis, keepdims), a, level, axis), level_slope(d * rate, a, level, axis, keepdims)


def pushed_by_method(d, a, q, axis, keepdims, method):
    check_method(method)
    level = sorting.linear_level(q, count(a, axis), method)
    rate = sorting.level_rate(q, count(a, axis), method)
    return total(quantile_slope(d, a, level, axis), axis, keepdims), level_slope(d * rate, a, level, axis, keepdims)


def quantile_slope(d, a, q, axis):
    """`d`, with the reduced axes of length 1, shared among the elements that decide the quantile `q`."""
    bottom, top, between = order_statistics(a, q, axis)
    low = shared((1 - between) * d, kept(bottom, axis, False), a, axis, True)
    return low + shared(between * d, kept(top, axis, False), a, axis, True)


def level_slope(d, a, q, axis, keepdims):
    """The derivative of a quantile by its level."""
    bottom, top, between = order_statistics(a, q, axis)
    slope = (count(a, axis) - 1) * (top - bottom)
    return d * (kept(slope, axis, False) if keepdims and axis is not None else slope)


# Several levels at once: a first axis of the result goes over them.


def level_statistics(a, q, axis):
    """The order statistics for an array of levels; they have the reduced axes, of length 1."""
    position = q * (count(a, axis) - 1)
    low = position.astype(int)
    lanes = sorted_lanes(in_lanes(a, axis))
    bottom, top = lanes[..., low], lanes[..., np.minimum(low + 1, count(a, axis) - 1)]
    return over_levels(bottom, a, axis), over_levels(top, a, axis), level_shaped(position - low.astype(a.dtype), a)


def over_levels(statistics, a, axis):
    """`statistics`, whose last axis goes over the levels, with that axis first and the reduced ones of length 1."""
    shape = np.max(a, axis, keepdims=True).shape
    return np.reshape(np.moveaxis(statistics, -1, 0), (statistics.shape[-1], *shape))


def level_shaped(levels, a):
    """One number a level, in a shape that broadcasts against ``a[None]``."""
    return np.reshape(levels, (levels.shape[0],) + (1,) * a.ndim)


def levels_slope(d, a, q, axis):
    """The cotangent of `a` from that of its quantiles `q`, and that of `q`."""
    bottom, top, between = level_statistics(a, q, axis)
    d = np.reshape(d, bottom.shape)
    low = np.sum(evenly_shared((1 - between) * d, bottom, a, axis), 0)
    d_q = np.reshape(d * (count(a, axis) - 1) * (top - bottom), (q.shape[0], -1))
    return low + np.sum(evenly_shared(between * d, top, a, axis), 0), np.sum(d_q, 1)


def levels_tangent(y, d, a, q, axis):
    """The tangents of quantiles by `a`, in the shape of `y`."""
    bottom, top, between = level_statistics(a, q, axis)
    shares = evenly_shared((1 - between) * d, bottom, a, axis) + evenly_shared(between * d, top, a, axis)
    return np.reshape(np.sum(shares, behind_levels(axis, a.ndim)), y.shape)


def levels_drift(y, d, a, q, axis):
    """The tangents of quantiles by their levels."""
    bottom, top, _ = level_statistics(a, q, axis)
    return np.reshape(level_shaped(d, a) * (count(a, axis) - 1) * (top - bottom), y.shape)


def evenly_shared(d, extreme, a, axis):
    same = a == extreme
    return np.where(same, d / how_many(same, a, behind_levels(axis, a.ndim), True), 0)


@static
def behind_levels(axis: Any, ndim: int) -> tuple[int, ...]:
    """The reduced axes of an array, as those of an array with one more axis in front."""
    reduced = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(k % ndim + 1 for k in reduced)


@reverse(np.median)
def median(y, d, a, axis=None, *, keepdims=False):
    return quantile_slope(kept(d, axis, keepdims), a, 0.5, axis)


@forward(np.median)
def push_median(y, d, a, axis=None, *, keepdims=False):
    return total(quantile_slope(d, a, 0.5, axis), axis, keepdims)


@reverse(np.quantile)
def quantile(y, d, a, q, axis=None, *, method="linear", keepdims=False):
    if method != "linear":
        d_a, d_q = by_method(d, a, one_level(q), axis, keepdims, method)
        return d_a, d_q
    if np.ndim(q) == 1:
        d_a, d_q = levels_slope(d, a, q, axis)
        return d_a, d_q
    level = one_level(q)
    return quantile_slope(kept(d, axis, keepdims), a, level, axis), level_slope(d, a, level, axis, keepdims)


@forward(np.quantile)
def push_quantile(y, d, a, q, axis=None, *, method="linear", keepdims=False):
    if method != "linear":
        of_a, of_q = pushed_by_method(d, a, one_level(q), axis, keepdims, method)
        return of_a, of_q
    if np.ndim(q) == 1:
        return levels_tangent(y, d, a, q, axis), levels_drift(y, d, a, q, axis)
    level = one_level(q)
    return total(quantile_slope(d, a, level, axis), axis, keepdims), level_slope(d, a, level, axis, keepdims)


@reverse(np.percentile)
def percentile(y, d, a, q, axis=None, *, method="linear", keepdims=False):
    if method != "linear":
        d_a, d_q = by_method(d, a, one_level(q) / 100, axis, keepdims, method)
        return d_a, d_q / 100
    if np.ndim(q) == 1:
        d_a, d_q = levels_slope(d, a, np.divide(q, 100), axis)
        return d_a, d_q / 100
    level = one_level(q) / 100
    return quantile_slope(kept(d, axis, keepdims), a, level, axis), level_slope(d / 100, a, level, axis, keepdims)


@forward(np.percentile)
def push_percentile(y, d, a, q, axis=None, *, method="linear", keepdims=False):
    if method != "linear":
        of_a, of_q = pushed_by_method(d, a, one_level(q) / 100, axis, keepdims, method)
        return of_a, of_q / 100
    if np.ndim(q) == 1:
        return levels_tangent(y, d, a, np.divide(q, 100), axis), levels_drift(y, d / 100, a, np.divide(q, 100), axis)
    level = one_level(q) / 100
    return (
        total(quantile_slope(d, a, level, axis), axis, keepdims),
        level_slope(d / 100, a, level, axis, keepdims),
    )


# Without the NaNs, which sorting puts last, lanes differ in length.


def nan_order_statistics(a, q, axis):
    """The order statistics of the numbers of each lane that are not NaN; the position is an array."""
    lanes = sorted_lanes(in_lanes(a, axis))
    last = np.maximum(np.sum(~np.isnan(lanes), -1, keepdims=True) - 1, 0)
    position = (q * last).astype(a.dtype)
    low = position.astype(int)
    bottom, top = np.take_along_axis(lanes, low, -1), np.take_along_axis(lanes, np.minimum(low + 1, last), -1)
    return bottom[..., 0], top[..., 0], (position - low.astype(a.dtype))[..., 0], last[..., 0].astype(a.dtype)


def nan_quantile_slope(d, a, q, axis):
    bottom, top, between, _ = nan_order_statistics(a, q, axis)
    between = kept(between, axis, False)
    low = shared((1 - between) * d, kept(bottom, axis, False), a, axis, True)
    return low + shared(between * d, kept(top, axis, False), a, axis, True)


def nan_level_slope(d, a, q, axis, keepdims):
    bottom, top, _, last = nan_order_statistics(a, q, axis)
    slope = last * (top - bottom)
    return d * (kept(slope, axis, False) if keepdims and axis is not None else slope)


@reverse(np.nanmedian)
def nanmedian(y, d, a, axis=None, *, keepdims=False):
    return nan_quantile_slope(kept(d, axis, keepdims), a, 0.5, axis)


@forward(np.nanmedian)
def push_nanmedian(y, d, a, axis=None, *, keepdims=False):
    return total(nan_quantile_slope(d, a, 0.5, axis), axis, keepdims)


@reverse(np.nanquantile)
def nanquantile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q)
    return nan_quantile_slope(kept(d, axis, keepdims), a, level, axis), nan_level_slope(d, a, level, axis, keepdims)


@forward(np.nanquantile)
def push_nanquantile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q)
    return total(nan_quantile_slope(d, a, level, axis), axis, keepdims), nan_level_slope(d, a, level, axis, keepdims)


@reverse(np.nanpercentile)
def nanpercentile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q) / 100
    d_a = nan_quantile_slope(kept(d, axis, keepdims), a, level, axis)
    return d_a, nan_level_slope(d / 100, a, level, axis, keepdims)


@forward(np.nanpercentile)
def push_nanpercentile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q) / 100
    of_a = total(nan_quantile_slope(d, a, level, axis), axis, keepdims)
    return of_a, nan_level_slope(d / 100, a, level, axis, keepdims)


def one_level(q):
    if np.ndim(q) > 0:
        raise NoRule("quantiles are differentiable at one level, or at a vector of them")
    return q
