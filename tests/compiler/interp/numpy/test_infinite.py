"""Where NumPy's numbers are infinite or NaN, with a warning, derivatives raise nothing: Python's floats would."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad

X = np.array([0.5, -1.5, 2.0])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def by_a_batch_of_none(x):
    return np.sum(x**2) / len(x[:0])


def item_by_zero(x):
    return x[0] / 0


def items_by_zero_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] / len(x[:0])
    return s


def item_by_zero_before_a_float(x):
    return float(x[0] / 0) * 2.0


def one_too_few(x):
    return np.var(x[:1], ddof=1)


def logarithm_of_zero(t):
    return np.log(t - t)


def quotient_of_numpy(t):
    return np.divide(t, 0) + np.float64(t) / 0


def infinite_slope(x):
    return np.sum(np.sqrt(x - x)) + x[1]


ARRAYS = [by_a_batch_of_none, item_by_zero, items_by_zero_in_a_loop, item_by_zero_before_a_float, one_too_few]


@pytest.mark.parametrize(
    ("program", "at"),
    [(p, X) for p in [*ARRAYS, infinite_slope]] + [(logarithm_of_zero, 1.5), (quotient_of_numpy, 1.5)],
)
def test_nothing_is_raised(program, at):
    expected = program(at)
    value, gradient = ad.value_and_grad(program)(at)
    np.testing.assert_array_equal(value, expected)
    assert type(value) is type(expected)
    assert type(gradient) is type(at)
    assert np.shape(gradient) == np.shape(at)
    assert not np.all(np.isfinite(gradient))
    np.testing.assert_array_equal(ad.grad(program)(at), gradient)
    direction = np.ones_like(at) if isinstance(at, np.ndarray) else 1.0
    np.testing.assert_array_equal(ad.jvp(program, at, direction)[0], expected)


@pytest.mark.parametrize("program", ARRAYS)
def test_single_precision_stays(program):
    gradient = ad.grad(program)(X.astype(np.float32))
    assert gradient.dtype == np.float32


def float_by_zero(t):
    return t / 0 if t > 0 else 1 / (t - t)


def root_of_a_negative(t):
    return math.sqrt(-t * t)


def too_large(t):
    return math.exp(1000 * t * t)


@pytest.mark.parametrize("program", [float_by_zero, root_of_a_negative, too_large])
@pytest.mark.parametrize("at", [1.5, -1.5])
def test_what_floats_raise_is_raised(program, at):
    with pytest.raises((ArithmeticError, ValueError)) as wanted:
        program(at)
    for derivative in (ad.grad(program), ad.value_and_grad(program), lambda t: ad.jvp(program, t, 1.0)):
        with pytest.raises(wanted.type, match=str(wanted.value)):
            derivative(at)


def root(t):
    return abs(t**0.5)


def odd_power(t, p=2.3):
    return abs(t**p)


def falling_power(t):
    return abs(2.0**t + t**-0.5)


def power_in_a_loop(t):
    s = 0.0
    for k in range(3):
        s = s + abs(t**1.5) * k
    return s


@pytest.mark.parametrize("program", [root, odd_power, falling_power, power_in_a_loop])
def test_a_complex_power_of_a_float_is_refused(program):
    for derivative in (ad.grad(program), ad.value_and_grad(program), lambda t: ad.jvp(program, t, 1.0)):
        slope = derivative(0.25)
        assert type(slope) in (float, tuple)
        with pytest.raises(ad.AutodiffError, match="below zero"):
            derivative(-1.5)


def quarter_power(t):
    return t**0.25


def test_an_infinite_slope_at_zero():
    assert ad.grad(quarter_power)(0.0) == math.inf
    assert math.isclose(ad.grad(quarter_power)(0.25), 0.25 * 0.25**-0.75, rel_tol=1e-12)


def squares(x):
    return np.sum(np.vectorize(lambda v: v * v)(x))


def test_nothing_is_vectorized():
    np.testing.assert_allclose(ad.grad(squares)(X), 2 * X)
    for derivative in (ad.grad(squares), ad.value_and_grad(squares), lambda x: ad.jvp(squares, x, x)):
        with pytest.raises(ValueError, match="size 0 inputs"):
            derivative(X[:0])


def squared_in_place(x):
    total = out = np.where(1.08 > 0.37, x.mean(), x[0])
    out *= out
    return total * 1.0 + out


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_an_array_of_rank_0_is_squared_in_place(dtype):
    x = X.astype(dtype)
    value, gradient = ad.value_and_grad(squared_in_place)(x)
    assert value == squared_in_place(x)
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, np.full(3, 4 / 3 * x.mean()), rtol=1e-6)
    assert np.allclose(ad.jvp(squared_in_place, x, np.ones_like(x))[1], 4 * x.mean())
