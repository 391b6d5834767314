"""`stop_gradient` at second order: what is constant to a derivative is constant to the derivative of that, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

X = np.linspace(0.5, 2.0, 5)


def scaled(x: np.ndarray) -> Any:
    return np.sum(x**2 * ad.stop_gradient(np.sin(x)))


def scaled_in_a_loop(x: np.ndarray) -> Any:
    total = 0.0
    for i in range(len(x)):
        weight = ad.stop_gradient(np.sin(x[i]))
        total += x[i] ** 2 * weight
    return total


def scaled_by_a_helper(x: np.ndarray) -> Any:
    def weights(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"w": ad.stop_gradient(np.sin(values["x"]))}

    return np.sum(x**2 * weights({"x": x})["w"])


def scaled_from_a_list(x: np.ndarray) -> Any:
    weights = ad.stop_gradient([np.sin(v) for v in x])
    return sum([v**2 * w for v, w in zip(x, weights)])


PROGRAMS = [scaled, scaled_in_a_loop, scaled_by_a_helper, scaled_from_a_list]
KINDS: dict[str, Callable[[Any], Any]] = {
    "grad of grad": lambda f: ad.grad(lambda x: np.sum(ad.grad(f)(x)))(X),
    "jvp of grad": lambda f: ad.jvp(ad.grad(f), X, np.ones_like(X))[1],
    "grad of jvp": lambda f: ad.grad(lambda x: ad.jvp(f, x, np.ones_like(x))[1])(X),
    "hessian": lambda f: np.sum(ad.hessian(f)(X), axis=1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_stopped_factor_is_a_constant_twice(f: Callable[..., Any], kind: str) -> None:
    np.testing.assert_allclose(KINDS[kind](f), 2 * np.sin(X), rtol=1e-12)


def test_third_order() -> None:
    def f(x: Any) -> Any:
        return x**4 * ad.stop_gradient(x)

    assert ad.grad(ad.grad(ad.grad(f)))(2.0) == 24 * 2.0 * 2.0


def test_of_recursion() -> None:
    def f(x: Any, n: int) -> Any:
        return x * ad.stop_gradient(x) if n == 0 else f(x * x, n - 1)

    assert ad.grad(ad.grad(lambda x: f(x, 2)))(1.5) == pytest.approx(12 * 1.5**6)
