"""Functions of single numbers as those of `math`: the same gradients, values, types, warnings and errors."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes

X = np.array([0.5, 1.5, 0.25, 2.0])


def iterated(a, v):
    total = 0.0
    width = np.sqrt(a)
    for _ in range(5):
        v = v + 0.01 * np.exp(-v * a) * width
        total += np.log1p(v * v) + np.arctan2(v, a)
    return total


def until_close(a, v):
    change = 1.0
    while abs(change) > 1e-4:
        change = 0.5 * (a + 0.3 * np.sin(v) - v)
        v = v + change
    return v * v


def chosen(a, v):
    total = 0.0
    for k in range(6):
        wave = np.cos(a * k)
        total += v * wave if wave > 0.0 else np.tanh(v)
    return total


def larger(a, v):
    total = 0.0
    for k in range(6):
        total += max(np.exp(a * k * 0.1), v) * np.cosh(v)
    return total


def broken_power(a, v):
    total = 0.0
    for k in range(1, 5):
        total += (np.sin(a * k) ** 2) ** 0.5 * v + np.sqrt(v) ** 1.5
    return total


def remainder(a, v):
    total = 0.0
    for k in range(5):
        total += np.exp(a * 0.1 * k) % 1.0 + np.exp(v) // 0.7
    return total


def type_is_seen(a, v):
    total = 0.0
    for k in range(5):
        wave = np.sin(a * k)
        total += wave.sum() * v + (2.0 if isinstance(np.cos(v), np.floating) else 3.0) * a
    return total


def integers(a, v):
    total = 0.0
    for k in range(1, 5):
        total += np.sqrt(k) * a + np.log(k) * v
    return total


@pytest.mark.parametrize("fn", [iterated, until_close, chosen, larger, broken_power, remainder, type_is_seen, integers])
@pytest.mark.parametrize("number", [float, np.float64, np.float32])
def test_value_and_gradients(fn, number):
    args = number(0.7), number(1.3)
    with passes.without("of_numbers"):
        expected = ad.grad(fn, (0, 1))(*args)
    found = ad.grad(fn, (0, 1))(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-14 if number is not np.float32 else 1e-6)
    assert list(map(type, found)) == list(map(type, expected))
    value, again = ad.value_and_grad(fn, (0, 1))(*args)
    assert value == fn(*args) and type(value) is type(fn(*args))
    np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("v", [-1.0, 800.0, np.inf, np.nan])
def test_what_math_refuses_is_done_as_numpy_does_it(v):
    def fn(a, v):
        total = 0.0
        for k in range(3):
            total += np.sqrt(v) * a + np.log(v) + np.exp(v) * k + np.arcsin(v)
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with passes.without("of_numbers"):
            expected = ad.grad(fn, (0, 1))(1.0, v)
        np.testing.assert_array_equal(ad.grad(fn, (0, 1))(1.0, v), expected)


def test_an_error_of_the_program_is_its_own():
    def fn(v):
        for _ in range(3):
            v = np.sqrt(v) * v
            if v < 0.5:
                raise ValueError("too small")
        return v

    assert ad.grad(fn)(2.0) > 0
    with pytest.raises(ValueError, match="too small"):
        ad.grad(fn)(0.3)


def test_written_out():
    found = ad.adjoint_source(iterated, 0.7, 1.3)
    assert "math.exp(" in found and "width = math.sqrt(a)" in found and "import numpy" not in found
    assert "float(np.sin(" in ad.adjoint_source(until_close, 0.7, 1.3)
    assert "np.cos(a * k)" in ad.adjoint_source(chosen, 0.7, 1.3)


def test_once_is_left():
    assert "np.exp" in ad.adjoint_source(lambda v: np.exp(v) * np.sqrt(v), 1.3)


def test_a_function_called_float():
    def fn(x):
        def float(v):
            return 2.0 * v

        total = 0.0
        for k in range(len(x)):
            total = total + float(np.sqrt(x[k]))
        return total

    np.testing.assert_allclose(ad.grad(fn)(X), 1 / np.sqrt(X), rtol=1e-14)


def numbers_of_numpy_in_a_list(x, p):
    factor = math.cos(x[0]) if p > 0.5 else np.sqrt(0.45)
    y = x * 1.0
    for i in range(len(x)):
        y[i] = float(y[i - 1])
        y[i] *= factor if p < x[i] else p
    return np.sum(y * y)


@pytest.mark.parametrize("p", [0.3, 0.9])
def test_the_derivative_of_a_float_is_one(p):
    """Also where a number of NumPy's was put into a list of floats."""
    x = np.array([0.1, 0.8, 1.3])
    found = ad.grad(numbers_of_numpy_in_a_list, 1)(x, p)
    assert type(found) is float
    step = 1e-6
    near = [numbers_of_numpy_in_a_list(x, p + h) for h in (step, -step)]
    assert found == pytest.approx((near[0] - near[1]) / (2 * step), rel=1e-6)
