"""Products whose summed axes are known only at run time: their number decides how many axes the result has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

MATRIX, TALL = np.arange(6.0).reshape(2, 3) / 5, np.arange(12.0).reshape(3, 4) / 7
VECTOR = np.array([0.5, -1.2, 2.0])
OPERANDS = [
    (MATRIX, TALL, 0),
    (MATRIX, TALL, 1),
    (MATRIX, MATRIX, 2),
    (MATRIX, TALL, np.array([[1], [0]])),
    (VECTOR, VECTOR, 0),
    (VECTOR, VECTOR, 1),
    (VECTOR[:0], VECTOR[:0], 0),
]


def product(a: Any, b: Any, axes: Any) -> Any:
    return np.tensordot(a, b, axes=axes)


def total(a: Any, b: Any, axes: Any) -> Any:
    return np.sum(np.sin(product(a, b, axes)))


@pytest.mark.parametrize(("a", "b", "axes"), OPERANDS)
def test_gradients(a: np.ndarray, b: np.ndarray, axes: Any) -> None:
    of_all = ad.grad(product, (0, 1))(a, b, axes)
    of_total = ad.grad(total, (0, 1))(a, b, axes)
    for gradients, slope in ((of_all, np.ones_like), (of_total, np.cos)):
        d = slope(product(a, b, axes))
        for k, gradient in enumerate(gradients):
            units = np.eye((a, b)[k].size).reshape((a, b)[k].size, *(a, b)[k].shape)
            expected = [np.sum(d * product(*((e, b) if k == 0 else (a, e)), axes)) for e in units]
            np.testing.assert_allclose(gradient, np.reshape(expected, (a, b)[k].shape), 1e-12, 1e-12)


@pytest.mark.parametrize(("a", "b", "axes"), OPERANDS)
def test_second_order(a: np.ndarray, b: np.ndarray, axes: Any) -> None:
    def gradient(a: Any) -> Any:
        return ad.grad(total)(a, b, axes)

    h, way = 1e-5, np.cos(np.arange(a.size)).reshape(a.shape)
    expected = (gradient(a + h * way) - gradient(a - h * way)) / (2 * h)
    np.testing.assert_allclose(ad.jvp(gradient, a, way)[1], expected, 1e-6, 1e-8)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(gradient(a) * way))(a), expected, 1e-6, 1e-8)
