"""Integers: Python's grow as they like, NumPy's wrap round, and none leaves its array."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.compiler.numba import NativeWarning

X = np.linspace(-1.0, 1.0, 5)


def element_squared(x, a):
    n = int(a[0])
    return x * (n * n)


def many_factors(x, n):
    return x * (n * 1000 * 1000 * 1000 * 1000 * 1000 * 1000 * 1000)


def sum_of_squares(x, n):
    return x * (n * n + n * n + n * n + n * n)


def carried_square(x, n):
    total = 0
    for _ in range(9):
        total = total + n * n
    return x * total


def carried_sum(x, n):
    total = 0
    for _ in range(1000):
        total = total + n
    return x * (total * total)


def sum_of_elements(x, a):
    total = 0
    for i in range(len(a)):
        total = total + int(a[i])
    return x * total


def in_a_tuple(x, sizes):
    return x * (sizes[0] * sizes[0]) + sizes[1]


def counted_down(x, n):
    k = n
    while k > 3:
        k -= 2
    return x * k


def scalars_wrap(x, n):
    return np.sum(x) * (n * n)


def wrapped_place(x, k):
    return x[k[0] + 5] * x[0]


CASES = [
    (element_squared, (2.0, np.array([3])), (2.0, np.array([2**40]))),
    (many_factors, (2.0, 3), (2.0, 5)),
    (sum_of_squares, (2.0, 7), (2.0, 2**31 - 1)),
    (carried_square, (2.0, 7), (2.0, 2**31 - 1)),
    (carried_sum, (2.0, 7), (2.0, 2**27)),
    (sum_of_elements, (2.0, np.array([1, 2])), (2.0, np.array([2**62] * 3))),
    (in_a_tuple, (2.0, (3, 4)), (2.0, (2**40, 3))),
    (counted_down, (2.0, 8), (2.0, 2**20)),
    (scalars_wrap, (X, np.int64(3)), (X, np.int64(2**40))),
]


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("fn, small, large", CASES, ids=[fn.__name__ for fn, *_ in CASES])
def test_large_integers(fn, small, large):
    gradient = ad.value_and_grad(fn, backend="numba")
    for args in (small, large):
        found, expected = gradient(*args), ad.value_and_grad(fn)(*args)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("place", [2**63 - 3, -(2**63)])
def test_places_that_wrap_round_raise_as_numpy_does(place):
    gradient = ad.grad(wrapped_place, backend="numba")
    np.testing.assert_allclose(gradient(X, np.array([-3])), ad.grad(wrapped_place)(X, np.array([-3])))
    with pytest.raises(IndexError):
        gradient(X, np.array([place]))


def test_small_integers_are_native():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NativeWarning)
        for fn, args, _ in CASES:
            if fn is not many_factors:
                ad.value_and_grad(fn, backend="numba")(*args)
