"""Selections of cotangents: one where a condition holds, and shares of one where values tie."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import thresholds

__all__ = ["half_where", "select", "share_out"]


BITS: dict[Any, Any] = {np.dtype(np.float64): np.dtype(np.int64), np.dtype(np.float32): np.dtype(np.int32)}


def select(chosen: Any, cotangent: Any, other: Any) -> Any:
    """``np.where(chosen, cotangent, other)``, for large arrays and an `other` of 0 by the bits of the numbers.

    Where conditions follow no pattern, `np.where` takes up to ten times as long as that.

    >>> select(np.array([True, False]), np.array([2.0, np.inf]), 0)
    array([2., 0.])
    """
    if np.size(chosen) < thresholds.SELECTED_BY_BITS or np.ndim(other) or other != 0:
        return np.where(chosen, cotangent, other)
    numbers = np.asarray(cotangent)
    bits = BITS.get(numbers.dtype)
    if bits is None or chosen.dtype != np.bool_:
        return np.where(chosen, cotangent, other)
    mask = np.negative(chosen.view(np.int8)).astype(bits)  # all bits, or none
    inside = numbers.shape == mask.shape or np.broadcast_shapes(numbers.shape, mask.shape) == mask.shape
    found = np.bitwise_and(mask, numbers.view(bits), out=mask if inside else None)
    return found.view(numbers.dtype)


def half_where(tied: Any, cotangent: Any) -> Any:
    """Half of a cotangent where two arrays tie, and 0 elsewhere; one 0 where they nowhere do, as is mostly so.

    >>> half_where(np.array([True, False]), 3.0)
    array([1.5, 0. ])
    >>> half_where(np.array([False, False]), 3.0)
    0
    """
    return np.where(tied, cotangent / 2, 0) if np.count_nonzero(tied) else 0


def share_out(cotangent: Any, extreme: np.ndarray, axis: int, dtype: Any) -> np.ndarray:
    """``np.where(extreme, cotangent / extreme.sum(axis, dtype, keepdims=True), 0)``, the cotangent of an extreme.

    If each lane of a large array has one extreme, as is mostly so, the cotangent is put there, into zeros that need no
    pass over memory.

    >>> share_out(np.array([[3.0], [4.0]]), np.array([[False, True], [True, True]]), 1, float)
    array([[0., 3.],
           [2., 2.]])
    """
    if extreme.size >= thresholds.SELECTED_BY_BITS and extreme.flags.c_contiguous:
        axis %= extreme.ndim
        count, step = extreme.shape[axis], math.prod(extreme.shape[axis + 1 :])
        lanes, places = extreme.size // count, np.flatnonzero(extreme)
        if places.size == lanes:
            lane = places // (count * step) * step + places % step
            if np.bincount(lane).max() == 1:
                result = np.zeros(extreme.shape, np.result_type(cotangent, dtype))
                of_lanes = (*extreme.shape[:axis], 1, *extreme.shape[axis + 1 :])
                result.reshape(-1)[places] = np.broadcast_to(cotangent, of_lanes).reshape(-1)[lane]
                return result
    return np.where(extreme, cotangent / extreme.sum(axis, dtype, keepdims=True), 0)
