"""Copies of the arrays that a function is given."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

__all__ = ["layout_copy", "with_imag"]


def layout_copy(x: Any) -> Any:
    """Copy an array that the program writes, so that it lies in memory as the original does.

    NumPy and BLAS add up in another order what does not lie side by side, or runs backwards: the value of the program
    depends on it in its last digits.  What lies apart is apart by one number in the copy.
    """
    if not isinstance(x, np.ndarray) or x.flags.forc or not x.size:
        return copy.copy(x)
    axes = sorted(range(x.ndim), key=lambda k: -abs(x.strides[k]))
    lengths = [x.shape[k] for k in axes]
    steps = [abs(x.strides[k]) for k in axes]
    inner = [n * step for n, step in zip(lengths[1:], steps[1:])] + [x.itemsize]
    gaps = [step != size for step, size in zip(steps, inner)]
    room = np.empty([lengths[0], *(n + gap for n, gap in zip(lengths[1:], gaps)), 1 + gaps[-1]], x.dtype)
    part: Any = room[(*map(slice, lengths), 0)]  # type: ignore[arg-type]
    part = part[tuple([slice(None, None, -1 if x.strides[k] < 0 else 1) for k in axes])]
    part = part.transpose(np.argsort(axes))
    part[...] = x
    return part


def with_imag(z: Any, part: Any) -> Any:
    """A copy of a complex array with another imaginary part."""
    result = np.array(z)
    result.imag = part
    return result
