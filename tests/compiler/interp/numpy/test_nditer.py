"""`np.nditer` comes to the elements of an array as they lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.arange(1.0, 7.0).reshape(2, 3)


def sines(x: Any) -> Any:
    s = 0.0
    for v in np.nditer(x):
        s = s * 0.5 + np.sin(v) * v
    return s


def transposed(x: Any) -> Any:
    return sum(v**2 * k for k, v in enumerate(np.nditer(x.T)))


def backwards(x: Any) -> Any:
    return np.sum(np.array([v * v for v in np.nditer(np.outer(x, x)[::-1])]) * np.arange(x.size**2))


@pytest.mark.parametrize("fn", [sines, transposed, backwards])
def test_both_modes_and_both_orders(fn: Any) -> None:
    for x in (X, X[0], np.arange(24.0).reshape(4, 6)[::2, ::2]):
        check_gradient(fn, (x,))
        ad.check_grads(fn, (x,))


@pytest.mark.parametrize("x", [np.asfortranarray(X), np.asfortranarray(X)[::-1], X[:, ::-1]])
def test_memory_orders(x: Any) -> None:
    value, gradient = ad.value_and_grad(transposed)(x)
    assert value == transposed(x)
    found = [float(v) for v in np.nditer(x.T)]
    np.testing.assert_allclose(gradient, [[2 * v * found.index(v) for v in row] for row in x])


def test_arrays_without_a_derivative() -> None:
    def fn(x: Any) -> Any:
        count = 0
        for place in np.nditer(X, flags=["multi_index"]):
            count += place > 2
        return np.sum(x) * count

    assert np.array_equal(ad.grad(fn)(X), np.full((2, 3), 4.0))
