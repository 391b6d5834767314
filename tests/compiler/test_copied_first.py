"""The cotangent of a copy whose items a loop overwrites: where it is that of the original to begin with, where not."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes

from .checked import Cases, check_gradient, names, registrar

ACTS: Cases = []
STAYS: Cases = []
acts, stays = registrar(ACTS), registrar(STAYS)
V = np.array([0.4, 1.3, -0.7, 0.9, 0.2])
M = np.cos(np.arange(20.0)).reshape(4, 5)


@acts((V, 3), (V, 0), (V[:1], 2))
def diffused(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] * u[i + 1] - u[i] ** 2)
        u = new
    return np.sum(u**2)


@acts((M, 3))
def diffused_in_the_plane(u, steps):
    n, m = u.shape
    for _ in range(steps):
        new = u.copy()
        for i in range(1, n - 1):
            for j in range(m - 2, 0, -1):
                new[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] - 2.0 * u[i, j]) * u[i, j - 1]
        u = new
    return np.sum(u**2)


@acts((V, 3))
def on_one_side(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(len(u) - 1):
            if u[i] > 0.3:
                new[i] = u[i] + 0.5 * u[i + 1] * u[i]
        u = new
    return np.sum(u**2)


@acts((V,))
def levinson(r):
    a = np.zeros(len(r))
    a[0] = 1.0
    for k in range(1, len(r)):
        s = 0.0
        for j in range(k):
            s = s + a[j] * r[k - j]
        new = a.copy()
        for j in range(1, k + 1):
            new[j] = a[j] - s * a[k - j]
        a = new
    return np.sum(a * a)


@stays((V, 3))
def overwritten_twice(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            for _ in range(2):
                new[i] = u[i] + 0.1 * u[i - 1] * u[i]
        u = new
    return np.sum(u**2)


@stays((V, 3))
def counted_from_both_ends(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(-2, 4):
            new[i] = u[i] + 0.1 * u[i - 1] * u[i]
        u = new
    return np.sum(u**2)


@stays((V, 3))
def at_shifted_places(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(4):
            new[i + 1] = u[i + 1] + 0.1 * u[i] * u[i + 1]
        u = new
    return np.sum(u**2)


@stays((V, 3))
def overwritten_only(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = 0.1 * u[i - 1] * u[i]
        u = new
    return np.sum(u**2)


@stays((V, 3))
def read_again(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = u[i] + 0.1 * new[i - 1] * u[i]
        u = new
    return np.sum(u**2)


@stays((V, 3))
def seen_after_each_step(u, steps):
    total = 0.0
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = u[i] + 0.1 * u[i - 1] * u[i]
        total = total + new[1] * u[1]
        u = new
    return np.sum(u**2) + total


@stays((V, 3))
def two_loops(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = u[i] + 0.1 * u[i - 1] * u[i]
        for i in range(2, 4):
            new[i] = u[i] - 0.1 * u[i - 1] * u[i]
        u = new
    return np.sum(u**2)


@stays((V, 3))
def both_are_kept(u, steps):
    old = u
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = u[i] + 0.1 * u[i - 1] * old[i]
        old, u = u, new
    return np.sum(u**2) + np.sum(old)


@pytest.mark.parametrize(("fn", "args"), ACTS + STAYS, ids=names(ACTS + STAYS))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with passes.without("copy_first"):
        expected = ad.grad(lambda u: fn(u, *args[1:]))(args[0])
    np.testing.assert_allclose(ad.grad(fn)(*args), expected, rtol=1e-12, atol=1e-14)


def test_no_cotangent_is_cleared():
    text = ad.adjoint_source(diffused, V, 3)
    assert "d_u[i] = 0.0" not in text
    assert text.count("+=") == 2


@pytest.mark.parametrize(("fn", "args"), ACTS[3:6], ids=names(ACTS[3:6]))
def test_it_acts(fn, args):
    assert ".copy()" in ad.adjoint_source(fn, *args).partition("# ")[2]


def test_infinite_items():
    with np.errstate(all="ignore"):
        u = np.array([np.inf, 1.0, np.nan, 2.0, 0.0])
        expected = diffused(u, 2)
        assert np.array_equal(ad.value_and_grad(diffused)(u, 2)[0], expected, equal_nan=True)
