"""Arithmetic of numbers where Python's, NumPy's and the processor's differ."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import flat, native, positions

X = np.array([0.5, -1.25, 2.0, 0.75, -0.3])


def assert_same(fn, *args):
    with np.errstate(all="ignore"):
        expected = ad.value_and_grad(fn, positions(args))(*args)
    for a, b in zip(flat(native(fn, *args)), flat(expected), strict=True):
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)


DIVIDENDS, DIVISORS = np.array([-(2**63), -7, 7]), np.array([-1, -1, -2])


def quotients(x):
    s = 0.0
    for i in range(3):
        s += x[i] * (DIVIDENDS[i] // DIVISORS[i]) + x[0] * (DIVIDENDS[i] % DIVISORS[i])
    return s


def test_the_least_integer_by_minus_one():
    assert_same(quotients, X)


def remainders(x, a, b):
    s = 0.0
    for i in range(2):
        s += x[i] * (a % b)
    return s, a % b, a // b


@pytest.mark.parametrize("kind", [float, np.float64])
@pytest.mark.parametrize("a", [7.5, -7.5, 0.0, -0.0, 6.0, math.inf])
@pytest.mark.parametrize("b", [2.5, -2.5, 3.0])
def test_remainders_of_floats(a, b, kind):
    assert_same(remainders, X, kind(a), kind(b))


def whole_numbers(x, a):
    s = 0.0
    for i in range(2):
        s += x[i] * round(a)
    return s, round(a), math.floor(a), math.ceil(a), math.trunc(a), np.round(a), np.rint(a), np.around(x)


@pytest.mark.parametrize("a", [2.5, 3.5, -0.5, -7.3])
def test_rounding(a):
    assert_same(whole_numbers, X, a)


def truth_values(x, flag):
    s, k = 0.0, 0
    mask, other = x > 0, x < 1
    for i in range(5):
        k += (i > 2) + flag
        s += x[i] * (flag + (i > 1)) - (-flag)
        if mask[i] ^ other[i] or mask[i] * other[i]:
            s += x[i]
    return s, k, flag + flag, flag ^ True, mask + other


@pytest.mark.parametrize("flag", [True, False])
def test_truth_values_in_arithmetic(flag):
    assert_same(truth_values, X, flag)


def between(x, n):
    s = x[0]
    for i in range(5):
        if 0 < i < n <= 4:
            s += x[i]
        if -1 < x[i] <= 1 < n:
            s += x[i] ** 2
    return s


@pytest.mark.parametrize("n", [3, 0])
def test_chains_of_comparisons(n):
    assert_same(between, X, n)


def kinds(x, n, a):
    s = 0.0
    for i in range(2):
        s += x[i]
    return s, n * 2, n / 2, n > 2, abs(n), np.abs(a), np.negative(a), np.square(a), np.fabs(a), abs(a), np.abs(n)


def test_kinds_of_numbers():
    assert_same(kinds, X, 3, -1.5)


def powers(a, b):
    s = 0.0
    for _ in range(2):
        s += a**b + math.pow(a, 2)
    return s


def test_powers_of_two_variables():
    assert_same(powers, 2.0, 0.5)
