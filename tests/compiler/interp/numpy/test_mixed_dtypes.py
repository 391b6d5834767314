"""Doubles that meet single numbers: what is computed in double precision has a derivative in double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain.facts import Num, join

SINGLE = np.array([0.1, 0.7, 0.3], dtype=np.float32)
BYTES = np.array([100, 2, 3], dtype=np.int8)
V = np.array([0.4, 1.3, -0.7])


def number_and_factor(x: Any, c: Any) -> Any:
    return 0.3 * (np.sin(x) * c[0])


def two_factors(x: Any, c: Any) -> Any:
    return np.sin(np.sin(x) * c[1] * c[0]) * c[2]


def of_math(x: Any, c: Any) -> Any:
    return math.cos(np.sin(x) * c[1]) * 0.3


def summed_in_a_loop(x: Any, c: Any) -> Any:
    total = 0.0
    for k in range(3):
        total = total + np.sin(x) * c[k] * 0.1
    return total


def carried(x: Any, c: Any) -> Any:
    total = np.float64(0)
    for k in range(3):
        total = total * 0.3 + np.sin(x) * c[k]
    return total


def times_an_array(x: Any, c: Any) -> Any:
    return np.sum(np.float64(x) * c) * 0.3


def through_a_branch(x: Any, c: Any) -> Any:
    y = np.sin(x) * 3
    y = y * 1.1 if y > 0.1 else 1.0
    return y * c[1] + x**2


def array_and_factors(x: Any, c: Any) -> Any:
    return np.sum(np.sin(x) * c[1] * c[0])


PROGRAMS: list[tuple[Any, Any, Any]] = [
    *((f, 0.7, SINGLE) for f in (number_and_factor, two_factors, of_math, summed_in_a_loop, carried)),
    *((f, 0.7, SINGLE) for f in (times_an_array, through_a_branch)),
    *((array_and_factors, V, c) for c in (SINGLE, BYTES)),
]


@pytest.mark.parametrize(("fn", "x", "c"), PROGRAMS, ids=[f"{f.__name__}-{c.dtype}" for f, _, c in PROGRAMS])
def test_derivatives_are_as_precise_as_the_value(fn: Any, x: Any, c: Any) -> None:
    expected = ad.grad(fn)(x, c.astype(np.float64))
    value, gradient = ad.value_and_grad(fn)(x, c)
    assert value == fn(x, c)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)
    np.testing.assert_allclose(ad.grad(fn)(x, c), expected, rtol=1e-14)
    np.testing.assert_allclose(ad.vjp(lambda z: fn(z, c), x)[1](1 / 3)[0], expected / 3, rtol=1e-14)
    direction = np.cos(V) if isinstance(x, np.ndarray) else 0.7
    tangent = ad.jvp(lambda z: fn(z, c), (x,), (direction,))[1]
    np.testing.assert_allclose(tangent, np.sum(expected * direction), rtol=1e-14)


def test_what_only_the_run_tells_has_a_tangent_of_its_kind() -> None:
    def fn(x: Any) -> Any:
        y = np.sin(x) * 3
        y = y * 1.0 if y > 1 else 1.0
        return y * np.float32(2) + x**2

    for x in (np.float32(2.0), np.float64(2.0), 2.0, 0.1):
        value, tangent = ad.jvp(fn, (x,), (type(x)(0.7),))
        assert type(tangent) is type(value)


def test_a_number_that_becomes_an_array_of_rank_0_stays_a_python_float() -> None:
    def fn(x: Any) -> Any:
        v = x * (x > 0)
        for _ in range(2):
            v = np.where(x > 0, x, 2.0)
            for _ in range(0):
                v += x
        return v * v * x

    assert type(ad.grad(fn)(0.7)) is float
    assert ad.grad(fn)(0.7) == pytest.approx(3 * 0.7**2, rel=1e-14)


def list_given_a_number(x: Any) -> Any:
    items = [1, 2, 3]
    items[1] = x[0]
    return np.array(items) @ x


def lists_in_a_list(x: Any) -> Any:
    items = [[1, x[1]], [0, 2]]
    items[0][0] = x[0]
    return np.sum(np.array(items) * x[:2])


@pytest.mark.parametrize("fn", [list_given_a_number, lists_in_a_list])
def test_lists_of_numbers_of_both_kinds(fn: Any) -> None:
    """NumPy makes doubles of a list in which a Python number is beside a single one."""
    x = np.array([2.41, 1.33, -0.72], np.float32)
    value, gradient = ad.value_and_grad(fn)(x)
    _, tangent = ad.jvp(fn, (x,), (np.ones_like(x),))
    assert value == fn(x) and value.dtype == np.asarray(tangent).dtype == np.float64
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(tangent, np.sum(gradient.astype(float)), rtol=1e-6)


def least_from_infinity(x: Any) -> Any:
    least = float("inf")
    for v in x:
        least = min(least, v)
    return x * np.exp(least)


def greatest_of_both_kinds(x: Any) -> Any:
    greatest = 0.0
    for v in x:
        greatest = max(greatest, v)
    return np.sin(x) * np.tanh(greatest)


@pytest.mark.parametrize("fn", [least_from_infinity, greatest_of_both_kinds])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_number_of_a_dtype_that_only_the_run_tells(fn: Any, dtype: Any) -> None:
    x = SINGLE.astype(dtype)
    value, tangent = ad.jvp(fn, (x,), (np.ones_like(x),))
    assert value.dtype == tangent.dtype == fn(x).dtype == dtype
    assert ad.grad(fn)(x).dtype == dtype
    assert np.vdot(ad.grad(fn)(x), np.ones_like(x)) == pytest.approx(tangent.sum(), rel=1e-5)


def test_what_is_unknown_is_not_a_double() -> None:
    double, unknown = Num(None, np.dtype(float), ()), Num(None, None, ())
    assert double != unknown
    assert join(double, unknown).dtype is join(unknown, double).dtype is None
