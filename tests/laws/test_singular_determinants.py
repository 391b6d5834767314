"""The determinant of a singular matrix has a derivative: the matrix of its cofactors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import autodiff_sct as ad
from autodiff_sct.runtime.linalg.determinants import cofactors as cofactors_anywhere

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
A = np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3)


def singular(n: int, rank: int) -> np.ndarray:
    return RNG.integers(-3, 4, (n, rank)) @ RNG.integers(-3, 4, (rank, n)) + np.zeros((n, n))


def cofactors(a: np.ndarray) -> np.ndarray:
    found = np.empty_like(a)
    for i, j in np.ndindex(a.shape):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        found[i, j] = (-1) ** (i + j) * (np.linalg.det(minor) if minor.size else 1.0)
    return found


def derived(a: np.ndarray, *ways: np.ndarray) -> np.ndarray:
    """The cofactors differentiated in directions: coefficients of a polynomial, found from its values on circles."""
    if not ways:
        return cofactors(a)
    roots = np.exp(2j * np.pi * np.arange(len(a) + 1) / (len(a) + 1))
    return sum(derived(a + root * ways[0], *ways[1:]) / root for root in roots) / len(roots)


def of_one(a: Any) -> Any:
    return np.linalg.det(a)


def gradient_of(det: Any) -> Any:
    return ad.grad(lambda a: det(a) * 1.0)


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


RANKS = [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 2), (3, 1), (4, 3), (4, 2), (4, 1), (6, 6), (6, 5), (6, 4), (7, 3)]


def rounded(n: int, rank: int) -> np.ndarray:
    """A matrix of a rank but for rounding errors."""
    return RNG.normal(size=(n, rank)) @ RNG.normal(size=(rank, n)) if rank < n else RNG.normal(size=(n, n))


@pytest.mark.parametrize("make", [singular, rounded])
@pytest.mark.parametrize("det", [np.linalg.det, scipy.linalg.det])
@pytest.mark.parametrize(("n", "rank"), RANKS)
def test_second_derivatives(n: int, rank: int, det: Any, make: Any) -> None:
    a, way = make(n, rank), RNG.normal(size=(n, n))
    expected = np.real(derived(a, way))
    scale = 1e-12 * max(1.0, float(np.linalg.norm(a, 2))) ** max(n - 2, 0)
    f = gradient_of(det)
    np.testing.assert_allclose(ad.jvp(f, (a,), (way,))[1], expected, 1e-9, scale)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(f(a) * way))(a), expected, 1e-9, scale)
    np.testing.assert_allclose(ad.grad(lambda a: ad.jvp(det, (a,), (way,))[1])(a), expected, 1e-9, scale)
    twice = ad.jvp(lambda a: ad.jvp(det, (a,), (way,))[1], (a,), (way,))[1]
    np.testing.assert_allclose(twice, np.sum(expected * way), 1e-9, scale * n**2)


@pytest.mark.parametrize(("n", "rank"), RANKS)
def test_third_derivatives(n: int, rank: int) -> None:
    a, way, other = rounded(n, rank), *RNG.normal(size=(2, n, n))
    expected = np.real(derived(a, way, other))
    scale = 1e-12 * max(1.0, float(np.linalg.norm(a, 2))) ** max(n - 3, 0) * n
    second = ad.grad(lambda a: np.sum(ad.grad(of_one)(a) * way))
    np.testing.assert_allclose(ad.jvp(second, (a,), (other,))[1], expected, 1e-9, scale)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(second(a) * other))(a), expected, 1e-9, scale)


def test_second_derivatives_of_stacks() -> None:
    stack = np.stack([rounded(3, rank) for rank in (3, 2, 1, 3)])
    way = RNG.normal(size=stack.shape)
    f = ad.grad(lambda a: np.sum(np.linalg.det(a) * np.arange(1.0, 5.0)))
    found = ad.jvp(f, (stack,), (way,))[1]
    for k in range(4):
        np.testing.assert_allclose(found[k], (k + 1) * np.real(derived(stack[k], way[k])), 1e-9, 1e-12)
    assert ad.jvp(f, (np.zeros((4, 0, 0)),), (np.zeros((4, 0, 0)),))[1].shape == (4, 0, 0)


def test_second_derivatives_of_complex_matrices() -> None:
    a, way = rounded(3, 2) * np.exp(0.3j), RNG.normal(size=(3, 3))
    found = ad.jvp(ad.grad(lambda a: np.real(np.linalg.det(a))), (a,), (way + 0j,))[1]
    np.testing.assert_allclose(found, derived(a, way), 1e-9, 1e-12)


def test_second_derivatives_keep_single_precision() -> None:
    a, way = rounded(4, 3).astype(np.float32), RNG.normal(size=(4, 4)).astype(np.float32)
    found = ad.jvp(ad.grad(of_one), (a,), (way,))[1]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.real(derived(a.astype(float), way)), 1e-3, 1e-4)


def test_a_number_that_is_not_finite_stays_one() -> None:
    for bad in (np.nan, np.inf):
        a = np.array([[bad, 1.0], [2.0, 3.0]])
        with np.errstate(all="ignore"):
            assert not np.all(np.isfinite(cofactors_anywhere(a, np.eye(2))))


def test_logarithms_at_second_order() -> None:
    v, inverse = np.cos(A), np.linalg.inv(A).T
    log = ad.grad(lambda a: np.log(np.abs(np.linalg.det(a))))
    np.testing.assert_allclose(log(A), inverse, 1e-9)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(v * log(a)))(A), -inverse @ v.T @ inverse, 1e-8)


def test_the_text_is_that_of_regular_matrices() -> None:
    assert "np.linalg.inv(a).T" in ad.adjoint_source(of_one, np.eye(3))


def test_an_inverse_that_the_program_takes_still_raises() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(lambda a: np.linalg.det(a) + np.sum(np.linalg.inv(a)))(np.zeros((3, 3)))
