"""What a condition selects of a cotangent: the same numbers from a product as from a selection."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.core.thresholds import SELECTED_BY_BITS as LARGE
from autodiff_sct.runtime.selection import select
from tests.compiler.checked import check_gradient

pytestmark = pytest.mark.once

X = np.random.default_rng(0).normal(size=LARGE)


@pytest.mark.parametrize("size", [0, 3, LARGE])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_select(size, dtype):
    d, chosen = X[:size].astype(dtype), X[:size] > 0.2
    found, expected = select(chosen, d, 0.0), np.where(chosen, d, 0.0)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("chosen", [True, False])
def test_what_is_not_finite_stays_where_it_is(value, chosen):
    d, holds = X.copy(), X > 0.2
    d[7], holds[7] = value, chosen
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(select(holds, d, 0.0), np.where(holds, d, 0.0))


def test_shapes_are_broadcast():
    d, chosen = X.reshape(-1, 64), X.reshape(-1, 64)[:1] > 0.0
    np.testing.assert_array_equal(select(chosen, d, 0.0), np.where(chosen, d, 0.0))
    np.testing.assert_array_equal(select(d > 0.0, d[0], 0.0), np.where(d > 0.0, d[0], 0.0))
    np.testing.assert_array_equal(select(X > 0.0, 2.0, 0.0), np.where(X > 0.0, 2.0, 0.0))


def test_another_value_is_selected():
    np.testing.assert_array_equal(select(X > 0.0, X, X * 0.5), np.where(X > 0.0, X, X * 0.5))
    np.testing.assert_array_equal(select(X > 0.0, X, 3.0), np.where(X > 0.0, X, 3.0))


def relu(x, w):
    return np.sum(np.maximum(x, 0.0) * w)


def chosen(x, keep):
    return np.sum(np.where(keep, np.tanh(x) ** 2, 0.5))


def in_steps(x, n):
    for _ in range(n):
        x = np.where(x > 0.1, 0.5 * x, x)
    return np.sum(x**2)


V = np.array([0.4, -1.3, 0.0, 0.9])


def test_gradients():
    check_gradient(relu, (V + 0.1, V))
    check_gradient(chosen, (V, V > 0.2))
    check_gradient(in_steps, (V + 0.05, 3))


def test_large_gradients_are_the_same():
    w = np.cos(np.arange(float(LARGE)))
    w[3], x = np.inf, X.copy()
    x[5] = 0.0
    with pass_registry.without("runtime_select"), np.errstate(all="ignore"):
        expected = ad.grad(lambda x, w: relu(x, w))(x, w)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.grad(relu)(x, w), expected)


def test_vectors_in_loops_are_selected():
    assert "select(" in ad.adjoint_source(relu, V, V)
    assert "select(" not in ad.adjoint_source(in_steps, V, 3)
