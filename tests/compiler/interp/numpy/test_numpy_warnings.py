"""NumPy's warnings as exceptions: a gradient asks for no value, but for the path that the program takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

X = np.array([0.3, -0.4, 0.7])


def caught_inside(x):
    with np.errstate(all="raise"):
        try:
            return np.sum(np.log(x))
        except FloatingPointError:
            return np.sum(x**2)


def caught_outside(x):
    try:
        with np.errstate(invalid="raise"):
            return np.sum(np.log(x))
    except FloatingPointError:
        return np.sum(x**2)


def caught_as_anything(x):
    with np.errstate(all="raise"):
        try:
            return np.sum(np.sqrt(x))
        except Exception:
            return np.sum(x**2)


def caught_in_a_loop(x):
    total = 0.0
    with np.errstate(divide="raise", invalid="raise"):
        for i in range(3):
            try:
                total += x[i] / (x[i] - x[0])
            except FloatingPointError:
                total += x[i] ** 2
    return total


def caught_as_a_warning(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.sum(np.log(x))
        except RuntimeWarning:
            return np.sum(x**2)


PROGRAMS = [caught_inside, caught_outside, caught_as_anything, caught_in_a_loop, caught_as_a_warning]


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("x", [X, np.abs(X)])
def test_the_path_that_the_program_takes(fn: Callable[[Any], Any], x: np.ndarray) -> None:
    expected = [(fn(x + step) - fn(x - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(ad.grad(fn)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.vjp(fn, x)[1](1.0)[0], expected, rtol=1e-6)


def test_the_program_raises() -> None:
    def fn(x):
        with np.errstate(all="raise"):
            return np.sum(np.log(x))

    with pytest.raises(FloatingPointError):
        ad.grad(fn)(X)


def test_the_callers_state_under_a_handler() -> None:
    def fn(x):
        try:
            return np.sum(np.log(x))
        except FloatingPointError:
            return np.sum(x**2)

    gradient = ad.grad(fn)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(gradient(X), 2 * X)
    np.testing.assert_allclose(gradient(np.abs(X)), 1 / np.abs(X))
