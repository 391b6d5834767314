"""Reductions: sums, means, products, extremes and spreads over all elements or over axes.

Ties of ``max`` and ``min`` share the derivative evenly; the standard deviation has derivative 0 where it is 0.
Where a reduction takes ``where``, elements outside of it have derivative 0.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime.scan import products_of_others, recurrence, shift
from ..runtime.selection import share_out
from .elementwise import is_literal, nonzero
from .table import broadcasting, forward, linear, reverse, static

broadcasting(np.sum, np.mean, np.average, np.add.reduce, math.fsum)


def kept(d, axis, keepdims):
    """`d`, which belongs to a reduction's result, in a shape that broadcasts against the reduced array."""
    return d if axis is None or keepdims or np.ndim(d) == 0 else np.expand_dims(d, axis)


def total(a, axis, keepdims=False):
    """The sum of `a` over the axes of a reduction, written as one would write it by hand."""
    if keepdims:
        return np.sum(a, axis, keepdims=True)
    return np.sum(a) if axis is None else np.sum(a, axis)


def per_lane(a, axis):
    """The sum over a reduction's axes, in a shape that broadcasts against `a`."""
    return total(a, axis, axis is not None)


def count(a, axis):
    """The number of elements that a reduction takes together, as a Python int."""
    if axis is None:
        return a.size
    if isinstance(axis, tuple):
        return math.prod([a.shape[k] for k in axis])
    return a.shape[axis]


@static
def is_filled(a) -> bool:
    """True if an array has any element; a compiler says no where it cannot know."""
    return bool(a.size > 0)


def evenly(d, a, axis):
    """Each element's share of a mean; there is none where an array is empty, and nothing to divide by."""
    return d / (count(a, axis) if axis is not None or is_filled(a) else max(count(a, axis), 1))


def count_where(a, axis, where):
    """The number of elements that a reduction takes together, as an array of the dtype of `a` unless it is static."""
    if where is True:
        return count(a, axis)
    return per_lane(np.where(where, np.ones_like(a), 0), axis)


def masked(d, where):
    return d if where is True else np.where(where, d, 0)


# Sums and means


