"""Ranges and slices with steps."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native, positions


def red_black(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2])
        u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2])
    return np.sum(u * u)


def by_threes(x, n):
    total = x[0]
    for i in range(1, n, 3):
        for j in range(len(x) - 1, i, -2):
            total = total * 0.9 + x[i] * x[j] * total + x[j]
    return total


def downwards(x, n):
    total = x[0] + 1.0
    for i in range(n, 0, -2):
        total = total * x[i] + x[i - 1]
    return total


CASES = {
    red_black: [(np.linspace(0.3, 1.0, n) ** 2, 3) for n in (9, 7)],
    by_threes: [(np.linspace(0.3, 1.0, 8), n) for n in (8, 7, 6, 2, 1, 0)],
    downwards: [(np.linspace(0.3, 1.0, 8), n) for n in (7, 6, 1, 0, -1)],
}


@pytest.mark.parametrize(("fn", "args"), [(fn, a) for fn, cases in CASES.items() for a in cases])
def test_same_results(fn, args):
    assert_alike(native(fn, *args), ad.value_and_grad(fn, positions(args))(*args))
