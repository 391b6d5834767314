"""Filters of ``scipy.signal`` that start from a state: SciPy computes; of these texts derivatives are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

__all__ = ["from_state", "sections_from_state"]


def from_state(b: Any, a: Any, x: Any, axis: int, zi: Any) -> Any:
    """``lfilter(b, a, x, axis, zi)``: what is filtered, and the state in which the filter ends.

    A state has the response that a signal of its numbers has to the recursive part alone, and the state at the end is
    found from the response to the zeros behind the signal.
    """
    b, a = b / a[0], a / a[0]
    x, zi = np.moveaxis(x, axis, -1), np.moveaxis(zi, axis, -1)
    zi = np.reshape(zi, (*np.shape(x)[:-1], -1))
    n, order = x.shape[-1], zi.shape[-1]
    wide = np.concatenate([x, np.zeros((*x.shape[:-1], order))], -1)
    start = np.concatenate([zi, np.zeros((*x.shape[:-1], n))], -1)
    y = signal.lfilter(b, a, wide) + signal.lfilter(np.ones(1), a, start)
    end = signal.lfilter(a, np.ones(1), y[..., n:])
    return np.moveaxis(y[..., :n], -1, axis), np.moveaxis(end, -1, axis)


def sections_from_state(sos: Any, x: Any, axis: int, zi: Any) -> Any:
    """``sosfilt(sos, x, axis, zi)``, section by section."""
    ends = []
    for k in range(len(sos)):
        x, end = from_state(sos[k, :3], sos[k, 3:], x, axis, zi[k])
        ends.append(end)
    return x, np.stack(ends)
