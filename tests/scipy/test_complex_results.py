"""Functions of real matrices whose results are complex where the eigenvalues ask for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import autodiff_sct as ad

TURNED = np.random.default_rng(0).normal(size=(3, 3))  # with a pair of complex eigenvalues and a negative one
REGULAR = np.eye(3) * 3.0 + TURNED
FUNCTIONS = [scipy.linalg.sqrtm, scipy.linalg.logm, lambda a: scipy.linalg.fractional_matrix_power(a, 0.3)]


@pytest.mark.parametrize("a", [TURNED, REGULAR], ids=["complex", "real"])
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_real_functions_of_the_result(fn: Any, a: np.ndarray) -> None:
    for program in (
        lambda a: np.sum(np.abs(fn(a)) ** 2),
        lambda a: np.sum(fn(a).real),
        lambda a: np.sum(fn(a).imag ** 2),
        lambda a: np.real(np.trace(fn(a) @ fn(a))),
    ):
        gradient = ad.grad(program)(a)
        assert gradient.dtype == np.float64
        ad.check_grads(program, (a,), order=1)


@pytest.mark.parametrize("eigenvalues", [(-2.0, 0.5, 3.0), (-1.0, -2.0, -3.0)], ids=str)
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_second_order_at_negative_eigenvalues(fn: Any, eigenvalues: tuple[float, ...]) -> None:
    """The blocks have each eigenvalue several times, and rounding takes some of them across the branch cut."""
    n = len(eigenvalues)
    basis = np.linalg.qr(TURNED[:n, :n])[0] + 0.2 * TURNED.T[:n, :n]
    a, way = basis @ np.diag(eigenvalues) @ np.linalg.inv(basis), REGULAR[:n, :n]

    def program(a: Any) -> Any:
        return np.sum(np.abs(fn(a)) ** 2)

    gradient, h = ad.grad(program), 1e-5
    expected = (gradient(a + h * way) - gradient(a - h * way)) / (2 * h)
    np.testing.assert_allclose(ad.jvp(gradient, a, way)[1], expected, 1e-6, 1e-6)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(gradient(a) * way))(a), expected, 1e-6, 1e-6)
    np.testing.assert_allclose(ad.grad(lambda a: ad.jvp(program, a, way)[1])(a), expected, 1e-6, 1e-6)
