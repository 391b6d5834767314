"""NaN in what a derivative is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import thresholds
from ..domain.leaves import children

__all__ = ["holds_nan"]


def holds_nan(value: Any) -> bool:
    """True if a number, an array or a container of them may hold a NaN: some complex infinities count, too.

    The product of an array with itself is NaN where an element is, as is its minimum, and neither warns of anything.
    The product takes half the time of the minimum of a short array.
    """
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype.kind not in "fc":
            return False
        found = np.vdot(value, value) if value.size <= thresholds.ELEMENTS_OF_ONE_THREAD else value.min(initial=0.0)
        return bool(found != found)
    if kind is float or isinstance(value, (complex, np.inexact)):
        return bool(value != value)
    if kind is tuple or kind is list:
        return any(map(holds_nan, value))
    if isinstance(value, (str, bytes, int, np.generic)) or value is None:
        return False
    return any(map(holds_nan, (children(value) or {}).values()))
