"""Variances as sums of squares: where the distances from the mean are there, and nothing is written."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes

X = np.random.default_rng(3).normal(size=(5, 4))


def by_columns(x):
    var = np.var(x, axis=0)
    return np.sum(((x - np.mean(x, axis=0)) / np.sqrt(var + 0.1)) ** 3)


def mean_first(x):
    mean = np.mean(x, axis=0)
    var = np.var(x, axis=0)
    return np.sum(((x - mean) / np.sqrt(var + 0.1)) ** 3 * var)


def by_rows(x):
    mean, var = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    return np.sum(((x - mean) / np.sqrt(var + 0.1)) ** 3)


def of_squares(x):
    t = x - np.mean(x, axis=1, keepdims=True)
    return np.sum((t / np.sqrt(np.mean(t**2, axis=1, keepdims=True) + 0.1)) ** 3)


def another_axis(x):
    y = x[:4]
    mean, var = np.mean(y, axis=0), np.var(y, axis=1)
    return np.sum(((y - mean) / np.sqrt(var + 0.1)) ** 3)


def written_before(x):
    y = x.copy()
    mean = np.mean(y, axis=0)
    y[0] = 2.0 * x[1]
    var = np.var(y, axis=0)
    return np.sum((y - mean) ** 3 / var)


def distances_are_written(x):
    mean, var = np.mean(x, axis=0), np.var(x, axis=0)
    t = x - mean
    t[0] = 0.0
    return np.sum(t**3 / var)


def variance_is_written(x):
    mean, var = np.mean(x, axis=0), np.var(x, axis=0)
    var += 1.0
    var[0] = 3.0
    return np.sum((x - mean) ** 3 / var)


def in_loops(x):
    for _ in range(3):
        mean, var = np.mean(x, axis=0), np.var(x, axis=0)
        x = (x - mean) / np.sqrt(var + 0.1) + x**2
    return np.sum(x)


def decided(x):
    mean, var = np.mean(x, axis=0), np.var(x, axis=0)
    return np.sum((x - mean) ** 3 / var) if var[0] > 0.5 else np.sum(x)


FIXED = np.random.default_rng(4).normal(size=(3, 4))


def by_the_method(x):
    mean = x.mean(axis=0)
    return np.sum(((x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=0) + 0.1)) ** 3)


def squares_of_what_has_no_name(x):
    apart = np.sum((FIXED[:, None, :] - FIXED[None, :, :]) ** 2, axis=-1)
    spread = ((FIXED * 2.0 - 1.0) ** 2).mean(axis=1, keepdims=True)
    return np.sum(x[:3, :3] ** 3 * apart) + np.sum(spread * x[:3] ** 2)


def squares_in_a_loop(x):
    total = 0.0
    for k in range(3):
        apart = np.sum((FIXED[k] - FIXED) ** 2, axis=1)
        total = total + np.sum(x[:3, 0] ** 2 * apart)
    return total


@pytest.mark.parametrize(
    "fn",
    [
        by_columns, by_the_method, squares_of_what_has_no_name, squares_in_a_loop, mean_first, by_rows, of_squares,
        another_axis, written_before, distances_are_written, variance_is_written, in_loops, decided,
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_value_and_gradient(fn, dtype):
    x = X.astype(dtype)
    value, expected = ad.value_and_grad(fn)(x)
    found = ad.grad(fn)(x)
    assert np.array_equal(value, fn(x)) and found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-11 if dtype is np.float64 else 1e-4, atol=1e-12)
    with passes.without("variances"):
        np.testing.assert_allclose(ad.grad(fn)(x), expected, rtol=1e-11 if dtype is np.float64 else 1e-4, atol=1e-12)


def test_written_out():
    for fn in (mean_first, by_rows, of_squares):
        assert "np.var(x" not in code(fn) and 'np.einsum("ij,ij->' in code(fn)
    for fn in (another_axis, written_before, distances_are_written, decided):
        assert "np.var(" in code(fn)


def test_squares_that_are_added_up_have_a_name():
    assert code(squares_of_what_has_no_name).count("np.einsum(") == 2
    assert 'np.einsum("ij,ij->j", t, t) / t.shape[0]' in code(by_the_method)


def code(fn):
    """The adjoint without the lines of the program that it tells."""
    return "".join(line for line in ad.adjoint_source(fn, X).splitlines() if "#" not in line)
