"""Loops whose gradient keeps checkpoints in the place of every step."""

from __future__ import annotations

from .errors import ArgumentTypeError
from .runtime.segments import MemoryWarning, segment_length

__all__ = ["MemoryWarning", "segments"]


def segments(steps: range, every: int | None = None) -> range:
    """The same range, over which a differentiated loop keeps its state only at the start of every segment.

    In plain Python, and in forward mode, ``for i in segments(range(n), every=k)`` is ``for i in range(n)``.  In reverse
    mode the forward sweep keeps what the loop carries (its variables, and the arrays that it writes into) at the start
    of every `every` steps; the reverse sweep runs one segment after the other again, the last one first, from where it
    was kept, and reverses it.  The loop's steps are computed once more; memory is that of ``n / every`` states and of
    the saved values of `every` steps.

    Parameters
    ----------
    steps : range
        What the loop goes over.
    every : int, optional
        The steps of one segment.  By default the square root of their number, which takes the least memory where a
        state is as large as what a step saves.

    Returns
    -------
    range
        `steps`.

    Raises
    ------
    TypeError
        If `steps` is not a range or `every` not an int.
    ValueError
        If `every` is less than 1.

    Examples
    --------
    >>> from autodiff_sct import grad, segments
    >>> def power(x, n):
    ...     y = 1.0
    ...     for _ in segments(range(n), every=10):
    ...         y = y * x
    ...     return y
    >>> grad(power)(1.0, 1000)
    1000.0
    """
    if not isinstance(steps, range):
        raise ArgumentTypeError(f"segments takes a range, not {type(steps).__name__}")
    segment_length(len(steps), every)
    return steps
