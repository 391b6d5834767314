"""Loops of the reverse sweep run forwards where the order of their iterations does not matter, and only there."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native, positions

X = np.linspace(-1.0, 2.0, 30).reshape(6, 5)
V = np.linspace(0.2, 1.4, 9)


def kernel(x, w):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            r = 0.0
            for k in range(x.shape[1]):
                d = x[i, k] - x[j, k]
                r += d * d
            total += w[i] * w[j] * math.exp(-r)
    return total


def running(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
    return np.sum(y)


def decay(x, a):
    s = 0.0
    for i in range(len(x)):
        s = a * s + x[i]
    return s


def at_places(x):
    y = np.zeros(4)
    for i in range(len(x)):
        y[i % 4] = x[i] * x[i]
    return np.sum(y * np.arange(4))


def overwritten(x):
    y = np.zeros(3)
    for i in range(len(x)):
        y[0] = x[i] * 2.0
        y[1] += y[0] * x[i]
    return y[0] * y[1]


def shifted(x):
    y = x * 1.0
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * x[i]
    return np.sum(y * y)


CASES = {
    kernel: (X, V[:6]), running: (V,), decay: (V, 0.9), at_places: (V,), overwritten: (V,), shifted: (V,),
}  # fmt: skip


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_same_results(fn):
    args = CASES[fn]
    assert_alike(native(fn, *args), ad.value_and_grad(fn, positions(args))(*args))


def backward_loops(fn):
    args = CASES[fn]
    source = ad.adjoint_source(fn, *args, grad_position=positions(args), backend="numba")
    return sum("-1, -1)" in line or "0, -1)" in line for line in source.splitlines())


def test_free_loops_run_forwards():
    assert backward_loops(kernel) == 1  # the outer one, which takes back the count of what is saved


@pytest.mark.parametrize("fn", [running, decay, at_places, overwritten, shifted])
def test_others_run_backwards(fn):
    assert backward_loops(fn) == 1
