"""`sparse_jacobian` and `sparse_hessian`: the dense derivative, as a sparse matrix from few directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special
from scipy.sparse import csr_array

import autodiff_sct as ad
from autodiff_sct import sparse_hessian, sparse_jacobian
from autodiff_sct.errors import ArgumentTypeError, AutodiffError, NotDifferentiable
from autodiff_sct.runtime.sparsity import coloured
from autodiff_sct.runtime.sparsity.run import greedy

RNG = np.random.default_rng(6)


def tridiagonal(x: Any) -> Any:
    y = -2 * x + np.sin(x) * x
    y[1:] += x[:-1] ** 2
    y[:-1] += x[1:] ** 3
    return y


def energy(x: Any) -> Any:
    return np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum(np.cos(x))


@pytest.mark.parametrize("size", [1, 3, 130, 1000])
def test_sizes(size: int) -> None:
    x = RNG.normal(size=size)
    jacobian, hessian = sparse_jacobian(tridiagonal)(x), sparse_hessian(energy)(x)
    assert isinstance(jacobian, csr_array) and jacobian.nnz == hessian.nnz == 3 * size - 2
    np.testing.assert_allclose(jacobian.toarray(), ad.jacfwd(tridiagonal)(x), rtol=1e-12)
    np.testing.assert_allclose(hessian.toarray(), ad.hessian(energy)(x), rtol=1e-12, atol=1e-14)


def test_a_hundred_thousand() -> None:
    x = RNG.normal(size=100_000)
    found = sparse_jacobian(tridiagonal)(x)
    np.testing.assert_allclose(found.diagonal(), -2 + np.sin(x) + x * np.cos(x), rtol=1e-12)
    np.testing.assert_allclose(found.diagonal(1), 3 * x[1:] ** 2, rtol=1e-12)
    assert found.nnz == 3 * x.size - 2


def loop(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = x[i] * x[i - 1]
    return y


def through_views(x: Any) -> Any:
    x = x.copy()
    tail = x[1:]
    tail[0] = x[3]
    tail *= 2
    return x.reshape(2, 3)


def five_points(u: Any) -> Any:
    r = np.zeros_like(u)
    inside = u[1:-1, 1:-1]
    r[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inside**2
    return r


X, TABLE = RNG.normal(size=6), RNG.normal(size=(5, 4))
PROGRAMS: list[tuple[Any, Any, int]] = [
    (loop, X, 10),
    (through_views, X, 6),
    (five_points, RNG.normal(size=(9, 8)), 210),
    (lambda x: x[::-1] * x, X, 12),
    (lambda x: np.diff(x) ** 2, X, 10),
    (lambda x: np.maximum(x[1:], x[:-1]), X, 10),
    (lambda x: np.where(x > 0, x, x**2), X, 6),
    (lambda x: x * 2 if x[0] > 0 else x[::-1], X, 6),
    (lambda x: np.concatenate([x[:2], x**2]), X, 8),
    (lambda x: np.array([x[0], x[1] * x[2]]), X, 3),
    (lambda x: x[[0, 0, 3]] * x[np.arange(3)], X, 5),
    (lambda x: special.gammaln(x**2) + special.erf(x), X, 6),
    (lambda u: u.T * 2 + np.roll(u, 1, 0).T, TABLE, 40),
    (lambda u: u.sum(0) + u.mean(axis=0), TABLE, 20),
    (lambda u: u.reshape(-1)[:5] * u.ravel()[5:10], TABLE, 10),
    (np.cumsum, X, 36),
    (lambda x: np.linalg.norm(x) * x, X, 36),
    (lambda x: np.sum(x), X, 6),
    (lambda x: x.astype(np.float32) * 2, X, 6),
]


@pytest.mark.parametrize(("f", "x", "entries"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_patterns(f: Any, x: Any, entries: int) -> None:
    found = sparse_jacobian(f)(x)
    assert found.nnz == entries
    np.testing.assert_allclose(found.toarray(), np.reshape(ad.jacfwd(f)(x), found.shape), rtol=1e-6, atol=1e-12)


def test_a_pattern_that_depends_on_values() -> None:
    jacobian = sparse_jacobian(lambda x, n: x * x[0] if x[1] > 0 else np.roll(x, n))
    for x, n in ((X, 1), (-X, 1), (-X, 2), (X, 2)):
        dense = ad.jacfwd(lambda x: x * x[0] if x[1] > 0 else np.roll(x, n))(x)
        np.testing.assert_allclose(jacobian(x, n).toarray(), dense)


def test_rows_where_they_are_fewer() -> None:
    def arrow(x: Any) -> Any:
        return np.concatenate([x[:1] * np.sum(x), x[1:] ** 2])

    np.testing.assert_allclose(sparse_jacobian(arrow)(X).toarray(), ad.jacrev(arrow)(X))
    wide = sparse_jacobian(lambda x: np.sum(x**2))(X)
    np.testing.assert_allclose(wide.toarray(), 2 * X[None])


def test_colours_share_no_row() -> None:
    for density in (0.02, 0.1):
        dense = RNG.uniform(size=(40, 30)) < density
        pattern = csr_array(dense)
        for colours in (coloured(pattern), greedy(pattern)):
            for colour in range(colours.max() + 1):
                assert dense[:, colours == colour].sum(axis=1).max(initial=0) <= 1


def test_other_transformations() -> None:
    found = sparse_jacobian(lambda x: ad.grad(energy)(x))(X)
    np.testing.assert_allclose(found.toarray(), ad.hessian(energy)(X))
    shifted = sparse_jacobian(lambda a, x: a * x[1:] * x[:-1], 1)(2.0, X)
    assert shifted.nnz == 10


def test_refusals() -> None:
    with pytest.raises(ArgumentTypeError, match="one position"):
        sparse_jacobian(np.sin, (0, 1))  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="an array of floats, not list"):
        sparse_jacobian(np.sin)([1.0])
    with pytest.raises(ArgumentTypeError, match="returns an array or a number"):
        sparse_jacobian(lambda x: (x, x))(X)
    with pytest.raises(ArgumentTypeError, match="2 arguments|1 arguments"):
        sparse_jacobian(np.sin, 1)(X)

    def prints(x: Any) -> Any:
        print(x[0])
        return x

    with pytest.raises(NotDifferentiable, match="besides returning"):
        sparse_jacobian(prints)(X)
    with pytest.raises(AutodiffError):
        ad.grad(lambda x: np.sum(sparse_jacobian(tridiagonal)(x).data))(X)
