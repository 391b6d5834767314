"""In forward mode, exceptions of tangents do not take the program's handlers."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest

import autodiff_sct as ad


def named(x):
    try:
        y = math.sqrt(x)
    except (ArithmeticError, KeyError):
        y = 7.0
    return y


def of_everything(x):
    try:
        y = math.sqrt(x)
    except:  # noqa: E722
        y = 7.0
    return y


def of_base_exceptions(x):
    try:
        try:
            y = math.sqrt(x)
        except BaseException:
            y = 7.0
    except Exception:
        y = 8.0
    return y


def suppressed(x):
    y = 7.0
    with contextlib.suppress(ZeroDivisionError):
        y = math.sqrt(x)
    return y


def finished(x):
    try:
        try:
            y = math.sqrt(x)
        finally:
            x = 2.0
    except ZeroDivisionError:
        y = 7.0
    return y * x


def in_a_loop(x):
    total = 0.0
    for k in range(1, 3):
        try:
            total = total + math.sqrt(x * k)
        except ZeroDivisionError:
            total = total + 7.0
    return total


def root(x, n):
    if n == 0:
        return math.sqrt(x)
    try:
        return root(x, n - 1) * 2.0
    except ZeroDivisionError:
        return 7.0 * x


def recursive(x):
    return root(x, 2)


@pytest.mark.parametrize(
    "fn",
    [named, of_everything, of_base_exceptions, suppressed, finished, in_a_loop, recursive],
    ids=lambda fn: fn.__name__,
)
def test_what_a_tangent_raises_reaches_the_caller(fn):
    assert fn(0.0) == 0.0
    with pytest.raises(ZeroDivisionError):
        ad.jvp(fn, (0.0,), (1.0,))
    value, tangent = ad.jvp(fn, (4.0,), (1.0,))
    assert value == fn(4.0)
    assert tangent == pytest.approx(ad.grad(fn)(4.0), rel=1e-14)


def test_what_the_program_raises_is_handled():
    assert ad.jvp(of_everything, (-1.0,), (1.0,)) == (7.0, 0.0)


def test_errors_of_numpy_that_only_the_tangent_has():
    def f(x):
        with np.errstate(all="raise"):
            try:
                y = x**0.5
                y[0] **= 0.5
            except FloatingPointError:
                y = x + 7.0
        return np.sum(y)

    assert f(np.zeros(2)) == 0.0
    with pytest.raises(FloatingPointError):
        ad.jvp(f, (np.zeros(2),), (np.ones(2),))
    _, tangent = ad.jvp(f, (np.array([16.0, 4.0]),), (np.ones(2),))
    assert tangent == pytest.approx(16.0**-0.75 / 4 + 0.25)


def test_derivative_of_a_tangent():
    def tangent(x):
        return ad.jvp(named, (x,), (1.0,))[1]

    assert ad.grad(tangent)(4.0) == pytest.approx(-1 / 32)


def slope(fn, x):
    """A tangent that is asked for under handlers of the program's own."""
    try:
        t = ad.jvp(fn, (x,), (1.0,))[1]
    except ZeroDivisionError:
        t = 3.0
    return t * x


def slope_of_slope(x):
    try:
        value, t = ad.jvp(lambda x: slope(named, x), (x,), (1.0,))
    except ZeroDivisionError:
        value, t = 5.0, 11.0
    except:  # noqa: E722
        value, t = 13.0, 17.0
    return t * x + value


@pytest.mark.parametrize("fn", [named, of_everything, of_base_exceptions, suppressed, finished, recursive])
def test_handlers_around_a_tangent_see_what_it_raised(fn):
    assert slope(fn, 0.0) == 0.0
    value, gradient = ad.value_and_grad(lambda x: slope(fn, x))(0.0)
    assert (value, gradient) == (0.0, 3.0)
    assert ad.value_and_grad(lambda x: slope(fn, x))(4.0)[0] == slope(fn, 4.0)


def test_handlers_of_two_levels_see_what_is_theirs():
    assert slope_of_slope(0.0) == 5.0
    assert ad.value_and_grad(slope_of_slope)(0.0) == (5.0, 11.0)
    value, gradient = ad.value_and_grad(slope_of_slope)(4.0)
    assert value == slope_of_slope(4.0)
    assert gradient == pytest.approx((slope_of_slope(4.0 + 1e-6) - slope_of_slope(4.0 - 1e-6)) / 2e-6)
    assert ad.jvp(slope_of_slope, (4.0,), (1.0,))[1] == pytest.approx(gradient)


def test_no_exception_of_tangents_is_left_in_a_program_around():
    with pytest.raises(ZeroDivisionError):
        ad.grad(lambda x: ad.jvp(named, (x,), (1.0,))[1] * x)(0.0)


@pytest.mark.parametrize("y", [0.0, 2.0])
def test_what_follows_all_paths_goes_on_from_their_tangents(y):
    def fn(x):
        total = 0.0
        for _ in range(3):
            try:
                total = total + x / y
            except ZeroDivisionError:
                total = total * 0.5 + x
            finally:
                total = total * 1.5 + x * x
        return total

    assert ad.jvp(fn, (0.7,), (1.0,))[1] == pytest.approx(ad.grad(fn)(0.7), rel=1e-14)
    assert ad.grad(fn)(0.7) == pytest.approx((fn(0.7 + 1e-6) - fn(0.7 - 1e-6)) / 2e-6, rel=1e-7)


def test_an_exception_passes_what_follows_all_paths():
    log = []

    def fn(x):
        total = 0.0
        try:
            total = x * x
            if x > 0:
                raise KeyError("none")
        except ZeroDivisionError:
            total = x
        finally:
            log.append(1)
            total = total + x
        return total

    with pytest.raises(KeyError, match="none"):
        ad.jvp(fn, (0.7,), (1.0,))
    assert ad.jvp(fn, (-0.7,), (1.0,))[1] == pytest.approx(-0.4)
