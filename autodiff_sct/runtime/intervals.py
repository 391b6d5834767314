"""The intervals between sorted numbers in which numbers lie, as histograms and piecewise linear functions ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import thresholds

__all__ = ["interval_of"]


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
