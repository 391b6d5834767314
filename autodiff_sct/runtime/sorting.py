"""The order of a stable sort, and values put back to where sorting has taken them from."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["order_in_memory", "order_of", "put_in_order", "sorted_lanes", "stable_order"]


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
