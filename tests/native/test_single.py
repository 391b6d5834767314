"""Sums and choices of single precision that begin with a number of Python's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native, positions

X = np.array([0.5, -1.25, 2.0, 0.75, -0.3], dtype=np.float32)


def sum_from_zero(x, a):
    s = 0.0
    for i in range(5):
        s = s * 0.5 + np.tanh(x[i]) * a
    return s * 1.5


def chosen(x, a):
    s = 1.0
    for i in range(5):
        if x[i] > 0:
            t = x[i]
        else:
            t = 0.0
        s += t * max(x[i], 0.0)
        while s > 2:
            s = s / 2
    return s * a


def log_sum(x, a):
    z, m = 0, x[0]
    for v in x:
        m = max(m, v)
    for i in range(len(x)):
        z += np.exp(x[i] - m)
    return m + np.log(z) * a


@pytest.mark.parametrize("fn", [sum_from_zero, chosen, log_sum])
@pytest.mark.parametrize("a", [0.3, np.float32(0.3)])
def test_same_results(fn, a):
    assert_alike(native(fn, X, a), ad.value_and_grad(fn, positions((X, a)))(X, a), rtol=2e-6)
