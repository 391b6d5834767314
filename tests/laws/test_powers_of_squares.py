"""Powers of sums of squares: from the square root on, the slope at zero is taken to be 0, as that of a norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.random.default_rng(0).normal(size=(4, 2))
W = np.arange(16.0).reshape(4, 4)


def energy(x: Any, p: float) -> Any:
    d = x[:, None] - x[None]
    return np.sum(np.sum(d**2, axis=-1) ** (p / 2) * W)


def of_numbers(x: float, y: float, p: float) -> float:
    return float((x * x + (2.0 * y) ** 2) ** p)


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 3.0])
def test_a_diagonal_of_zeros(p: float) -> None:
    check_gradient(lambda x: energy(x, p), (X,))
    check_gradient(lambda x: energy(x, 1.5), (X,))
    slope = (energy(X, p + 1e-6) - energy(X, p - 1e-6)) / 2e-6
    assert ad.grad(energy, 1)(X, p) == pytest.approx(slope, rel=1e-6)
    assert ad.jvp(energy, (X, p), (W[:, :2], 0.0))[1] == pytest.approx(np.sum(ad.grad(energy)(X, p) * W[:, :2]))


@pytest.mark.parametrize("p", [0.5, 0.75, 1.0, 2.0])
def test_numbers_at_zero(p: float) -> None:
    assert ad.grad(of_numbers, (0, 1))(0.0, 0.0, p) == (0.0, 0.0)
    check_gradient(lambda x: of_numbers(x, 0.3, p), (0.7,))
    expected = 2.0 if p == 1.0 else None
    if expected is not None:
        assert ad.grad(ad.grad(of_numbers))(0.0, 0.0, p) == expected


def test_a_slope_that_is_infinite_stays_so() -> None:
    assert not np.isfinite(ad.grad(of_numbers)(0.0, 0.0, 0.3))
