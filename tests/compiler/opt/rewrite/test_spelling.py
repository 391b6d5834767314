"""How cotangents are spelt: signs, copies and conditions that say nothing are left out."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient

pytestmark = pytest.mark.once

A = np.array([[1.0, 0.5, -0.3, 0.2], [0.4, 2.0, 0.1, -0.6]])


def divided_where(x):
    counts = np.array([2.0, 0.0, 1.0, 4.0])
    mean = np.divide(x**2, counts, out=np.zeros_like(x), where=counts > 0)
    return np.sum(mean * np.arange(4))


def written_where(x):
    y = np.full_like(x, 0.5)
    np.log(x, out=y, where=x > 0.45)
    np.multiply(y, x, out=y, where=y < 0.2)
    return np.sum(y * y * x)


def product_of_a_difference(x):
    residual = A @ x
    residual = np.array([0.3, 0.4]) - residual
    x = x - A.T @ residual
    return x @ x


def innovations(z):
    x, total = np.ones(4), 0.0
    for v in z:
        y = v - A @ x
        x = x + A.T @ y * 0.1
        total += y @ y
    return total


def shapes_of_arguments(x):
    y = np.exp(x)
    total = 0.0
    for k in range(len(x)):
        total += np.sum(x * k) * y[k]
    return total


@pytest.mark.parametrize(
    "fn", [divided_where, written_where, product_of_a_difference, innovations, shapes_of_arguments]
)
def test_gradients(fn):
    check_gradient(fn, (V,))
    check_gradient(fn, (np.abs(V) + 0.2,))


@pytest.mark.parametrize(
    "fn, there, not_there",
    [
        (divided_where, "np.where(condition, ", "0.0) / "),
        (written_where, "np.where(", ".copy(), "),
        (innovations, "-= A.T @ d_y", "@ -"),
        (shapes_of_arguments, "zeros_like(x)", "import zeros_like"),
    ],
)
def test_texts(fn, there, not_there):
    text = ad.adjoint_source(fn, V)
    assert there in text and not_there not in text, text
