"""Integrals of samples as texts in NumPy, of which derivatives are taken; SciPy computes the values."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["cumulative_simpson"]


def cumulative_simpson(y: Any, x: Any, dx: Any, axis: int, initial: Any) -> Any:
    """``cumulative_simpson(y, x=x, dx=dx, axis=axis, initial=initial)``."""
    y = np.moveaxis(y, axis, -1)
    if x is None:
        steps = np.full(y.shape[-1] - 1, 1.0) * (dx if np.ndim(dx) == 0 else np.moveaxis(dx, axis, -1))
    else:
        steps = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    found = np.cumsum(between(y, steps), -1)
    if initial is not None:
        start = initial if np.ndim(initial) == 0 else np.moveaxis(initial, axis, -1)
        found = np.concatenate([np.zeros_like(y[..., :1]), found], -1) + start
    return np.moveaxis(found, -1, axis)


def between(y: Any, steps: Any) -> Any:
    """The integrals over each step: by the parabola through the next point, at the last one through the one before."""
    last = y.shape[-1] - 2
    if last == 0:
        return steps * (y[..., 1:] + y[..., :-1]) / 2
    ahead = over_first(y, steps)
    back = np.flip(over_first(np.flip(y, -1), np.flip(steps, -1)), -1)
    none = np.zeros_like(ahead[..., :1])
    at = np.arange(last + 1)
    own = (at % 2 == 0) & (at < last)
    return np.where(own, np.concatenate([ahead, none], -1), np.concatenate([none, back], -1))


def over_first(y: Any, steps: Any) -> Any:
    """The integrals over the first of two steps of the parabola through three points."""
    h, k = steps[..., :-1], steps[..., 1:]
    part, ratio = h / (h + k), h / k
    mixed = part * ratio
    return h / 6 * ((3 - part) * y[..., :-2] + (3 + mixed + part) * y[..., 1:-1] - mixed * y[..., 2:])
