"""Rows of one array, in which a loop keeps an array of each iteration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import thresholds

__all__ = ["copied_rows", "rows"]


def rows(count: int, *shape: int, dtype: Any = np.float64) -> Any:
    """Return `count` places for arrays of one shape: rows of one array if they are small, else items of a list."""
    if math.prod(shape) <= thresholds.NUMBERS_OF_A_ROW:
        return copied_rows(count, *shape, dtype=dtype)
    return [None] * count


def copied_rows(count: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Return `count` rows of one array of any size: to store into one is to copy, as to store into a list is not."""
    return np.empty((max(count, 0), *shape), dtype)
