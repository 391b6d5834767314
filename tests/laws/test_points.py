"""What the rules do where a derivative does not exist or is a matter of choice, and what differences cannot show."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.rules
from autodiff_sct.rules.table import TABLE

pytestmark = pytest.mark.once

RNG = np.random.default_rng(2)
A = RNG.uniform(-1, 1, (3, 3))
HERMITIAN = A + A.T + 1j * (A - A.T)


def pull(fn: Callable[..., Any], d: Any, *args: Any, **kwargs: Any) -> Any:
    """The entries of the reverse rule of `fn`."""
    rule = TABLE[fn].reverse
    assert rule is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return rule(fn(*args, **kwargs), d, *args, **kwargs)


@pytest.mark.parametrize("ord", [None, 1, 2, np.inf, 3])
def test_norm_at_zero(ord: Any) -> None:
    assert pull(np.linalg.norm, 1.0, np.zeros(3), ord).tolist() == [0.0, 0.0, 0.0]
    assert not pull(np.linalg.norm, np.ones(2), np.zeros((2, 3)), ord, axis=1).any()
    assert not pull(np.linalg.norm, 1.0, np.zeros(3, complex), ord).any()


def test_logistic_function_does_not_overflow() -> None:
    for dtype, cut in ((np.float64, 700), (np.float32, 88)):
        ends = pull(np.logaddexp, 1.0, 0.0, np.array([-50, -1e4, 0, 1e4, np.inf, -np.inf], dtype))[1]
        assert ends.dtype == dtype
        np.testing.assert_allclose(ends, [np.exp(-50), 0, 0.5, 1, 1, 0], rtol=1e-6, atol=np.exp(1.0 - cut))


def test_mean_of_nothing() -> None:
    for fn in (np.mean, np.average):
        rule = TABLE[fn].reverse
        assert rule is not None and np.shape(rule(np.nan, 1.0, np.ones(0))) in ((), (0,))


def test_ties_share_evenly() -> None:
    x = np.array([2.0, -2.0, 1.0])
    assert pull(np.linalg.norm, 1.0, x, np.inf).tolist() == [0.5, -0.5, 0.0]
    assert pull(np.linalg.norm, 1.0, np.eye(2), 1).tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert np.allclose(pull(np.linalg.norm, 1.0, np.eye(2), 2), np.eye(2) / 2)


def test_hermitian_eigenvectors() -> None:
    """Through a function that no phase changes: the product v diag(w) v^H is the matrix itself."""
    w, v = np.linalg.eigh(HERMITIAN)
    d = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
    d_w = np.real(np.einsum("ik,ij,jk->k", v, d, v.conj()))
    d_v = d @ v.conj() * w + np.conj(d.T @ v * w)
    got = pull(np.linalg.eigh, (d_w, d_v), HERMITIAN)
    # Each element below the diagonal stands for its mirror image, the diagonal for its real part.
    below = np.tril(d, -1) + np.tril(np.conj(d.T), -1)
    np.testing.assert_allclose(got, below + np.diag(np.diag(d).real), atol=1e-12)


def test_the_phase_of_eigenvectors_is_arbitrary() -> None:
    w, v = np.linalg.eigh(HERMITIAN)
    with pytest.raises(NotImplementedError, match="phase"):
        pull(np.linalg.eigh, (None, np.ones_like(v)), HERMITIAN)


def test_repeated_eigenvalues() -> None:
    """Eigenvalues that coincide still have a derivative as long as no eigenvector is asked for."""
    assert np.allclose(pull(np.linalg.eigh, (np.ones(3), None), np.eye(3)), np.eye(3))
    assert np.allclose(pull(np.linalg.svd, (None, np.ones(2), None), np.ones((2, 4))).sum(), np.sqrt(8))


def test_einsum_with_a_path() -> None:
    b, c, d = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))
    path = np.einsum_path("ij,jk,kl->il", A, b, c)[0]
    for optimize in (True, "greedy", path):
        got = pull(np.einsum, d, "ij,jk,kl->il", A, b, c, optimize=optimize)
        np.testing.assert_allclose(got[2], A.T @ d @ c.T)


def test_sparse_meshgrid() -> None:
    x, y = np.ones(3), np.ones(2)
    d = [np.array([[1.0, 2.0, 3.0]]), np.array([[4.0], [5.0]])]
    got = pull(np.meshgrid, d, x, y, sparse=True)
    assert got[0].tolist() == [1.0, 2.0, 3.0] and got[1].tolist() == [4.0, 5.0]


@pytest.mark.parametrize(
    ("fn", "args", "kwargs"),
    [
        (np.linalg.qr, (np.ones((2, 3)),), {}),
        (np.linalg.qr, (A,), {"mode": "complete"}),
        (np.pad, (A, 1, "mean"), {}),
        (np.einsum, (A, [0, 1], A, [1, 2]), {}),
        (np.block, ([[[A, A]]],), {}),
        (np.array, ([[[[[1.0]]]]],), {}),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_refused(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    y = fn(*args, **kwargs)
    d = [np.zeros_like(part) for part in y] if isinstance(y, tuple) else np.zeros_like(y)
    with pytest.raises(NotImplementedError, match=r"np\."):
        pull(fn, d, *args, **kwargs)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 5, 3)])
def test_the_leading_vectors_of_all(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(4).normal(size=shape)
    k = min(shape[-2:])

    def product(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a)
        return np.sum(np.sin(u[..., :k] @ vh[..., :k, :]) * np.sum(s))

    def thin(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.sin(u @ vh) * np.sum(s))

    np.testing.assert_allclose(ad.grad(product)(a), ad.grad(thin)(a), 1e-9, 1e-9)


def test_the_vectors_beyond_the_singular_values() -> None:
    with pytest.raises(NotImplementedError, match="beyond"):
        ad.grad(lambda a: np.sum(np.abs(np.linalg.svd(a)[0])))(np.random.default_rng(4).normal(size=(4, 2)))


def test_vectors_of_two_components() -> None:
    rule = TABLE[np.cross].reverse
    assert rule is not None
    with pytest.raises(NotImplementedError, match="2 components"):
        rule(np.float64(1.0), np.float64(1.0), np.ones(2), np.ones(2))


def test_singular_matrix_is_refused_by_numpy() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        pull(np.linalg.det, 1.0, np.zeros((2, 2)))
