"""Copies of cotangents that are only fitted to a shape and read: none where nobody writes in between."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

K = np.array([0.5, -0.3, 0.8])
X = np.array([0.4, 1.3, -0.7, 0.9, 0.2, -1.1])


def convolution(k, x):
    n = len(x) - len(k) + 1
    y = np.zeros(n)
    for j in range(len(k)):
        y += k[j] * x[j : j + n]
    return np.sum(np.tanh(y) ** 2)


def by_sums_of_products(k, x):
    n = len(x) - len(k) + 1
    y = np.zeros((n, 2))
    for j in range(len(k)):
        y += np.einsum("i,j->ij", x[j : j + n], k[j : j + 1])
    return np.sum(y**3)


def one_item_for_all(k, x):
    n = len(x) - len(k) + 1
    y = np.zeros(n)
    for j in range(len(k)):
        y += k[j] * np.sin(x[j : j + 1])
    return np.sum(y**2 * x[:n])


def written_by_the_sum(k, x):
    n = len(x) - len(k) + 1
    y = x[:n] * 1.0
    for j in range(len(k)):
        y += k[j] * x[j : j + n] * y
        y[j] = y[j] * k[j]
    return np.sum(y**2)


def written_by_another(k, x):
    n = len(x) - len(k) + 1
    y, z = np.zeros(n), np.zeros(n)
    for j in range(len(k)):
        z += y * x[j : j + n]
        y += k[j] * x[j : j + n]
        y[1:] *= z[:-1]
    return np.sum(y * z)


def part_of_the_sum(k, x):
    n = len(x) - len(k) + 1
    y = np.zeros(2 * n)
    for j in range(len(k)):
        y[:n] += k[j] * x[j : j + n]
        y[1 : n + 1] += y[:n] * x[j : j + n]
    return np.sum(y**2)


PROGRAMS = [convolution, by_sums_of_products, one_item_for_all, written_by_the_sum, written_by_another, part_of_the_sum]


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize(("k", "x"), [(K, X), (K[:1], X), (K[:2], X[:4]), (K, X[:3])], ids=range(4))
def test_gradients(fn, k, x):
    if fn is by_sums_of_products and len(k) < 2 or fn is written_by_the_sum and len(k) > len(x) - len(k) + 1:
        k = K[:2]
    for position in (0, 1):
        found = ad.grad(fn, position)(k, x)
        np.testing.assert_allclose(found, differences(fn, (k, x), position), rtol=1e-5, atol=1e-7)
        _, pullback = ad.vjp(fn, k, x)
        once, again = pullback(1.0), pullback(1.0)
        assert np.array_equal(once[position], again[position])
        np.testing.assert_allclose(once[position], found, rtol=1e-12)


def test_written_out():
    assert ".copy()" not in ad.adjoint_source(convolution, K, X, grad_position=(0, 1))
    assert ".copy()" not in ad.adjoint_source(by_sums_of_products, K, X, grad_position=(0, 1))
