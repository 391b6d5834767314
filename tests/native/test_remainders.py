"""Indices taken round: remainders of whole numbers that are known to be at most one step outside."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native

GRID = np.arange(12.0).reshape(3, 4) / 7 - 0.6


def neighbours(s, a):
    n, m = s.shape
    e = 0.0
    for i in range(n):
        for j in range(m):
            e -= a * s[i, j] * (s[(i + 1) % n, j] + s[i, (j - 1) % m] * s[i, (j - 1 + m) % m])
    return e


def further(x, a):
    n = len(x)
    e = 0.0
    for i in range(n):
        e += x[i] * x[(i + 2) % n] * x[(2 * i) % n] + a * x[(i - 3) % n] + x[(-i) % n]
    return e


def by_another(x, n):
    e = 0.0
    for i in range(5):
        e += x[i] * x[(i + 1) % n]
    return e


def short(x, a):
    e = 0.0
    for i in range(6):
        if i % 2 == 0:
            e += x[i % 2] * a + x[(i + 1) % 2] ** 2
    return e


@pytest.mark.parametrize("fn", [neighbours, further, short])
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (2, 5)])
def test_same_results(fn, shape):
    s = np.resize(GRID, shape) if fn is neighbours else np.resize(GRID, 4)[: max(shape) + (fn is short)]
    assert_alike(native(fn, s, 0.5), ad.value_and_grad(fn, (0, 1))(s, 0.5))


def test_no_division_is_left():
    text = ad.adjoint_source(neighbours, GRID, 0.5, grad_position=(0, 1), backend="numba")
    code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert not any("%" in line for line in code)
    assert not any("assert" in line for line in code)  # a loop over range(n) runs only where n is not zero


@pytest.mark.parametrize("n", [5, 3, -3, 0, 9])
@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
def test_lengths_from_outside(n):
    x = np.linspace(0.1, 1.0, 5)
    try:
        expected = ad.value_and_grad(by_another)(x, n)
    except (IndexError, ZeroDivisionError) as error:
        with pytest.raises(type(error)):
            ad.value_and_grad(by_another, backend="numba")(x, n)
        return
    assert_alike(ad.value_and_grad(by_another, backend="numba")(x, n), expected)
