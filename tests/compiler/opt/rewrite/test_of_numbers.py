"""Functions of single numbers as those of `math`: the same gradients, values, types, warnings and errors."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

pytestmark = pytest.mark.once

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
    with pass_registry.without("scalar_math"):
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
        with pass_registry.without("scalar_math"):
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


def parameters_before_the_loop(p, y):
    mean, weight, decay = p[0], p[1], p[2]
    level = weight / (1.0 - decay)
    total = 0.0
    for k in range(len(y)):
        total = total + (y[k] - mean) ** 2 / level
        level = weight + decay * level
    return total


def functions_before_the_loop(p, y):
    growth = np.exp(p[0] * 0.1)
    value = np.zeros(len(y))
    value[0] = p[1]
    for k in range(1, len(y)):
        value[k] = growth * value[k - 1] + y[k] * growth**k
    return value[len(y) - 1]


def sums_before_the_loop(p, y):
    scale = np.sum(p * p)
    product = p @ p
    state = 0.1
    for _ in range(4):
        state = state * scale - product * state * state
    return state * np.mean(y)


def powers_of_before_the_loop(p, y):
    up = np.exp(p[0] * 0.3)
    total = 0.0
    for i in range(len(y)):
        for j in range(i):
            total = total + up**j * y[i] * p[1] ** (i - j)
    return total


def seen_in_the_loop(p, y):
    first = p[0]
    total = 0.0
    for k in range(len(y)):
        total = total + first * y[k] + first.sum() * p[1] % 0.7
    return total


def beside_single_precision(p, y):
    step = p[1] - p[0]
    state = y.astype(np.float32)
    for _ in range(3):
        state = state + step * np.float32(0.5) * state
    return np.sum(state) * p[2]


BEFORE = [parameters_before_the_loop, functions_before_the_loop, sums_before_the_loop, powers_of_before_the_loop]
P = np.array([0.3, 0.8, 0.4])


@pytest.mark.parametrize("fn", [*BEFORE, seen_in_the_loop, beside_single_precision])
def test_numbers_taken_before_loops(fn):
    with pass_registry.without("scalar_math"), pass_registry.without("unbox_arrays"):
        expected = ad.grad(lambda p, y: fn(p, y), (0, 1))(P, X)
    found = ad.grad(fn, (0, 1))(P, X)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-13)
        assert a.dtype == b.dtype
    value, again = ad.value_and_grad(fn, (0, 1))(P, X)
    assert value == fn(P, X) and type(value) is type(fn(P, X))
    np.testing.assert_allclose(again[0], expected[0], rtol=1e-13)


def test_numbers_taken_before_loops_written_out():
    assert "mean, weight, decay = float(p[0]), float(p[1]), float(p[2])" in ad.adjoint_source(
        parameters_before_the_loop, P, X
    )
    assert "growth = math.exp(float(p[0]) * 0.1)" in ad.adjoint_source(functions_before_the_loop, P, X)
    assert "scale = float(" in ad.adjoint_source(sums_before_the_loop, P, X)
    assert "float(" not in ad.adjoint_source(beside_single_precision, P, X)


def test_a_quotient_by_zero_of_a_number_taken_before_the_loop():
    """It is infinite, as NumPy's is."""

    def fn(p, y):
        first = p[0]
        total = 0.0
        for k in range(len(y)):
            total = total + y[k] / first
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.all(np.isinf(ad.grad(fn, 1)(np.zeros(1), X)))


def mean_over_samples(p, y):
    scale = p[0]
    total = 0.0
    for k in range(len(y)):
        total = total + np.log(1.0 + (scale * y[k]) ** 2)
    return total / (1 + len(y))


def product_of_two_sums(p, y):
    first, second = 0.0, p[1]
    for k in range(len(y)):
        first = first + np.exp(-y[k] * p[0])
        second = second * np.cos(y[k])
    return -(first * second + 0.5 * first)


def sum_read_twice(p, y):
    scale, total = p[0], 0.0
    for value in y:
        total = total + np.sqrt(value) * scale
    return total * total, total


def made_numpys_in_one_branch(p, y):
    scale, last = p[0], p[1]
    for value in y:
        last = last * 0.5 + value * scale
    return np.float64(last) if p[1] > 2.0 else last


def seen_after_the_loop(p, y):
    scale, total = p[0], 0.0
    for value in y:
        total = total + np.sin(value) * scale
    return total.sum() * p[1] if len(y) > 0 else p[1]


@pytest.mark.parametrize(
    "fn", [mean_over_samples, product_of_two_sums, sum_read_twice, seen_after_the_loop, made_numpys_in_one_branch]
)
@pytest.mark.parametrize("y", [X, X[:0], X[:1]], ids=len)
def test_the_value_of_a_loop_has_the_type_that_it_had(fn, y):
    value, found = ad.value_and_grad(fn, (0, 1))(P, y)
    expected = fn(P, y)
    assert value == expected
    for a, b in zip(np.atleast_1d(value), np.atleast_1d(expected)):
        assert type(a) is type(b)
    assert type(value) is type(expected)
    if isinstance(value, tuple):
        assert list(map(type, value)) == list(map(type, expected))
    with pass_registry.without("scalar_math"), pass_registry.without("unbox_arrays"):
        _, plain = ad.value_and_grad(lambda p, y: fn(p, y), (0, 1))(P, y)
    for a, b in zip(found, plain):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_the_value_of_a_loop_written_out():
    gradient = ad.value_and_grad(mean_over_samples)
    gradient(P, X)
    assert "scale = float(p[0])" in gradient.source or "p.tolist()" in gradient.source
    assert "(np.float64(total) if len(y) > 0 else total) / " in gradient.source
    assert "y.tolist()" in gradient.source
