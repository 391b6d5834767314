"""How long the segments of a checkpointed loop are."""

from __future__ import annotations

import math
import operator
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["segment_length"]


def segment_length(count: int, every: Any) -> int:
    """The steps of one segment, out of `count`: `every`, or for None the square root of `count`.

    Raises
    ------
    TypeError
        If `every` is neither an int nor None.
    ValueError
        If it is less than 1.
    """
    if every is None:
        return max(1, math.isqrt(max(0, count)))
    try:
        length = operator.index(every)
    except TypeError:
        raise ArgumentTypeError(f"every is a number of steps or None, not {every!r}") from None
    if length < 1:
        raise ArgumentValueError(f"every is a number of steps, at least 1: {every!r}")
    return length
