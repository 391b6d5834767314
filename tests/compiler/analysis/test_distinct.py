"""Indices in which no position occurs twice: plain additions will do; where one may, they will not."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

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


CAREFUL = ("add_at(", "np.add.at(", "stored(")  # what text says of positions that may occur twice
DISTINCT: Cases = []
REPEATED: Cases = []
distinct, repeated = registrar(DISTINCT), registrar(REPEATED)
W = np.append(V, [0.1, -0.2])


@distinct(V, W)
def sorted_and_weighed(x):
    order = np.argsort(x)
    return np.sum(x[order] ** 2 * np.arange(len(x)))


@distinct(V, W)
def three_largest(x):
    top = np.argsort(x)[-3:][::-1]
    y = np.exp(x)
    y[top] *= x[top]
    return np.sum(y * y)


@distinct(V, -W, np.abs(V))
def those_found(x):
    i = np.flatnonzero(x > 0)
    (j,) = np.where(x <= 0)
    y = x * 2
    y[i] = x[i] ** 2
    y[j] -= np.nonzero(x > 0)[0].size * x[j]
    return np.sum(y**3)


@distinct(X, X[:2], X.T)
def those_found_along_two_axes(x):
    i, j = np.nonzero(x > 0.1)
    y = np.cos(x)
    y[i, j] += x[i, j] ** 2
    y[np.where(y < 0.5)] *= 2.0
    return np.sum(y * y)


@distinct(X[:, :3], X)
def triangles(x):
    y = np.sin(x)
    y[np.triu_indices(3, 1)] *= x[np.tril_indices(3, -1)]
    y[np.diag_indices(3)] = x[0, :3] ** 2
    return np.sum(y * y)


@distinct(X)
def literal_rows_and_columns(x):
    rows = np.array([2, 0])
    y = x[rows] * x[:, [3, 1]].sum()
    y[:, [-1, -2]] *= y[:, [0, 1]]
    y[0, [2, 3, 0]] += x[1, (1, 2, 3)]
    return np.sum(y**2)


@distinct((W, 3), (W, 0))
def drawn_in_batches(x, seed):
    rng = np.random.default_rng(seed)
    order, total = rng.permutation(len(x)), 0.0
    for k in range(0, len(x), 4):
        batch = order[k : k + 4]
        total = 0.5 * total + np.sum(x[batch] ** 2) * (total + 1)
    some = rng.choice(len(x), size=3, replace=False)
    return total * np.prod(x[some])


@repeated(V)
def chosen_by_a_condition(x):
    i = np.where(x > 0, 1, 2)
    y = x[i] ** 2
    y[i] *= x
    return np.sum(y * x[i])


@repeated(X)
def rows_alone_of_those_found(x):
    i = np.nonzero(x > 0.1)[0]
    return np.sum(x[i] ** 2)


@repeated(X)
def rows_twice_of_those_found(x):
    i, _ = np.nonzero(x[:, :3] > 0)
    return np.sum(x[i, i] ** 2)


@repeated(X)
def order_of_a_matrix(x):
    order = np.argsort(x)
    return np.sum(x[0][order] ** 2)


@repeated(V)
def order_that_is_written(x):
    order = np.argsort(x)
    part = order[1:]
    part[0] = order[0]
    return np.sum(x[order] ** 2)


@repeated(V)
def from_the_front_and_the_end(x):
    y = x * 2
    y[[0, -4, 1]] = x[:3] ** 2
    return np.sum(x[[3, -1]] * y[[0, -4]])


@repeated((V, 3))
def drawn_again(x, seed):
    rng = np.random.default_rng(seed)
    return np.sum(x[rng.choice(len(x), size=9)] ** 2) + np.sum(x[rng.choice(len(x), 9, replace=True)])


@repeated(X)
def one_row_of_an_order(x):
    order = np.argsort(x[:, 0])
    return np.sum(x[order[:1], np.array([1, 1, 2])] ** 2)


@pytest.mark.parametrize(("fn", "args"), DISTINCT + REPEATED, ids=names(DISTINCT + REPEATED))
def test_places_that_are_made(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), DISTINCT, ids=names(DISTINCT))
def test_distinct_places_need_no_care(fn, args):
    text = ad.adjoint_source(fn, *args)
    assert not any(call in text for call in CAREFUL)


@pytest.mark.parametrize(("fn", "args"), REPEATED, ids=names(REPEATED))
def test_places_that_may_occur_twice_do(fn, args):
    text = ad.adjoint_source(fn, *args)
    assert any(call in text for call in CAREFUL)


def test_places_of_other_kinds():
    def f(x, scale):
        order = np.argsort(x)
        y = x[order] * scale
        y[order[:2]] *= 2
        return np.sum(np.real(y * np.conj(y)))

    for x, scale in ((V.astype(np.float32), 2), (V, 1 + 2j), (V.astype(np.float32), np.float32(3))):
        y = np.abs(scale) ** 2 * np.where(np.isin(np.arange(4), np.argsort(x)[:2]), 4, 1)
        expected = np.zeros_like(x)
        expected[np.argsort(x)] = 2 * x[np.argsort(x)] * y
        gradient = ad.grad(f)(x, scale)
        assert gradient.dtype == x.dtype
        np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_second_order():
    inner = ad.grad(sorted_and_weighed)
    order = np.argsort(W)
    expected = np.zeros_like(W)
    expected[order] = 2 * np.arange(len(W))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(inner(x)))(W), expected)


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
