"""Sorting and order statistics.

Where elements tie, the derivatives of ``sort`` and ``partition`` follow a stable sort, and those of ``median``,
``quantile`` and ``percentile`` are shared evenly.
"""

from __future__ import annotations

import numpy as np

from .reduce import count, in_lanes, kept, shared, total
from .table import forward, reverse


@reverse(np.sort)
def sort(y, d, a, axis=-1, kind=None):
    if axis is None:
        return np.reshape(d[ranks(np.ravel(a), -1)], np.shape(a))
    return d[ranks(a, -1)] if a.ndim == 1 else np.take_along_axis(d, ranks(a, axis), axis)


@forward(np.sort)
def push_sort(y, d, a, axis=-1, kind=None):
    if axis is None:
        return np.ravel(d)[stable_order(np.ravel(a), -1)]
    return d[stable_order(a, -1)] if a.ndim == 1 else np.take_along_axis(d, stable_order(a, axis), axis)


# A partitioned array and its source are the same once sorted, which tells where each element went.


@reverse(np.partition)
def partition(y, d, a, kth, axis=-1, kind="introselect"):
    if axis is None:
        return np.reshape(d[stable_order(y, -1)][ranks(np.ravel(a), -1)], np.shape(a))
    return np.take_along_axis(np.take_along_axis(d, stable_order(y, axis), axis), ranks(a, axis), axis)


@forward(np.partition)
def push_partition(y, d, a, kth, axis=-1, kind="introselect"):
    if axis is None:
        return np.ravel(d)[stable_order(np.ravel(a), -1)][ranks(y, -1)]
    return np.take_along_axis(np.take_along_axis(d, stable_order(a, axis), axis), ranks(y, axis), axis)


def ranks(a, axis):
    """The place that sorting gives to each element."""
    order = stable_order(a, axis)
    return np.argsort(order) if axis == -1 else np.argsort(order, axis)


def stable_order(a, axis):
    return np.argsort(a, kind="stable") if axis == -1 else np.argsort(a, axis, kind="stable")


def order_statistics(a, q, axis):
    """The two order statistics between which the quantile `q` lies, and how far it is from the first."""
    position = q * (count(a, axis) - 1)
    low = int(position)
    lanes = np.sort(in_lanes(a, axis), -1)
    return lanes[..., low], lanes[..., min(low + 1, count(a, axis) - 1)], position - low


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


@reverse(np.median)
def median(y, d, a, axis=None, *, keepdims=False):
    return quantile_slope(kept(d, axis, keepdims), a, 0.5, axis)


@forward(np.median)
def push_median(y, d, a, axis=None, *, keepdims=False):
    return total(quantile_slope(d, a, 0.5, axis), axis, keepdims)


@reverse(np.quantile)
def quantile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q)
    return quantile_slope(kept(d, axis, keepdims), a, level, axis), level_slope(d, a, level, axis, keepdims)


@forward(np.quantile)
def push_quantile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q)
    return total(quantile_slope(d, a, level, axis), axis, keepdims), level_slope(d, a, level, axis, keepdims)


@reverse(np.percentile)
def percentile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q) / 100
    return quantile_slope(kept(d, axis, keepdims), a, level, axis), level_slope(d / 100, a, level, axis, keepdims)


@forward(np.percentile)
def push_percentile(y, d, a, q, axis=None, *, keepdims=False):
    level = one_level(q) / 100
    return (
        total(quantile_slope(d, a, level, axis), axis, keepdims),
        level_slope(d / 100, a, level, axis, keepdims),
    )


# Without the NaNs, which sorting puts last, lanes differ in length.


def nan_order_statistics(a, q, axis):
    """As `order_statistics`, of the numbers of each lane that are not NaN; the position is an array."""
    lanes = np.sort(in_lanes(a, axis), -1)
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
        raise NotImplementedError("np.quantile and np.percentile are differentiable one level at a time: stack calls")
    return q
