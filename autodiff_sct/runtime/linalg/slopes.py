"""Slopes of magnitudes in derivatives that are differentiated again: see ``rules/norms.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import Degenerate
from .degenerate import settings

__all__ = ["nan_at_zero_norm", "pushed", "slope", "slope_of_absolute"]


def slope(d: Any, y: Any, x: Any) -> Any:
    """The derivative of a Euclidean norm `y` of `x`, 0 at 0."""
    return d / (y + (y == 0)) * x


def pushed(d: Any, y: Any, x: Any) -> Any:
    """The contribution of the tangent `d` of `x` to that of its norm `y`, 0 at 0."""
    return d / (y + (y == 0)) * x


def slope_of_absolute(d: Any, x: Any) -> Any:
    """The derivative of the absolute value of a real number, 0 at 0."""
    return d * np.sign(x)


def nan_at_zero_norm(y: Any, d: Any) -> Any:
    """Zeros, and NaN where a derivative `d` meets the slope of a norm `y` that is zero."""
    if not isinstance(y, np.ndarray) and (y != 0 or not np.any(d)):
        return type(y)(0.0)
    lost = (y == 0) & (d != 0)
    if settings.strict and np.any(lost):
        raise Degenerate(
            "a second derivative is taken of a norm that is zero, where it has one only if the result is a smooth "
            "function of its square",
            "write it with the square, as `np.sum(x * x)` for `np.linalg.norm(x) ** 2`",
        )
    undefined = np.where(lost & (not settings.lenient), np.nan, 0.0)
    return undefined.astype(y.dtype) if isinstance(y, (np.ndarray, np.generic)) else float(undefined)
