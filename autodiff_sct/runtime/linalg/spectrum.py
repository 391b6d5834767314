"""Ends of an axis in the derivatives of Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["mirrored_twice", "resized"]


def resized(x: Any, length: int, axis: int) -> np.ndarray:
    """`x` cut off or filled up with zeros at the end of an axis; always a new array.

    >>> resized(np.array([1.0, 2.0]), 3, 0)
    array([1., 2., 0.])
    """
    x = np.asarray(x)
    size, place = x.shape[axis], axis % x.ndim
    if size == length:
        return x.copy()
    kept = x[(slice(None),) * place + (slice(min(size, length)),)]
    if size > length:
        return kept.copy()
    result = np.zeros((*x.shape[:place], length, *x.shape[place + 1 :]), x.dtype)
    result[(slice(None),) * place + (slice(size),)] = kept
    return result


def mirrored_twice(half: Any, n: int, axis: int) -> np.ndarray:
    """Half of a spectrum of `n` frequencies, doubled but for those that stand for themselves: 0 and ``n / 2``.

    >>> mirrored_twice(np.ones(3), 4, 0)
    array([1., 2., 1.])
    """
    result = np.array(half)
    result[(slice(None),) * (axis % result.ndim) + (slice(1, (n + 1) // 2),)] *= 2
    return result
