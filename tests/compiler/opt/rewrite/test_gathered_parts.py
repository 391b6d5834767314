"""What a loop adds to ranges of columns of a matrix, from products with its columns, is added after the loop."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.runtime.products import add_outer_products, add_products, add_symmetric_products
from tests.compiler.checked import differences

pytestmark = pytest.mark.once


def covariance(x):
    n, m = x.shape
    x = x - np.mean(x, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = x[:, i] @ x[:, i:m] / n
    return np.sum(cov * cov)


def correlation(x):
    m = x.shape[1]
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 : m, i] = corr[i, i + 1 : m] = x[:, i] @ x[:, i + 1 : m]
    return np.sum(np.sin(corr))


def band(x):
    total = 0.0
    for i in range(x.shape[1]):
        total += np.sum(np.sin(x[:, i] @ x[:, i : i + 3]))
    return total


def read_meanwhile(x):
    x = x.copy()
    total = 0.0
    for i in range(1, x.shape[1]):
        total += np.sum(np.sin(x[:, i] @ x[:, i:]))
        x[:, i] = x[:, i] * np.sin(x[:, i - 1])
    return total + np.sum(x)


def two_matrices(x):
    y = np.cos(x)
    total = 0.0
    for i in range(x.shape[1]):
        total += np.sum(np.tanh(x[:, i] @ y[:, i:]))
    return total


def in_place(x):
    x = x.copy()
    m = x.shape[1]
    x -= np.mean(x, axis=0)
    x /= 1.0 + np.sum(x**2)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = x[:, i] @ x[:, i:m]
    return np.sum(cov * cov)


PROGRAMS = [covariance, correlation, band, read_meanwhile, two_matrices, in_place]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 3), (4, 3), (3, 17), (130, 30)])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradients(fn, shape, order):
    x = np.array(np.random.default_rng(sum(shape)).normal(size=shape) / shape[0], order=order)
    kept = x.copy()
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x) and np.array_equal(x, kept)
    if x.size < 100:
        expected = differences(fn, (x,))
    else:
        with pass_registry.without("batch_rank1_updates"):
            expected = ad.grad(fn)(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ad.grad(fn)(x), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", [covariance, correlation, in_place])
def test_no_step_passes_over_the_matrix(fn):
    text = ad.adjoint_source(fn, np.ones((4, 3)))
    assert "np.outer" not in text and "parts.append((i, slice(" in text


@pytest.mark.parametrize("count", [1, 2, 5, 17])
@pytest.mark.parametrize("columns", [1, 5, 17, 40])
def test_of_as_many_columns_as_the_caller_says(count, columns):
    def first(data, count):
        data = data.copy()
        data -= np.mean(data, axis=0)
        cov = np.zeros((count, count))
        for i in range(count):
            cov[i:count, i] = cov[i, i:count] = data[:, i] @ data[:, i:count]
        return np.sum(np.sin(cov))

    data = np.random.default_rng(columns).normal(size=(6, columns)) / 3
    if count > columns:
        with pytest.raises((IndexError, ValueError)) as expected:
            first(data, count)
        with pytest.raises(type(expected.value)):
            ad.grad(first)(data, count)
        return
    gradient = ad.grad(first)(data, count)
    expected = differences(lambda x: first(x, count), (data,)) if data.size < 100 else None
    with pass_registry.without("batch_rank1_updates"):
        plain = ad.grad(first)(data, count)
    np.testing.assert_allclose(gradient, plain, rtol=1e-9, atol=1e-12)
    if expected is not None:
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_an_infinity_stays_where_it_is():
    x = np.random.default_rng(0).normal(size=(4, 3))
    x[1, 0] = np.inf
    with np.errstate(invalid="ignore"), pass_registry.without("batch_rank1_updates"):
        expected = ad.grad(correlation)(x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(ad.grad(correlation)(x), expected)


@pytest.mark.parametrize("width", [2, 60])
def test_sums_of_few_and_of_many(width):
    rng = np.random.default_rng(width)
    factor = rng.normal(size=(5, 60))
    parts = [(k, slice(k, k + width), rng.normal(size=min(width, 60 - k))) for k in (*range(60), 3, -1 + 60)]
    outer, inner = np.zeros_like(factor), np.zeros_like(factor)
    expected_outer, expected_inner = np.zeros_like(factor), np.zeros_like(factor)
    for k, columns, v in parts:
        expected_outer[:, columns] += np.outer(factor[:, k], v)
        expected_inner[:, k] += factor[:, columns] @ v
    add_outer_products(outer, factor, parts)
    add_products(inner, factor, parts)
    both = np.zeros_like(factor)
    add_symmetric_products(both, factor, parts)
    np.testing.assert_allclose(both, expected_outer + expected_inner, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(outer, expected_outer, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(inner, expected_inner, rtol=1e-12, atol=1e-12)
