"""Places written several times, slices from behind, arrays of whole numbers and items of tuples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike

X = np.array([0.5, -1.25, 2.0, 0.75, -0.3])
A = np.arange(12.0).reshape(3, 4) / 7 - 0.6


def operators_at_places(x, k):
    w = np.ones_like(x)
    w[k] += x
    w[k] *= x * 2
    for i in range(2):
        w[k] = x * w + i
    return np.sum(w * x)


def rows_at_places(a, k):
    w = a * 1.0
    for _ in range(2):
        w[k] += a
        w[k] = a * w
    return np.sum(w * a)


def added_at_places(x, k):
    y = np.zeros(5)
    np.add.at(y, k, x)
    for _ in range(2):
        np.add.at(y, k, x * y)
        np.subtract.at(y, k[1:], 0.5)
    return np.sum(y * x)


def from_behind(x, k):
    n = len(x)
    s = np.sum(x[:0:-1] * x[1:]) + np.sum(x[n - 2 :: -1] * x[: n - 1]) + np.sum(x[k::-1] ** 2)
    y = x * 1.0
    for _ in range(2):
        y[1:] += x[-2::-1] * 0.5
        y[::-2] *= 2
        y[n - 1 : 0 : -1] = y[1:] * x[: n - 1]
    return s + np.sum(y * y)


def whole_numbers(x, k):
    order = np.array([0, 2, 1])
    counts = np.full(3, 2)
    s = 0.0
    for i in range(3):
        s += x[order[i]] * float(counts[i])
        counts[i] += k
    return s + np.sum(x[order] ** 2) + np.sum(counts)


def items(x, k):
    weights = [0.1, 0.2, 0.3]
    order = (1, 0, 2)
    s = 0.0
    for i in range(len(weights)):
        s += weights[i] * x[order[i]] * weights[k]
    return s


@pytest.mark.parametrize(
    "fn, x, k",
    [
        *((fn, X, k) for fn in (operators_at_places, added_at_places) for k in ([0, 0, 1, -1, 4], [4, 3, 2, 1, 0])),
        (rows_at_places, A, [0, 0, 2]), (rows_at_places, A, [-1, 2, 1]), (from_behind, X, 2), (from_behind, X[::-1], 0),
        (whole_numbers, X, 3), (items, X, 1), (items, X, -3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_results(fn, x, k, dtype):
    args = (x.astype(dtype), np.array(k) if isinstance(k, list) else k)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.value_and_grad(fn, backend="numba")(*args)
    assert_alike(found, ad.value_and_grad(fn)(*args), rtol=1e-10 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize(
    "fn, k", [(operators_at_places, [0, 5, 1, 1, 1]), (added_at_places, [0] * 4 + [9]), (items, 3)]
)
@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
def test_places_outside_raise(fn, k):
    with pytest.raises(IndexError):
        ad.grad(fn, backend="numba")(X, np.array(k) if isinstance(k, list) else k)
