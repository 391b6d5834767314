"""Where a condition holds, a cotangent, and elsewhere mostly 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import thresholds

__all__ = ["select"]


def select(chosen: Any, cotangent: Any, other: Any) -> Any:
    """``np.where(chosen, cotangent, other)``, for large arrays and an `other` of 0 as a product with the condition.

    Where conditions follow no pattern, `np.where` takes five times as long as that.  An infinity or a NaN that is not
    chosen makes the product NaN: then it is selected.

    >>> select(np.array([True, False]), np.array([2.0, np.inf]), 0)
    array([2., 0.])
    """
    if np.size(chosen) < thresholds.SELECTED_AS_PRODUCT or np.ndim(other) or other != 0:
        return np.where(chosen, cotangent, other)
    with np.errstate(invalid="ignore"):
        product = cotangent * chosen
    return np.where(chosen, cotangent, other) if np.isnan(np.min(product)) else product
