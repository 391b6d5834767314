"""Sparse matrices that a program assembles element by element, in ``lil_matrix``, ``dok_matrix`` and their like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import autodiff_sct as ad
from autodiff_sct.runtime.scipy.assembly import assembled, cells, standing


def rows(x):
    n = x.size
    a = sparse.lil_matrix((n, n))
    for i in range(n):
        a[i, i] = 2.0 + x[i] ** 2
        if i > 0:
            a[i, i - 1] = -1.0
            a[i - 1, i] = -x[i]
    u = linalg.spsolve(a.tocsr(), np.ones(n))
    return u @ u


def finite_elements(x):
    n = x.size
    k, f = sparse.lil_matrix((n + 1, n + 1)), np.zeros(n + 1)
    for e in range(n):
        element = (1 + x[e] ** 2) * np.array([[1.0, -1.0], [-1.0, 1.0]])
        nodes = [e, e + 1]
        for a in range(2):
            for b in range(2):
                k[nodes[a], nodes[b]] += element[a, b]
        f[nodes] += 0.5
    k[0, :] = 0.0
    k[0, 0] = 1.0
    f[0] = 0.0
    u = linalg.spsolve(k.tocsc(), f)
    return u[-1] + u @ f


def dictionary(x):
    n = x.size
    k = sparse.dok_matrix((n, n), dtype=float)
    for e in range(n - 1):
        k[e, e] = k[e, e] + x[e] ** 2 + 1
        k[e, e + 1] -= 0.5 * x[e]
    k[n - 1, n - 1] = 1.0
    return np.sum((k.tocsr() @ x) ** 2) + k.toarray().sum()


def blocks(x):
    n = x.size
    k = sparse.lil_array((n, n))
    for e in range(n - 1):
        index = np.array([e, e + 1])
        k[np.ix_(index, index)] += (1 + x[e] ** 2) * np.array([[2.0, 1.0], [1.0, 2.0]])
    k.setdiag(x**2 + 5.0)
    k = k.tocsr()
    return np.sum(linalg.spsolve(k, x)) + k.sum()


def begun(x):
    n = x.size
    s = sparse.diags([x**2 + 2, -np.ones(n - 1)], [0, 1]).tolil()
    s[0, n - 1] = x[1]
    s[1, 1] += x[2]
    return (s.T @ x) @ (s @ x)


def constant(x):
    n = x.size
    a = sparse.lil_matrix((n, n))
    for i in range(n):
        a[i, i] = 2.0
    return np.sum((a.tocsr() @ x) ** 2) + a.nnz


@pytest.mark.parametrize("size", [6, 40])
@pytest.mark.parametrize(
    "program", [rows, finite_elements, dictionary, blocks, begun, constant], ids=lambda f: f.__name__
)
def test_assembly(program: Any, size: int) -> None:
    x = np.random.default_rng(3).normal(size=size)
    assert ad.value_and_grad(program)(x)[0] == program(x)
    ad.check_grads(program, (x,))


@pytest.mark.parametrize("seed", range(40))
def test_what_stands_is_what_scipy_stores(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(2, 6, 2))
    stored = sparse.lil_array((n, m))
    parts: list[Any] = [(np.zeros(0), np.zeros(0, int), np.zeros(0, int), np.zeros(0, bool))]
    for _ in range(rng.integers(0, 12)):
        keys: list[Any] = [
            (int(rng.integers(n)), int(rng.integers(m))),
            (int(rng.integers(n)), slice(None)),
            np.ix_(rng.integers(0, n, 2), rng.integers(0, m, 2)),
            (slice(0, 2), slice(0, 2)),
            (rng.integers(0, n, 3), rng.integers(0, m, 3)),
        ]
        key, adds = keys[rng.integers(5)], bool(rng.integers(2))
        i, j = cells(n, m, key)
        value: Any = rng.normal(size=i.shape) * (rng.random() > 0.2)
        value = value if np.ndim(value) else float(value)
        before = stored[key]
        stored[key] = (before.toarray() if sparse.issparse(before) else before) + value if adds else value
        parts.append((np.ravel(value), np.ravel(i), np.ravel(j), np.full(i.size, adds)))
    values, rows_, cols, added = (list(each) for each in zip(*parts))
    kept, i, j = standing(rows_, cols, added)
    found = assembled(np.concatenate(values)[kept], i, j, (n, m), "lil_array", "csr")
    np.testing.assert_array_equal(found.toarray(), stored.toarray())


def degrees(x):
    """Sums of a ``csr_matrix``, which are an ``np.matrix``."""
    n = x.size
    w = sparse.csr_matrix((np.exp(x), (np.arange(n), (np.arange(n) * 3) % n)), shape=(n, n))
    d = np.asarray(w.sum(axis=1)).ravel()
    h = np.power(w.sum(1) + 1.0, -0.5).A1
    p = sparse.diags(1 / np.array(w.sum(1)).flatten()) @ w
    whole = np.asarray(w.todense())[0].sum() + w.mean(axis=0).A1[0] + np.squeeze(np.asarray(1.0 / w.sum(axis=1)))[1]
    return (p @ x) @ x + np.sum(w.sum(axis=0).A1 ** 2) + np.sum(h) + d @ d + whole


@pytest.mark.parametrize("size", [7, 40])
def test_sums_as_matrices(size: int) -> None:
    test_assembly(degrees, size)
