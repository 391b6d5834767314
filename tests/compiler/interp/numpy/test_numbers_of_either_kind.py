"""Numbers that are single on one path and Python's own on another: what is made of them is single or double."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad


def product_with_array(x):
    v = x[0] if x[1] > 0 else 1.0
    return np.array([v] * 3) @ x


def product_with_full(x):
    v = x[0] if x[1] > 0 else 1.0
    return np.sum(np.full(3, v) * x)


def product_with_stack(x):
    v = x[0] if x[1] > 0 else 1.0
    return np.sum(np.stack([v, v, v]) * x)


def product_with_array_of_rank_0(x):
    v = x[0] if x[1] > 0 else 1.0
    return np.sum(np.asarray(v) * x)


def product_with_selection(x):
    v = x[0] if x[1] > 0 else 1.0
    return np.sum(np.sum(v) * np.where(x > 0, v, x))


@pytest.mark.parametrize(
    "fn",
    [
        product_with_array,
        product_with_full,
        product_with_stack,
        product_with_array_of_rank_0,
        product_with_selection,
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_gradient_is_of_its_arguments_kind(fn, sign):
    x = np.array([0.4, 1.3 * sign, -0.7], np.float32)
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x) and value.dtype == fn(x).dtype and gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(fn)(x.astype(float)), rtol=1e-5)
    assert ad.vjp(fn, x)[1](fn(x))[0].dtype == np.float32
    assert ad.jvp(fn, (x,), (x,))[1].dtype == fn(x).dtype
