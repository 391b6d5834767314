"""Sorted numbers: the order of a stable sort and back, the intervals that numbers lie in, and places of quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import thresholds

__all__ = [
    "METHODS",
    "interval_of",
    "order_in_memory",
    "order_of",
    "place_of",
    "put_in_order",
    "sorted_lanes",
    "stable_order",
]


def stable_order(a: Any, axis: int = -1) -> np.ndarray:
    """``np.argsort(a, axis, kind="stable")``, by the quicker sort that is not stable where no elements tie.

    >>> stable_order(np.array([2.0, 1.0, 2.0]))
    array([1, 0, 2])
    """
    order = np.argsort(a, axis)
    placed = np.moveaxis(a[order] if a.ndim == 1 else np.take_along_axis(a, order, axis), axis, -1)
    later, earlier = placed[..., 1:], placed[..., :-1]
    ties = (later == earlier) | (later != later) if has_nan(placed) else later == earlier
    return np.argsort(a, axis, kind="stable") if ties.any() else order


def sorted_lanes(a: np.ndarray) -> np.ndarray:
    """``np.sort(a)``, and one NaN for each lane of an array without elements, as NumPy has it for order statistics.

    >>> sorted_lanes(np.array([2.0, 1.0])), sorted_lanes(np.array([]))
    (array([1., 2.]), array([nan]))
    """
    return np.sort(a) if a.shape[-1] else np.full((*a.shape[:-1], 1), np.nan, a.dtype)


def order_in_memory(a: np.ndarray) -> np.ndarray:
    """The places of the elements of an array, counted in C order, in the order in which ``np.nditer`` comes to them.

    >>> order_in_memory(np.zeros((2, 3)).T), order_in_memory(np.zeros(3)[::-1])
    (array([0, 2, 4, 1, 3, 5]), array([2, 1, 0]))
    """
    places = np.nditer(a, ["c_index", "zerosize_ok"])
    return np.fromiter((places.index for _ in places), np.intp, a.size)


def has_nan(lanes: np.ndarray) -> bool:
    """True if one of some sorted lanes ends with NaN."""
    return bool(lanes.size) and bool(np.isnan(lanes[..., -1]).any())


def order_of(keys: list[Any], backwards: bool) -> list[int]:
    """The positions of `keys` in sorted order, as ``sorted`` would arrange them.

    >>> order_of([0.5, 0.1, 0.3], False)
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=lambda k: keys[k], reverse=backwards)


def put_in_order(values: Any, order: np.ndarray, axis: int = -1) -> np.ndarray:
    """An array whose elements at the places `order` along an axis are `values`: the transpose of taking them.

    >>> put_in_order(np.array([1.0, 2.0, 3.0]), np.array([1, 2, 0]))
    array([3., 1., 2.])
    """
    result = np.empty_like(values)
    if result.ndim == 1:
        result[order] = values
    else:
        np.put_along_axis(result, order, values, axis)
    return result


def interval_of(x: Any, ends: Any) -> Any:
    """``np.clip(np.searchsorted(ends, x, "right") - 1, 0, len(ends) - 2)``, without a search if `ends` are even.

    >>> interval_of(np.array([-1.0, 0.5, 1.0, 7.0]), np.array([0.0, 1.0, 2.0]))
    array([0, 0, 1, 1])

    Where `ends` decrease somewhere, it is the interval that ``np.interp`` takes, whose search goes on from `x` to `x`.
    """
    last = len(ends) - 2
    if np.size(x) >= max(thresholds.PLACED_EVENLY, 4 * last) and last > 0 and x.dtype.kind == ends.dtype.kind == "f":
        step = (ends[-1] - ends[0]) / (last + 1)
        if np.all(np.abs(np.diff(ends) - step) <= 0.1 * step):
            place = even_interval(x, ends, step)
            if place is not None:
                return place
    if np.any(ends[1:] < ends[:-1]):
        with np.errstate(invalid="ignore"):
            return np.clip(np.interp(x, ends, np.arange(last + 2)).astype(np.intp), 0, last)
    return np.clip(np.searchsorted(ends, x, "right") - 1, 0, last)


def even_interval(x: np.ndarray, ends: np.ndarray, step: Any) -> np.ndarray | None:
    """The same by a division that may be one interval off; None where it is more, or where a number is NaN."""
    last = len(ends) - 2
    with np.errstate(invalid="ignore", over="ignore"):
        place = ((x - ends[0]) / step).astype(np.intp)
    np.clip(place, 0, last, out=place)
    place -= (x < ends[place]) & (place > 0)
    place += (x >= ends[place + 1]) & (place < last)
    found = ((ends[place] <= x) | (place == 0)) & ((x < ends[place + 1]) | (place == last) & (x >= ends[last]))
    return place if found.all() else None


# NumPy's methods by their plotting positions: a = b in Hyndman and Fan, "Sample quantiles" (1996).
PLOTTING_POSITIONS = {"hazen": 1 / 2, "weibull": 0.0, "median_unbiased": 1 / 3, "normal_unbiased": 3 / 8}
METHODS = ("lower", "higher", "nearest", "midpoint", *PLOTTING_POSITIONS)


def place_of(q: float, n: int, method: str) -> float:
    """The place among `n` sorted elements, counted from 0, that the quantile `q` by a method is read from."""
    if method in PLOTTING_POSITIONS:
        a = PLOTTING_POSITIONS[method]
        return n * q + a + q * (1 - 2 * a) - 1
    below, above = math.floor(q * (n - 1)), math.ceil(q * (n - 1))
    places = {"lower": below, "higher": above, "midpoint": (below + above) / 2, "nearest": round(q * (n - 1))}
    return places[method]


def linear_level(q: float, n: int, method: str) -> float:
    """The level at which the linear quantile of `n` elements is the quantile `q` by another method."""
    return min(max(place_of(q, n, method) / max(n - 1, 1), 0.0), 1.0)


def level_rate(q: float, n: int, method: str) -> float:
    """The derivative of `linear_level` by `q`."""
    if method not in PLOTTING_POSITIONS or not 0 < place_of(q, n, method) < n - 1:
        return 0.0
    return (n + 1 - 2 * PLOTTING_POSITIONS[method]) / (n - 1)
