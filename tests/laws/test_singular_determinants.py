"""The determinant of a singular matrix has a derivative: the matrix of its cofactors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

RNG = np.random.default_rng(0)


def singular(n: int, rank: int) -> np.ndarray:
    return RNG.integers(-3, 4, (n, rank)) @ RNG.integers(-3, 4, (rank, n)) + np.zeros((n, n))


def cofactors(a: np.ndarray) -> np.ndarray:
    found = np.empty_like(a)
    for i, j in np.ndindex(a.shape):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        found[i, j] = (-1) ** (i + j) * (np.linalg.det(minor) if minor.size else 1.0)
    return found


def of_one(a: Any) -> Any:
    return np.linalg.det(a)


@pytest.mark.parametrize(
    ("n", "rank"), [(n, rank) for n in (1, 2, 3, 6, 10) for rank in {0, n - 2, n - 1} if rank >= 0]
)
def test_cofactors(n: int, rank: int) -> None:
    a, way = singular(n, rank), RNG.normal(size=(n, n))
    expected = cofactors(a)
    scale = 1e-14 * max(1.0, float(np.linalg.norm(a, 2))) ** (n - 1)
    np.testing.assert_allclose(ad.grad(of_one)(a), expected, 1e-9, scale)
    value, gradient = ad.value_and_grad(of_one)(a)
    assert value == np.linalg.det(a)
    np.testing.assert_allclose(gradient, expected, 1e-9, scale)
    np.testing.assert_allclose(ad.vjp(of_one, a)[1](2.0)[0], 2 * expected, 1e-9, 2 * scale)
    assert ad.jvp(of_one, (a,), (way,))[1] == pytest.approx(np.sum(expected * way), 1e-8, n * n * scale)


def test_a_stack_with_singular_matrices() -> None:
    stack = np.stack([np.eye(3), singular(3, 2), singular(3, 1), np.diag([1.0, 2.0, 0.0])])
    found = ad.grad(lambda a: np.sum(np.linalg.det(a) * np.arange(1.0, 5.0)))(stack)
    for k, a in enumerate(stack):
        np.testing.assert_allclose(found[k], (k + 1) * cofactors(a), 1e-9, 1e-10)


def test_complex_matrices() -> None:
    a = singular(3, 2) * (1.0 + 0.5j)
    found = ad.grad(lambda a: np.real(np.linalg.det(a)))(a)
    np.testing.assert_allclose(found, cofactors(a), 1e-9, 1e-10)


def test_the_second_derivative() -> None:
    a, way = np.diag([1.0, 2.0, 0.0, 3.0]), RNG.normal(size=(4, 4))
    found = ad.grad(lambda a: np.sum(ad.grad(of_one)(a) * way))(a)
    moved = (cofactors(a + 1e-6 * way) - cofactors(a - 1e-6 * way)) / 2e-6
    np.testing.assert_allclose(found, moved, 1e-5, 1e-6)


def test_the_text_is_that_of_regular_matrices() -> None:
    assert "np.linalg.inv(a).T" in ad.adjoint_source(of_one, np.eye(3))


def test_an_inverse_that_the_program_takes_still_raises() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(lambda a: np.linalg.det(a) + np.sum(np.linalg.inv(a)))(np.zeros((3, 3)))
