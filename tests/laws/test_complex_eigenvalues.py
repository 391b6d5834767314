"""Real matrices with complex eigenvalues: functions of these that are real have derivatives in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)


def radius(a: Any) -> Any:
    return np.max(np.abs(np.linalg.eigvals(a)))


def real_parts(a: Any) -> Any:
    return np.sum(np.real(np.linalg.eigvals(a)) ** 3)


def imaginary_parts(a: Any) -> Any:
    w, _ = np.linalg.eig(a)
    return np.sum(np.imag(w) ** 2)


def trace_of_a_power(a: Any) -> Any:
    return np.sum((np.linalg.eigvals(a) ** 3).real)


def exponential(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(np.sin(np.real((v * np.exp(w)) @ np.linalg.inv(v))))


def components(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v) ** 4 * np.arange(len(a))) + np.sum(np.abs(w))


def stacked(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigvals(np.stack([a, 2.0 * a.T]))) ** 3)


PROGRAMS: list[Callable[[Any], Any]] = [
    radius, real_parts, imaginary_parts, trace_of_a_power, exponential, components, stacked,
]  # fmt: skip
TURN = np.array([[0.3, -1.2], [0.7, 0.4]])
MATRICES = {
    "turn": TURN,
    "real": np.diag([1.0, 2.5, 4.0]) + 0.2 * RNG.normal(size=(3, 3)),
    **{str(n): RNG.normal(size=(n, n)) / np.sqrt(n) for n in (3, 5, 20)},
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_derivatives(fn: Callable[[Any], Any], name: str) -> None:
    a, h = MATRICES[name], 1e-6
    way = RNG.normal(size=a.shape)
    value, gradient = ad.value_and_grad(fn)(a)
    assert value == fn(a)
    slope = (fn(a + h * way) - fn(a - h * way)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient * way), slope, 1e-5, 1e-6)
    np.testing.assert_allclose(ad.jvp(fn, (a,), (way,))[1], slope, 1e-5, 1e-6)
    derivative = ad.grad(fn)
    curved = (derivative(a + h * way) - derivative(a - h * way)) / (2 * h)
    second = ad.grad(lambda a: np.sum(ad.grad(fn)(a) * way))(a)
    np.testing.assert_allclose(second, curved, 1e-4, 1e-4 * max(1.0, float(np.max(np.abs(curved)))))


def test_eigenvalues_themselves() -> None:
    way = np.array([[1.0, 0.5], [-0.3, 2.0]])
    tangent = ad.jvp(np.linalg.eigvals, (TURN,), (way,))[1]
    moved = (np.linalg.eigvals(TURN + 1e-6 * way) - np.linalg.eigvals(TURN - 1e-6 * way)) / 2e-6
    np.testing.assert_allclose(tangent, moved, 1e-6)
    weights = np.array([0.3 - 0.7j, 1.1 + 0.2j])
    value, pullback = ad.vjp(np.linalg.eigvals, TURN)
    np.testing.assert_array_equal(value, np.linalg.eigvals(TURN))
    assert np.sum(pullback(weights) * way) == pytest.approx(np.sum(np.real(weights * moved)), 1e-6)
