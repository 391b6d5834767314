"""Sums of products with infinite factors: what meets a derivative of zero there is left out, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

X = np.array([0.5, 1.0, 2.0])
A = np.array([[1.0, np.inf, 2.0], [0.5, 1.0, -1.0], [3.0, 2.0, 1.0]])
EYE = np.eye(3)


def finite(y: Any) -> Any:
    return np.sum(np.where(np.isfinite(y), y, 0.0) ** 2)


PROGRAMS = {
    "matmul": lambda x: finite(A @ x),
    "matmul from the left": lambda x: finite(x @ A),
    "dot": lambda x: finite(np.dot(A, x)),
    "method": lambda x: finite(A.dot(x)),
    "matrices": lambda x: finite(A @ np.outer(x, x)),
    "einsum": lambda x: finite(np.einsum("ij,j->i", A, x)),
    "einsum of three": lambda x: finite(np.einsum("ij,j,i->i", A, x, x)),
    "tensordot": lambda x: finite(np.tensordot(A, x, 1)),
    "outer": lambda x: finite(np.outer(A[0], x)),
    "inner": lambda x: finite(np.inner(A, x)),
    "kron": lambda x: finite(np.kron(A[0], x)),
    "convolve": lambda x: finite(np.convolve(A[0], x)),
    "overflow": lambda x: finite(np.where(EYE > 0, 1.0, np.exp(800 * x)) @ x),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_both_modes(program: Any) -> None:
    h = 1e-6
    expected = [(program(X + h * e) - program(X - h * e)) / (2 * h) for e in EYE]
    np.testing.assert_allclose(ad.grad(program)(X), expected, 1e-6, 1e-6)
    np.testing.assert_allclose(ad.vjp(program, X)[1](1.0)[0], expected, 1e-6, 1e-6)
    np.testing.assert_allclose([ad.jvp(program, X, e)[1] for e in EYE], expected, 1e-6, 1e-6)
    f = ad.grad(program)
    second = (f(X + h * X) - f(X - h * X)) / (2 * h)
    np.testing.assert_allclose(ad.jvp(f, X, X)[1], second, 1e-5, 1e-5)


def test_what_is_infinite_stays_so() -> None:
    assert not np.all(np.isfinite(ad.grad(lambda x: np.sum(np.where(x > 0, A @ x, 0.0)))(X)))
