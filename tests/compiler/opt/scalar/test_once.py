"""What is computed twice of the same values: once, but where somebody could tell."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

pytestmark = pytest.mark.once

X = np.array([[0.5, 1.5, 0.25], [2.0, -0.75, 1.25]])


def softmax(x):
    y = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    return np.sum(y * y)


def centred(x):
    m = np.mean(x, axis=1, keepdims=True)
    v = np.mean((x - m) ** 2, axis=1, keepdims=True)
    return np.sum(((x - m) / np.sqrt(v + 0.1)) ** 3)


def periodic(x):
    for _ in range(3):
        left, right = np.roll(x, 1, axis=0), np.roll(x, -1, axis=0)
        x = 0.5 * (np.roll(x, 1, axis=0) + right) - 0.1 * x * (np.roll(x, -1, axis=0) - left) + np.roll(x, 1)
    return np.sum(x * np.roll(x, [1, 2], (0, 1)) + np.roll(x, 1, 1) ** 2 * np.roll(x, -1, 1))


def rolled_and_written(x):
    a, b = np.roll(x, 1), np.roll(x, 1)
    a[0] = 0.5 * x[1]
    return np.sum(a * b + np.sin(b))


def first_is_written(x):
    a, b = np.exp(x), np.exp(x)
    a[0] = 0.5 * x[1]
    return np.sum(a * b + np.sin(b))


def second_is_written(x):
    a = np.exp(x)
    b = np.exp(x)
    b *= x
    return np.sum(a * b)


def operand_is_written(x):
    y = x.copy()
    a = np.exp(y)
    y[1] *= 2.0
    return np.sum(a * np.exp(y))


def view_is_written(x):
    a, b = np.exp(x), np.exp(x)
    row = b[0]
    row += 1.0
    return np.sum(a * b)


def in_branches(x):
    y = np.tanh(x) if x[0, 0] > 0.0 else x
    z = np.tanh(x) if x[0, 1] > 9.0 else 2.0 * x
    return np.sum(y * z * np.tanh(x))


def in_loops(x):
    total = np.zeros_like(x)
    for k in range(3):
        total = total + np.exp(total * 0.1) / np.sum(np.exp(total * 0.1)) * (np.exp(x) + k)
    return np.sum(total * np.exp(x))


def in_no_iteration(x):
    y = x
    for _ in range(0):
        y = np.exp(x)
    return np.sum(y * np.exp(x))


def in_lists(x):
    kept = [np.exp(x), np.exp(x)]
    kept[0][0] = 1.0
    return np.sum(kept[0] * kept[1])


def axes(x):
    return np.sum(np.sum(x, axis=0) * np.max(x, axis=0)) + np.sum(np.sum(x, axis=1) * np.sum(x, axis=1, keepdims=True))


@pytest.mark.parametrize(
    "fn",
    [
        softmax, centred, first_is_written, second_is_written, operand_is_written, view_is_written, in_branches,
        in_loops, in_no_iteration, in_lists, axes, periodic, rolled_and_written,
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_value_and_gradient(fn, dtype):
    x = X.astype(dtype)
    value, found = ad.value_and_grad(fn)(x)
    assert np.array_equal(value, fn(x)) and found.dtype == dtype
    with pass_registry.without("gvn"):
        np.testing.assert_allclose(ad.grad(fn)(x), found, rtol=1e-13 if dtype is np.float64 else 1e-5)
    with pass_registry.without("gvn"):
        second = ad.grad(lambda x: np.sum(ad.grad(fn)(x) ** 2))(x)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.grad(fn)(x) ** 2))(x), second, rtol=1e-4)


def test_two_results_share_nothing():
    value, _ = ad.value_and_grad(lambda x: (np.exp(x), np.exp(x)))(X)
    assert not np.shares_memory(*value)


def test_written_out():
    assert code(softmax).count("np.exp(x)") == 1 and "d_y - np.einsum" in code(softmax)
    assert code(centred).count("x - m") == 1
    assert code(periodic).count("np.roll(x, 1, axis=0)") == code(periodic).count("np.roll(x, -1, axis=0)") == 1


def code(fn):
    """The adjoint without the lines of the program that it tells."""
    return "".join(line for line in ad.adjoint_source(fn, X).splitlines() if "#" not in line)
