"""Rules for functions that make arrays, and for the run-time helpers that fit a derivative to its value.

What an array is filled with is differentiable; its shape is not.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import NoRule
from ..runtime import ones_like, spread, unbroadcast, zeros_like
from .table import forward, nondifferentiable, reverse

nondifferentiable(zeros_like, ones_like)
nondifferentiable(
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.zeros_like, np.ones_like, np.empty_like,
    np.bartlett, np.blackman, np.hamming, np.hanning,
    np.linalg.matrix_rank,
)  # fmt: skip


@reverse(np.full)
def full(y, d, shape, fill_value, dtype=None):
    return None, d


@forward(np.full)
def push_full(y, d, shape, fill_value, dtype=None):
    return None, np.full(shape, d)


@reverse(np.full_like)
def full_like(y, d, a, fill_value, dtype=None):
    return 0.0, d


@forward(np.full_like)
def push_full_like(y, d, a, fill_value, dtype=None):
    return 0.0, np.full_like(y, d)


@reverse(np.linspace)
def linspace(y, d, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    share = np.linspace(0.0, 1.0, num, endpoint, dtype=d.dtype)
    if d.ndim == 1:
        return d @ (1.0 - share), d @ share
    return np.tensordot(1.0 - share, d, (0, axis)), np.tensordot(share, d, (0, axis))


@forward(np.linspace)
def push_linspace(y, d, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    return (
        np.linspace(d, np.zeros_like(stop), num, endpoint, axis=axis),
        np.linspace(np.zeros_like(start), d, num, endpoint, axis=axis),
    )


@reverse(np.arange)
def arange(y, d, start_or_stop, stop=None, step=1, *, dtype=None):
    if stop is None:
        return 0.0, None, d @ np.arange(y.size, dtype=d.dtype)
    return np.sum(d), 0.0, d @ np.arange(y.size, dtype=d.dtype)


@forward(np.arange)
def push_arange(y, d, start_or_stop, stop=None, step=1, *, dtype=None):
    first = 0.0 if stop is None else 1.0
    return np.full_like(y, first * d), 0.0, d * np.arange(y.size)


@reverse(np.logspace)
def logspace(y, d, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    d_start, d_stop = linspace(exponents, d * y * log_of(base), start, stop, num, endpoint, axis=axis)
    return d_start, d_stop, None, None, np.sum(d * y * exponents) / base


@forward(np.logspace)
def push_logspace(y, d, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    of_start, of_stop = push_linspace(exponents, d, start, stop, num, endpoint, axis=axis)
    return y * log_of(base) * of_start, y * log_of(base) * of_stop, None, None, d * y * exponents / base


def log_of(base):
    if np.ndim(base) > 0:
        raise NoRule("np.logspace is differentiable with one number as base")
    return math.log(base) if isinstance(base, (int, float)) else np.log(base)


@reverse(np.geomspace)
def geomspace(y, d, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    # y = start ** (1 - share) * stop ** share
    d_start, d_stop = linspace(y, d * y, start, stop, num, endpoint, axis=axis)
    return d_start / start, d_stop / stop


@forward(np.geomspace)
def push_geomspace(y, d, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    of_start, of_stop = push_linspace(y, d / start, start, stop, num, endpoint, axis=axis)[0], d / stop
    return y * of_start, y * push_linspace(y, of_stop, start, stop, num, endpoint, axis=axis)[1]


@reverse(np.fft.fftfreq, np.fft.rfftfreq)
def fftfreq(y, cotangent, n, d=1.0):
    return None, -np.sum(cotangent * y) / d


@forward(np.fft.fftfreq, np.fft.rfftfreq)
def push_fftfreq(y, tangent, n, d=1.0):
    return None, -tangent * y / d


# Fitting a derivative to its value: sums and repetitions, whose transposes are repetitions and sums.


# The value that is fitted to lends its shape only.


@reverse(unbroadcast, spread)
def unbroadcast_rule(y, d, cotangent, like):
    return unbroadcast(d, cotangent), 0.0


@forward(unbroadcast, spread)
def push_unbroadcast(y, d, cotangent, like):
    return unbroadcast(d, like), 0.0
