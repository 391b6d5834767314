"""Loops of a tangent compute on lists of Python's numbers, as those of an adjoint do, and give the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.bank.differences import slope

pytestmark = pytest.mark.once


def relaxed(f: Any) -> Any:
    n = f.shape[0]
    u = np.zeros((n, n))
    for _ in range(3):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                r = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j]) - u[i, j]
                u[i, j] += 1.5 * r
    return np.sum(u**2)


def factored(a: Any) -> Any:
    n = a.shape[0]
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j]
            for k in range(j):
                rest -= low[i, k] * low[j, k]
            low[i, j] = np.sqrt(rest) if i == j else rest / low[j, j]
    return np.sum(np.log(np.diag(low)))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 3, 5, 17])
@pytest.mark.parametrize("function", [relaxed, factored])
def test_tangents_of_first_and_second_order(function: Any, n: int, order: Any) -> None:
    rng = np.random.default_rng(n)
    way = rng.normal(size=(n, n))
    x = np.asarray(0.1 * rng.normal(size=(n, n)) + n * np.eye(n), order=order)
    gradient = ad.grad(function)
    value, tangent = ad.jvp(function, (x,), (way,))
    assert value == function(x)
    np.testing.assert_allclose(tangent, slope(lambda t: function(x + t * way), 2.0**-12, 1.0), rtol=1e-6, atol=1e-9)
    second = slope(lambda t: gradient(x + t * way), 2.0**-12, 1.0)
    np.testing.assert_allclose(ad.jvp(gradient, (x,), (way,))[1], second, rtol=1e-6, atol=1e-9)
    with pass_registry.without("unbox_arrays"):
        plain = ad.jvp(lambda x: function(x), (x,), (way,))
    np.testing.assert_array_equal(plain[1], tangent)


def test_what_raises_only_on_floats_is_run_on_arrays() -> None:
    def quotients(x: Any) -> Any:
        total = np.zeros(len(x))
        for k in range(len(x)):
            total[k] = x[k] / x[0]
        return total

    with np.errstate(all="ignore"):
        value, tangent = ad.jvp(quotients, (np.array([0.0, 1.0]),), (np.ones(2),))
    assert np.isnan(value[0]) and np.isinf(value[1]) and tangent.shape == (2,)
