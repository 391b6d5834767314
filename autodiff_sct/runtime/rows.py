"""Where a loop keeps one array of each iteration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["rows"]

FEW = 128  # numbers: what Python keeps around an array is a tenth of it


def rows(count: int, *shape: int, dtype: Any = np.float64) -> Any:
    """Return `count` places for arrays of one shape: rows of one array if they are small, else items of a list."""
    if math.prod(shape) <= FEW:
        return np.empty((max(count, 0), *shape), dtype)
    return [None] * count
