"""A long chain of element-wise functions on a large array."""

import math

import numpy as np

KIND = "dense"
WRT = (0,)


def inputs(quick):
    return (np.random.default_rng(0).normal(size=1000 if quick else 1_000_000),)


def primal(x):
    a = np.sin(x) * np.exp(-0.5 * x * x)
    b = np.tanh(a + x)
    c = np.sqrt(1.0 + b * b)
    d = np.log(1.0 + c * c)
    return np.sum(d * a)


def hand(x):
    d_x = x * x
    d_x *= -0.5
    np.exp(d_x, out=d_x)
    a = np.sin(x)
    a *= d_x
    d_x *= np.cos(x)
    b = a + x
    # d_x becomes da/dx.
    square = a * x
    d_x -= square
    np.tanh(b, out=b)
    np.multiply(b, b, out=square)
    # With s = b * b: d = log(2 + s), so d d/db = 2 * b / (2 + s).
    d_b = 1 - square
    square += 2
    b *= 2
    b /= square
    b *= a
    d_b *= b
    np.log(square, out=square)
    square += d_b
    d_x *= square
    d_x += d_b
    return d_x


def hand_numba(x):
    d_x = np.empty_like(x)
    for i in range(len(x)):
        bell = math.exp(-0.5 * x[i] * x[i])
        a = math.sin(x[i]) * bell
        b = math.tanh(a + x[i])
        c2 = 1.0 + b * b
        d_b = a * 2.0 * b / (1.0 + c2) * (1.0 - b * b)
        d_a = math.log(1.0 + c2) + d_b
        d_x[i] = d_b + d_a * (math.cos(x[i]) * bell - a * x[i])
    return d_x
