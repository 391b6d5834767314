"""Arrays that a loop collects in a list, and what becomes of them as one array."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)


@case((V, 3), (V, 0))
def history(x, n):
    states = [x]
    for _ in range(n):
        x = x * np.sin(x)
        states.append(x)
    return np.sum(np.stack(states) ** 2)


@case((V, 3))
def stacked_along_the_second_axis(x, n):
    rows = []
    for k in range(n):
        rows.append(x**2 * k)
    return np.sum(np.stack(rows, axis=1)[0] * x[:n])


@case((V, 3))
def stacked_twice(x, n):
    rows = []
    for k in range(n):
        rows.append(x * k + x**2)
    return np.sum(np.stack(rows) ** 3) + np.sum(np.array(rows)[1] * x)


@case((V, 3))
def cut_and_used_again(x, n):
    rows = []
    for k in range(n):
        rows.append(np.cos(x) * k)
    table = np.array(rows)
    return np.sum(table[:, 0] * table[:, -1]) + np.sum(rows[-1] * rows[0] * x) + rows[1][2] ** 2


@case((V, 3))
def one_array_several_times(x, n):
    y = np.sin(x)
    rows = []
    for _ in range(n):
        rows.append(y)
    return np.sum(np.stack(rows) * np.arange(1.0, n + 1)[:, None] * y)


@case((V, 3))
def stacked_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        rows = []
        for j in range(k + 1):
            rows.append(x * (total + j))
        total = np.sum(np.stack(rows) ** 2) / (k + 3)
    return total


@case((V, 3))
def returned(x, n):
    rows = []
    for k in range(n):
        x = x * np.cos(x)
        rows.append(x * k)
    return np.array(rows)


@case((V, 3))
def rows_of_two_ranks(x, n):
    rows = []
    for k in range(n):
        rows.append(np.outer(x, x) * k)
    return np.sum(np.stack(rows)[:, 1] ** 2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullback_may_be_run_again(fn, args):
    value, pull = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    (first,), (second,) = (pull(np.ones_like(value)) for _ in range(2))
    np.testing.assert_array_equal(second, first)
    np.testing.assert_allclose(first, ad.grad(fn)(*args), rtol=1e-12)


def test_text():
    source = ad.adjoint_source(history, V, 3)
    assert "d_states = list(" in source and "zeros_like(states)" not in source


def test_again():
    def slope(x):
        return np.sum(ad.grad(history)(x, 3) * np.arange(1.0, 5.0))

    check_gradient(slope, (V,))


def test_dtypes_stay():
    def mixed(x):
        rows = []
        for k in range(3):
            rows.append(x * k)
        return np.sum(np.array(rows, dtype=np.float64) ** 2)

    assert ad.grad(mixed)(V.astype(np.float32)).dtype == np.float32
    assert ad.grad(history)(V.astype(np.float32), 3).dtype == np.float32


def test_results_are_not_seeds():
    def collected(x):
        rows = []
        for row in x:
            rows.append(row)
        return np.stack(rows)

    seed = np.ones((2, 3))
    _, pull = ad.vjp(collected, np.ones((2, 3)))
    (found,) = pull(seed)
    found += 1.0
    np.testing.assert_array_equal(seed, np.ones((2, 3)))
    np.testing.assert_array_equal(pull(seed)[0], np.ones((2, 3)))