@reverse(np.sum)
def sum_(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    share = masked(kept(d, axis, keepdims), where)
    return share if initial is None else (share, None, None, None, d)


@forward(np.sum)
def push_sum(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    if initial is not None:  # `d` is that of `a`, or that of `initial`
        return total(masked(np.broadcast_to(d, a.shape), where), axis, keepdims), None, None, None, d
    return total(masked(d if dtype is None else d.astype(dtype), where), axis, keepdims)


@reverse(np.add.reduce)
def add_reduce(y, d, array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
    share = masked(kept(d, axis, keepdims), where)
    return share if initial is None else (share, None, None, None, d)


@forward(np.add.reduce)
def push_add_reduce(y, d, array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
    if initial is not None:
        return total(masked(np.broadcast_to(d, array.shape), where), axis, keepdims), None, None, None, d
    return total(masked(d if dtype is None else d.astype(dtype), where), axis, keepdims)


@linear(np.mean)
def mean(y, d, a, axis=None, dtype=None, *, keepdims=False, where=True):
    if where is True:
        return evenly(kept(d, axis, keepdims), a, axis)
    return masked(kept(d, axis, keepdims) / count_where(a, axis, where), where)


@reverse(np.nansum)
def nansum(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    share = np.where(np.isnan(a), 0, masked(kept(d, axis, keepdims), where))
    return share if initial is None else (share, None, None, None, d)


@forward(np.nansum)
def push_nansum(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    if initial is not None:
        share = np.where(np.isnan(a), 0, masked(np.broadcast_to(d, a.shape), where))
        return total(share, axis, keepdims), None, None, None, d
    return total(np.where(np.isnan(a), 0, masked(d, where)), axis, keepdims)


@reverse(np.nanmean)
def nanmean(y, d, a, axis=None, dtype=None, *, keepdims=False, where=True):
    valid = np.logical_and(where, ~np.isnan(a))
    return np.where(valid, kept(d, axis, keepdims) / count_where(a, axis, valid), 0)


@forward(np.nanmean)
def push_nanmean(y, d, a, axis=None, dtype=None, *, keepdims=False, where=True):
    return np.mean(d, axis, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))


@reverse(np.average)
def average(y, d, a, axis=None, weights=None, *, keepdims=False):
    d = kept(d, axis, keepdims)
    if weights is None:
        return evenly(d, a, axis)
    others = unweighted_axes(a.ndim, np.ndim(weights), axis)
    w = spread_out(weights, others)
    share = d / per_lane(w, axis)
    d_w = share * (a - kept(y, axis, keepdims))
    return share * w, None, np.sum(d_w, others) if others else d_w


@forward(np.average)
def push_average(y, d, a, axis=None, weights=None, *, keepdims=False):
    if weights is None:
        return np.mean(d, axis, keepdims=keepdims)
    others = unweighted_axes(a.ndim, np.ndim(weights), axis)
    whole = np.sum(weights) if others else total(weights, axis, keepdims)
    difference = a - kept(y, axis, keepdims)
    return (
        total(d * spread_out(weights, others), axis, keepdims) / whole,
        None,
        total(difference * spread_out(d, others), axis, keepdims) / whole,
    )


def spread_out(weights, others):
    return np.expand_dims(weights, others) if others else weights


@static
def unweighted_axes(ndim: int, weights_ndim: int, axis: Any) -> tuple[int, ...]:
    """The axes of an averaged array that its weights do not have."""
    if weights_ndim == ndim:
        return ()
    weighted = [k % ndim for k in (axis if isinstance(axis, tuple) else (axis,))]
    if weighted != sorted(weighted):
        raise NoRule("np.average with weights: give the axes in ascending order")
    return tuple(k for k in range(ndim) if k not in weighted)


# Products


@reverse(np.prod)
def prod(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    share = masked(kept(d, axis, keepdims) * product_of_others(factors(a, where), axis), where)
    if initial is None:
        return share
    return share * initial, None, None, None, d * np.prod(factors(a, where), axis, keepdims=keepdims)


@forward(np.prod)
def push_prod(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    share = total(masked(d * product_of_others(factors(a, where), axis), where), axis, keepdims)
    if initial is None:
        return share
    return share * initial, None, None, None, d * np.prod(factors(a, where), axis, keepdims=keepdims)


@reverse(np.multiply.reduce)
def multiply_reduce(y, d, array, axis=0, dtype=None, *, keepdims=False, where=True):
    return prod(y, d, array, axis, keepdims=keepdims, where=where)


@forward(np.multiply.reduce)
def push_multiply_reduce(y, d, array, axis=0, dtype=None, *, keepdims=False, where=True):
    return push_prod(y, d, array, axis, keepdims=keepdims, where=where)


@reverse(np.nanprod)
def nanprod(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    share = prod(y, d, a, axis, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))
    if initial is None:
        return share
    return share * initial, None, None, None, d * np.nanprod(a, axis, keepdims=keepdims, where=where)


@forward(np.nanprod)
def push_nanprod(y, d, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=True):
    share = push_prod(y, d, a, axis, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))
    if initial is None:
        return share
    return share * initial, None, None, None, d * np.nanprod(a, axis, keepdims=keepdims, where=where)


def product_of_others(a, axis):
    return products_of_others(a) if axis is None else products_of_others(a, axis)


def factors(a, where):
    return a if where is True else np.where(where, a, 1)


# The second derivative of a product is symmetric, so its map is its own transpose.  ``before`` and ``after`` are the
# products of the elements on either side; the shares of the other elements are summed up by recurrences.


@reverse(products_of_others)
@forward(products_of_others)
def products_of_all_but_two(y, d, a, axis=None):
    lanes, g = in_lanes(a, axis), in_lanes(d, axis)
    before = np.cumprod(shift(lanes, 1, -1, 1), -1)
    after = np.flip(np.cumprod(np.flip(shift(lanes, -1, -1, 1), -1), -1), -1)
    left = recurrence(shift(lanes, 1), shift(g * before, 1))
    right = recurrence(shift(lanes, -1), shift(g * after, -1), backward=True)
    return out_of_lanes(left * after + before * right, a, axis)


def in_lanes(a, axis):
    """`a` with the axes to reduce as one, the last."""
    if axis is None:
        return np.ravel(a)
    if isinstance(axis, tuple):
        moved = np.moveaxis(a, axis, last_axes(axis))
        return np.reshape(moved, moved.shape[: a.ndim - len(axis)] + (count(a, axis),))
    return np.moveaxis(a, axis, -1)


def out_of_lanes(lanes, a, axis):
    """The inverse of `in_lanes`."""
    if axis is None:
        return np.reshape(lanes, a.shape)
    if isinstance(axis, tuple):
        moved = np.moveaxis(a, axis, last_axes(axis))
        return np.moveaxis(np.reshape(lanes, moved.shape), last_axes(axis), axis)
    return np.moveaxis(lanes, -1, axis)


@static
def last_axes(axis: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(-len(axis), 0))


# Sums and products of Python sequences


@linear(math.fsum)
def fsum(y, d, seq, /):
    return [d for k in range(len(seq))] if isinstance(seq, (list, tuple)) else d


@reverse(math.prod)
def product_of_list(y, d, iterable, /):
    return [d * others(iterable, k) for k in range(len(iterable))]


@forward(math.prod)
def push_product_of_list(y, d, iterable, /):
    if isinstance(d, list):  # the tangents of all items, of a list whose length is known at run time
        return builtins.sum([d[k] * others(iterable, k) for k in range(len(iterable))])
    if isinstance(iterable, (list, tuple)):  # `d` is that of one item
        return [d * others(iterable, k) for k in range(len(iterable))]
    return np.sum(d * products_of_others(iterable))


@forward(math.dist)
def push_dist(y, d, p, q, /):
    if isinstance(d, list):  # the tangents of all items, of a list whose length is known at run time
        of_p = builtins.sum([d[k] * (p[k] - q[k]) for k in range(len(p))]) / nonzero(y)
        return of_p, -of_p
    of_p, of_q = dist(y, d, p, q)  # right for lists: `d` is that of one item
    if not isinstance(p, (list, tuple)):
        of_p = np.sum(d * (p - np.array(q))) / nonzero(y)
    if not isinstance(q, (list, tuple)):
        of_q = np.sum(d * (q - np.array(p))) / nonzero(y)
    return of_p, of_q


@reverse(math.dist)
def dist(y, d, p, q, /):
    return (
        [d * (p[k] - q[k]) / nonzero(y) for k in range(len(p))],
        [d * (q[k] - p[k]) / nonzero(y) for k in range(len(p))],
    )


def others(items, k):
    return math.prod(items[:k]) * math.prod(items[k + 1 :])


# Extremes


def shared(d, y, a, axis, where):
    """`d` divided evenly among the elements that equal the extreme `y`; both have the reduced axes, of length 1."""
    extreme = a == y if where is True else np.logical_and(where, a == y)
    return np.where(extreme, d / how_many(extreme, a, axis, axis is not None), 0)


@linear(share_out)
def gathered(y, d, cotangent, extreme, axis, dtype):
    return np.sum(np.where(extreme, d, 0), axis, keepdims=True) / np.sum(extreme, axis, dtype, keepdims=True)


def how_many(true, a, axis, keepdims):
    """The number of true elements, in the dtype of `a`: an integer beside single precision would make it double."""
    dtype = a.dtype if a.dtype.isnative else a.dtype.type  # NumPy adds up in the machine's order of bytes only
    if axis is None and not keepdims:
        return np.sum(true, dtype=dtype)
    return np.sum(true, axis, dtype, keepdims=keepdims)


@reverse(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def max_(y, d, a, axis=None, *, keepdims=False, initial=None, where=True):
    d, y = kept(d, axis, keepdims), kept(y, axis, keepdims)
    if initial is None:
        return shared(d, y, a, axis, where)
    extreme, first = np.logical_and(where, a == y), is_first(y, initial)
    share = d / (how_many(extreme, a, axis, axis is not None) + first)
    return np.where(extreme, share, 0), None, None, np.where(first, share, 0)


def is_first(y, initial):
    """True where the extreme is the initial number, which may come in more digits than the array has."""
    if isinstance(initial, (np.ndarray, np.generic)) and initial.dtype != y.dtype:
        return y == initial.astype(y.dtype)
    return y == initial


@forward(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def push_max(y, d, a, axis=None, *, keepdims=False, initial=None, where=True):
    top = kept(y, axis, keepdims)
    if initial is None:
        return total(shared(d, top, a, axis, where), axis, keepdims)
    extreme = np.logical_and(where, a == top)
    first = is_first(y, initial)
    sharers = how_many(extreme, a, axis, keepdims) + first
    return total(np.where(extreme, d, 0), axis, keepdims) / sharers, None, None, np.where(first, d / sharers, 0)


@reverse(np.maximum.reduce, np.minimum.reduce)
def maximum_reduce(y, d, array, axis=0, *, keepdims=False, initial=None, where=True):
    return max_(y, d, array, axis, keepdims=keepdims, initial=initial, where=where)


@forward(np.maximum.reduce, np.minimum.reduce)
def push_maximum_reduce(y, d, array, axis=0, *, keepdims=False, initial=None, where=True):
    top = kept(y, axis, keepdims)
    if initial is None:
        return total(shared(d, top, array, axis, where), axis, keepdims)
    extreme = np.logical_and(where, array == top)
    first = is_first(y, initial)
    sharers = how_many(extreme, array, axis, keepdims) + first
    return total(np.where(extreme, d, 0), axis, keepdims) / sharers, None, None, np.where(first, d / sharers, 0)


@reverse(np.logaddexp.reduce)
def logaddexp_reduce(y, d, array, axis=0, *, keepdims=False):
    y = kept(y, axis, keepdims)
    return kept(d, axis, keepdims) * np.exp(array - np.where(y == -np.inf, 0, y))


@forward(np.logaddexp.reduce)
def push_logaddexp_reduce(y, d, array, axis=0, *, keepdims=False):
    y = kept(y, axis, keepdims)
    return total(d * np.exp(array - np.where(y == -np.inf, 0, y)), axis, keepdims)


@reverse(np.ptp)
def ptp(y, d, a, axis=None, *, keepdims=False):
    d = kept(d, axis, keepdims)
    return ptp_slope(d, a, axis)


@forward(np.ptp)
def push_ptp(y, d, a, axis=None, *, keepdims=False):
    return total(ptp_slope(d, a, axis), axis, keepdims)


def ptp_slope(d, a, axis):
    top, bottom = kept(np.max(a, axis), axis, False), kept(np.min(a, axis), axis, False)
    return shared(d, top, a, axis, True) - shared(d, bottom, a, axis, True)


# Spreads


def deviation(a, axis, where):
    """``a - mean``, 0 outside of `where`; conjugated, for the square of a complex deviation is its absolute square."""
    # The inner mask keeps a NaN outside of `where` out of second derivatives too.
    difference = masked(masked(a, where) - centre(a, axis, where), where)
    return np.conj(difference) if np.iscomplexobj(a) else difference


def centre(a, axis, where):
    if where is not True:
        return np.mean(a, axis, keepdims=True, where=where)
    if axis is None:
        return np.mean(a)
    return np.mean(a, 0) if axis == 0 else np.mean(a, axis, keepdims=True)


def freedom(a, axis, ddof, where):
    if ddof == 0:
        return count_where(a, axis, where)
    left = count_where(a, axis, where) - ddof
    if is_literal(ddof) and ddof <= 1:
        return left
    return max(left, 0) if where is True else np.maximum(left, 0)  # as NumPy counts them


def var_slope(d, a, axis, ddof, where):
    return 2 * d / freedom(a, axis, ddof, where) * deviation(a, axis, where)


@reverse(np.var)
def var(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return var_slope(kept(d, axis, keepdims), a, axis, ddof, where)


@forward(np.var)
def push_var(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return total(var_slope(d, a, axis, ddof, where), axis, keepdims)


@reverse(np.std)
def std(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    d, y = kept(d, axis, keepdims), kept(y, axis, keepdims)
    return d / (freedom(a, axis, ddof, where) * nonzero(y)) * deviation(a, axis, where)


@forward(np.std)
def push_std(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return total(var_slope(d, a, axis, ddof, where), axis, keepdims) / (2 * nonzero(y))


@reverse(np.nanvar)
def nanvar(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return var(y, d, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))


@forward(np.nanvar)
def push_nanvar(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return push_var(y, d, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))


@reverse(np.nanstd)
def nanstd(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return std(y, d, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))


@forward(np.nanstd)
def push_nanstd(y, d, a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    return push_std(y, d, a, axis, ddof=ddof, keepdims=keepdims, where=np.logical_and(where, ~np.isnan(a)))
