"""Small powers of arrays are products of squares, and the same numbers but for rounding."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

X = np.random.default_rng(9).uniform(0.3, 1.7, 40)
EXPONENTS = [3, 4, 5, 6, 7, 8, 12, -2, -3, -6, -12, 3.0, 1.5, -0.5, 13]


def power(n):
    return ad.from_source(f"def f(x):\n    t = np.sin(x) + 1.0\n    return np.sum(t ** {n})", {"np": np})


@pytest.mark.parametrize("n", EXPONENTS)
def test_gradient(n):
    f = power(n)
    expected = n * (np.sin(X) + 1.0) ** (n - 1) * np.cos(X)
    np.testing.assert_allclose(ad.grad(f)(X), expected, rtol=1e-13)
    value, gradient = ad.value_and_grad(f)(X)
    assert value == np.sum((np.sin(X) + 1.0) ** n)
    np.testing.assert_allclose(gradient, expected, rtol=1e-13)


def cubes(x):
    return np.sum(np.tanh(x**3))


def few(x):
    return np.sum(np.cross(x, np.ones(3)) ** 3)


def decides(x):
    t = x**3
    return np.sum(t) if np.sum(t) > 1.0 else np.sum(t**2)


def test_special_values():
    special = np.array([0.0, -0.0, 1e200, -1e200, 1e-200, np.inf, -np.inf, np.nan, -2.0])
    with np.errstate(all="ignore"):
        for n in (4, 5, -3):
            f = power_of_argument(n)
            np.testing.assert_array_equal(ad.grad(f)(special), n * special ** (n - 1))


def power_of_argument(n):
    return ad.from_source(f"def f(x):\n    return np.sum(x ** {n})", {"np": np})


def test_float32_stays():
    assert ad.grad(cubes)(X.astype(np.float32)).dtype == np.float32


def test_where():
    assert "x ** 2 * x" in ad.adjoint_source(cubes, X)
    assert "** 3" in ad.adjoint_source(few, X[:3])
    assert "x ** 3" in ad.adjoint_source(decides, X)
