"""Indices that count: no position occurs twice, so plain additions will do; where one may, they will not."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.random.default_rng(0).normal(size=(3, 4))
L = np.array([0, 2, 2])


def rows(x, l):
    return np.sum(x[np.arange(len(l)), l] ** 2)


def grid(x, l):
    return np.sum(x[np.arange(3)[:, None], l] ** 2)


def written_count(x, l):
    t = np.arange(3)
    t[1] = 0
    return np.sum(x[t, l] ** 2)


def one_row(x, l):
    return np.sum(x[np.arange(1), l] ** 2)


def stored(x, l):
    t, y = np.arange(3), x.copy()
    y[t, l] = y[t, 0] * 3
    y[t, l] += 2 * x[t, 1] * y[t, l]
    return np.sum(y**2 * x)


def written_labels(x, l):
    t, l, y = np.arange(3), l.copy(), x * x
    a = y[t, l]
    l[0] = 3
    return np.sum(a * y[t, l])


def the_other_axis(x, l):
    return np.sum(np.sin(x)[np.array([1, 1, 1]), np.arange(3)])


@pytest.mark.parametrize(
    "fn", [rows, grid, written_count, one_row, stored, written_labels, the_other_axis], ids=lambda fn: fn.__name__
)
def test_gradient(fn):
    check_gradient(fn, (X, L))


def test_other_lengths():
    gradient = ad.grad(lambda x, l, n: np.sum(x[np.arange(n), l] ** 2))
    for n, labels in ((3, L), (1, L), (1, L[:1]), (0, L[:0])):
        expected = np.zeros_like(X)
        np.add.at(expected, (np.arange(n), labels), 2 * X[np.arange(n), labels])
        np.testing.assert_allclose(gradient(X, labels, n), expected)


def test_written_out():
    assert "add" not in ad.adjoint_source(rows, X, L)
    for fn in (grid, written_count, one_row):
        text = ad.adjoint_source(fn, X, L)
        assert "add_at(" in text or "np.add.at(" in text
