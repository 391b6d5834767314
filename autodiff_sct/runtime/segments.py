"""Lengths of the segments of a checkpointed loop."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

from ..core import thresholds
from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["MemoryWarning", "segment_length", "steps_within"]

NUMBER = 32  # bytes of a Python float
REFERENCE = 8  # bytes of a place in a list


class MemoryWarning(UserWarning):
    """A gradient may need more memory than its budget: the message says where, and how much."""


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


def steps_within(budget: int, count: int, kept: tuple[Any, ...], saved: tuple[Any, ...]) -> int:
    """The steps of one segment so that a loop of `count` steps keeps to a budget of so many bytes.

    Parameters
    ----------
    budget : int
        Bytes.
    count : int
        The steps of the loop.
    kept : tuple of arrays and numbers
        What is kept at the start of each segment.
    saved : tuple
        For each value that one step saves something as large as it, or None where that is not known: it counts as the
        largest of `kept`.  A pair ``(m, value)`` is saved `m` times a step.

    Returns
    -------
    int
        All steps where these fit; else the length for which least memory is needed, the root of ``count * state /
        step`` (Griewank and Walther, Evaluating Derivatives, 2008, chapter 12).

    Warns
    -----
    MemoryWarning
        Where even this is estimated to need more.
    """
    count = max(1, count)
    largest = max((size_of(x) for x in kept), default=NUMBER)
    state = sum(size_of(x) for x in kept)
    step = sum(times * (largest if x is None else size_of(x)) for times, x in map(pair, saved))
    working = thresholds.WORKING_ARRAYS * largest + state
    if count * step + working <= budget:
        return count
    every = min(count, max(1, round(math.sqrt(count * state / max(step, 1)))))
    needed = -(-count // every) * state + every * step + working
    if needed > budget:
        warnings.warn(
            MemoryWarning(f"a loop of {count} steps needs about {needed} bytes, its budget is {budget}"), stacklevel=2
        )
    return every


def pair(saved: Any) -> tuple[int, Any]:
    return saved if isinstance(saved, tuple) else (1, saved)


def size_of(value: Any) -> int:
    """The bytes of an array or a number in a list."""
    return int(getattr(value, "nbytes", NUMBER)) + REFERENCE
