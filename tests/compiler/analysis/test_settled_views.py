"""Diagonals that are read before the next write are as good as copies; the others see the write."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
M = np.array([[0.4, -0.3, 0.9], [0.2, 0.8, -0.5], [-0.7, 0.1, 0.6]])


@case((M,))
def read_at_once(x):
    n = x.shape[0]
    a = np.zeros((n, n))
    a += x @ x.T
    return np.sum(np.log(np.diag(a))) + np.sum(a * a)


@case((M,))
def read_after_a_write(x):
    n = x.shape[0]
    a = np.zeros((n, n))
    a += x @ x.T
    d = np.diag(a)
    e = np.diag(a) * 2.0
    a[0, 0] = 5.0
    return np.sum(d * d) + np.sum(e**3) + np.sum(a)


@case((M,))
def read_in_a_loop(x):
    n = x.shape[0]
    a = np.zeros((n, n))
    a += x @ x.T
    total = 0.0
    for _ in range(3):
        total += np.sum(np.diag(a) ** 2)
        a[1] = a[1] * 1.1 + np.diag(a)
    return total


@case((M,))
def kept_for_the_next_step(x):
    n = x.shape[0]
    a = np.zeros((n, n))
    a += x @ x.T
    d = np.diag(a)
    total = 0.0
    for k in range(3):
        total += np.sum(d * d)
        a[k, k] = total * 0.1
        d = np.diag(a)
    return total


@case((M,))
def kept_in_a_list(x):
    n = x.shape[0]
    a = np.zeros((n, n))
    a += x @ x.T
    rows = [np.diag(a)]
    a[0, 0] = 5.0 * x[0, 1]
    return np.sum(rows[0] ** 2) + np.sum(a)


@case((M,))
def appended(x):
    n = x.shape[0]
    a = np.zeros((n, n))
    a += x @ x.T
    rows, named = [], {}
    for k in range(n):
        rows.append(np.diag(a))
        named["last"] = np.diag(a)
        a[k, k] *= x[k, 0]
    return np.sum(rows[0] * rows[1]) + np.sum(named["last"] ** 3)


@case((M,))
def not_square(x):
    n = x.shape[0]
    a = np.zeros((n, n + 1))
    a[:, :n] += x @ x.T
    return np.sum(np.diag(a) ** 2)


@case((M,))
def other_diagonal(x):
    a = x * 2.0
    a[0] = a[1] * a[2]
    return np.sum(np.diag(a, 1) ** 3) + np.sum(np.diagonal(a) ** 2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_no_view_of_the_cotangent():
    text = ad.adjoint_source(read_at_once, M)
    assert "np.diag(d_out / np.diag(a))" in text
    assert "writable" not in text


def test_an_overlapping_view_in_a_list_is_refused():
    """Found again there after a write, it shows what has been written."""

    def fn(x):
        a = x * 1.0
        rows = [np.broadcast_to(a[0], (2, 3))]
        a[0, 0] = 5.0 * x[0, 1]
        return np.sum(rows[0] ** 2)

    with pytest.raises(ad.AutodiffError, match="no view of its adjoint"):
        ad.grad(fn)(M)


def second_read_after_a_write(x, y):
    _, shown = np.broadcast_arrays(x, y)
    y[0] = 5.0
    return np.sum(shown**2)


def both_read_at_once(x):
    y = np.outer(x, x)
    a, b = np.broadcast_arrays(x, y)
    total = np.sum(a * b**2)
    y[0] = 5.0
    return total + np.sum(y)


def test_each_of_several_views_is_read_before_the_next_write():
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ad.AutodiffError, match="views that are made at once"):
        ad.grad(second_read_after_a_write, 1)(x, M)
    check_gradient(both_read_at_once, (x,))
