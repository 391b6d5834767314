"""Reductions in loops as methods: the same bits, and what is no plain array keeps the function."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

pytestmark = pytest.mark.once

RNG = np.random.default_rng(4)
X = RNG.normal(size=(3, 4))


def rows(x):
    total = 0.0
    for k in range(len(x)):
        z = x[k] * x[0]
        z = z - np.max(z)
        total = total + np.log(np.sum(np.exp(z))) * np.mean(z) + np.prod(z[:2]) - np.min(x, axis=1)[k]
    return total


def kept_axes(x):
    for _ in range(2):
        x = np.tanh(x / np.sum(np.exp(x), axis=1, keepdims=True) + np.max(x, 0) * np.sum(x, axis=(0, 1)))
    return np.sum(x)


def lists_and_numbers(x):
    total = 0.0
    for k in range(len(x)):
        total = total + np.sum([x[k, 0], x[k, 1]]) * np.max((x[k, 2], 0.5)) + np.sum(x[k, 3])
    return total


def until_large(x):
    total = np.sum(x)
    while np.max(np.abs(total)) < 10 and np.all(x < 99):
        total = total + np.sum(np.exp(x * 0.1))
    return total


def unknown(x):
    parts = [x, x[0], 2.0]
    total = 0.0
    for part in parts:
        total = total + np.sum(part * part)
    return total


@pytest.mark.parametrize("fn", [rows, kept_axes, lists_and_numbers, until_large, unknown])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_value_and_gradient(fn, dtype):
    x = X.astype(dtype)
    value, found = ad.value_and_grad(fn)(x)
    assert np.array_equal(value, fn(x)) and found.dtype == dtype
    with pass_registry.without("canonicalize"):
        np.testing.assert_array_equal(ad.value_and_grad(fn)(x)[1], found)


def test_only_in_loops():
    assert "z.max()" in ad.adjoint_source(rows, X)
    assert "np.sum(x)" in "".join(ad.adjoint_source(lambda x: np.sum(x) ** 2 * np.sum(x), X))


def test_native_programs_keep_functions():
    pytest.importorskip("numba")
    assert ".max()" not in ad.adjoint_source(rows, X, backend="numba").split("def ")[1]
