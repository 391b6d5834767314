"""Rosenbrock's function of a million variables: slices of one large array."""

import numpy as np

KIND = "dense"
WRT = (0,)


def inputs(quick):
    return (np.random.default_rng(0).normal(size=1000 if quick else 1_000_000),)


def primal(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def hand(x):
    left = x[:-1]
    d_x = np.empty_like(x)
    valley = left * left
    np.subtract(x[1:], valley, out=valley)
    valley *= 200.0
    np.subtract(left, 1.0, out=d_x[:-1])
    d_x[:-1] *= 2.0
    d_x[-1] = 0.0
    d_x[1:] += valley
    valley *= left
    valley *= 2.0
    d_x[:-1] -= valley
    return d_x


def hand_numba(x):
    n = len(x)
    d_x = np.empty(n)
    before = 0.0
    for i in range(n - 1):
        valley = 200.0 * (x[i + 1] - x[i] * x[i])
        d_x[i] = before - 2.0 * x[i] * valley - 2.0 * (1.0 - x[i])
        before = valley
    d_x[n - 1] = before
    return d_x
