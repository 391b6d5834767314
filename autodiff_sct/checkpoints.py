"""Loops and functions whose gradient keeps checkpoints in the place of every intermediate value."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import ArgumentTypeError
from .runtime.segments import MemoryWarning, segment_length

__all__ = ["MemoryWarning", "checkpoint", "segments"]

F = TypeVar("F", bound=Callable[..., Any])


def segments(steps: range, every: int | None = None, checkpoint: str | os.PathLike[str] | None = None) -> range:
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
    checkpoint : path, optional
        A folder for what is kept, in the place of memory.  It is made if need be, must hold nothing else, and is
        emptied when the gradient is there.  Where a run was killed, the same call goes on from its last segment.

    Returns
    -------
    range
        `steps`.

    Raises
    ------
    TypeError
        If `steps` is not a range or `every` not an int.
    ValueError
        If `every` is less than 1; in a gradient, if the folder holds something else or is of another run: another
        program, or other values that it reads.

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


def checkpoint(fn: F) -> F:
    """Make the function that computes what `fn` does, and whose reverse sweep computes its inner values again.

    In plain Python, and in forward mode, it is `fn`.  In reverse mode the forward sweep keeps the arguments of a call
    only, and the reverse sweep calls `fn` once more where it needs what is inside: memory for what `fn` saves is taken
    by one call at a time, for the time of one more call of `fn`.  It is a loop of one step over `segments`, and like it
    may be nested, and differentiated to any order.

    Parameters
    ----------
    fn : callable
        A function without effects besides its result: what it prints would be printed twice.

    Returns
    -------
    callable
        Called as `fn` is; also a decorator.

    Raises
    ------
    TypeError
        If `fn` cannot be called.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_sct import checkpoint, grad
    >>> @checkpoint
    ... def layer(w, x):
    ...     return np.tanh(np.sin(w * x))
    >>> float(grad(lambda w: layer(w, layer(w, 2.0)))(0.0))
    0.0
    """
    if not callable(fn):
        raise ArgumentTypeError(f"checkpoint takes a function, not {fn!r}")

    @functools.wraps(fn)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        for _ in segments(range(1), every=1):
            result = fn(*args, **kwargs)
        return result

    return checkpointed  # type: ignore[return-value]
