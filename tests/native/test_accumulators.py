"""What an inner loop adds to one place is added up in a variable, where nothing else in it touches that place."""

from __future__ import annotations

import numpy as np
import pytest

numba = pytest.importorskip("numba")

import autodiff_sct as ad  # noqa: E402

R = np.random.default_rng(0)
M = R.uniform(0.5, 1.5, (6, 6)) + 6 * np.eye(6)
V = R.uniform(0.5, 1.5, 6)


def eliminated(x):
    a = x.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a * a)


def weighted(x, w):
    y = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[j] += w[i] * x[i, j] * w[0]
    return np.sum(y * y)


def multiplied(x, w):
    y = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[j] += w[i] * x[i, j]
    return np.sum(y * y)


def filtered(x):
    y = np.zeros(len(x))
    for t in range(2, len(x)):
        y[t] = x[0] * x[t] + x[1] * y[t - 1] - x[-1] * y[t - 2]
    return np.sum(y * y)


def pairs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            if d * d < 0.2:
                total += d * d * d
    return total


def all_pairs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += (x[i] - 2.0 * x[j]) ** 2 * x[i - 1]
    return total


def first_and_others(x):
    total = 0.0
    for i in range(len(x)):
        total += x[0] * x[i] * x[-1]
    return total


def beside_a_row(x):
    a = x.copy()
    total = 0.0
    for i in range(1, a.shape[0]):
        row = a[i]
        for j in range(a.shape[1]):
            total += row[j] * a[1, 2] * a[i - 1, j]
        a[i - 1] = row * 0.5
    return total + np.sum(a)


def behind_the_end(x):
    total = 0.0
    n = len(x)
    for i in range(n + 2):
        for j in range(i + 1, n):
            total += x[i] * x[j] * x[j]
    return total


PROGRAMS = [
    (eliminated, (M,)), (weighted, (M, V)), (multiplied, (M, V)), (filtered, (V,)), (pairs, (V,)), (all_pairs, (V,)),
    (first_and_others, (V,)), (beside_a_row, (M,)), (behind_the_end, (V,)),
]  # fmt: skip


@pytest.mark.parametrize("fn, args", PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_as_the_numpy_program(fn, args, recwarn):
    where = {"grad_position": tuple(range(len(args)))}
    native, plain = ad.grad(fn, **where, backend="numba"), ad.grad(fn, **where)
    small = [a[tuple(slice(0, 3) for _ in a.shape)] for a in args]
    one = [a[tuple(slice(0, 1) for _ in a.shape)] for a in args]
    for given in (args, small, args, *([one] if fn is not beside_a_row else [])):
        try:
            expected = plain(*given)
        except IndexError:
            continue
        for a, b in zip(listed(native(*given)), listed(expected)):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def listed(gradients):
    return gradients if isinstance(gradients, tuple) else (gradients,)


def text(fn, *args):
    return ad.adjoint_source(fn, *args, backend="numba")


def test_added_up_in_a_variable():
    assert "total += d_t * a[k, j]" in text(eliminated, M) and "d_a[i, k] += total" in text(eliminated, M)
    whole = ad.adjoint_source(weighted, M, V, grad_position=(0, 1), backend="numba")
    assert "d_w[i] += total" not in whole and "d_w[0] += total" not in whole  # i may be 0
    whole = ad.adjoint_source(multiplied, M, V, grad_position=(0, 1), backend="numba")
    assert "d_w[i] += total" in whole


@pytest.mark.parametrize("fn", [all_pairs, first_and_others])
def test_places_that_may_be_the_same(fn):
    assert "total_" not in text(fn, V) and "if total != 0.0" not in text(fn, V)
