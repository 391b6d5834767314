"""Cotangents of the greater and the smaller of two arrays where the two tie."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["half_where"]


def half_where(tied: Any, cotangent: Any) -> Any:
    """Half of a cotangent where two arrays tie, and 0 elsewhere; one 0 where they nowhere do, as is mostly so.

    >>> half_where(np.array([True, False]), 3.0)
    array([1.5, 0. ])
    >>> half_where(np.array([False, False]), 3.0)
    0
    """
    return np.where(tied, cotangent / 2, 0) if np.count_nonzero(tied) else 0
