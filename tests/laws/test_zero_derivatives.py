"""Derivatives that are zero and depend on an input all the same: strong zeros must not hide that at second order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_sct as ad

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

X = np.array([0.1, 1.0, 2.0])


def exact_fit(x: Any) -> Any:
    return np.sum((np.sqrt(x) - 1) ** 2 * np.array([1.0, 3.0, 2.0]))


def quotient(x: Any) -> Any:
    return np.sum((1 / x - 1) ** 2 + (np.log(x) ** 2) * x)


def powers(x: Any) -> Any:
    return np.sum((x**1.5 - 1) ** 2) + np.sum((x ** x[1] - 1) ** 2)


def of_numbers(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += (math.sqrt(x[i]) - 1) ** 2 + (float(x[i]) ** 1.5 - 1) ** 2 + math.log(x[i]) ** 2
    return total


def printed(x: Any) -> Any:
    print(end="")
    return exact_fit(x)


def printed_numbers(x: Any) -> Any:
    print(end="")
    return of_numbers(x)


def beside_a_mask(x: Any) -> Any:
    return exact_fit(x) + np.sum(np.where(x > 0.5, np.sqrt(x - 0.5), 0.0))


def products_beside_a_mask(x: Any) -> Any:
    y = x - 1
    return np.sum(y * y * y + y * y) + np.sum(np.where(x > 0.5, np.sqrt(x - 0.5), 0.0))


def numbers_beside_a_mask(x: Any) -> Any:
    return of_numbers(x) + np.sum(np.where(x > 0.5, np.log(x - 0.5), 0.0))


def special_functions(x: Any) -> Any:
    return np.sum((special.gammaln(x + 1.5) - special.gammaln(2.5)) ** 2) + np.sum(np.arctan2(x - 1, x) ** 2)


def zero_times_infinity(x: Any) -> Any:
    return np.sum(np.where(x > 0.5, np.sqrt(np.maximum(x - 0.5, 0.0)), 0.0) * (x - 1) ** 2)


PROGRAMS = [
    exact_fit, quotient, powers, of_numbers, printed, printed_numbers, beside_a_mask, products_beside_a_mask,
    numbers_beside_a_mask, special_functions, zero_times_infinity,
]  # fmt: skip
Way = Callable[[Any, Any, Any], Any]
WAYS: dict[str, Way] = {
    "jvp of grad": lambda f, x, v: ad.jvp(ad.grad(f), x, v)[1],
    "grad of jvp": lambda f, x, v: ad.grad(lambda x: ad.jvp(f, x, v)[1])(x),
    "grad of grad": lambda f, x, v: ad.grad(lambda x: np.sum(ad.grad(f)(x) * v))(x),
    "vjp of grad": lambda f, x, v: ad.vjp(ad.grad(f), x)[1](v)[0],
    "vjp of jvp": lambda f, x, v: ad.vjp(lambda x: ad.jvp(f, x, v)[1], x)[1](1.0)[0],
    "jacrev of grad": lambda f, x, v: ad.jacrev(ad.grad(f))(x) @ v,
    "jacfwd of grad": lambda f, x, v: ad.jacfwd(ad.grad(f))(x) @ v,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_second_order(program: Any, way: Way) -> None:
    f, v, h = ad.grad(program), np.array([0.7, -1.3, 0.4]), 1e-5
    expected = (f(X + h * v) - f(X - h * v)) / (2 * h)
    np.testing.assert_allclose(way(program, X, v), expected, 1e-6, 1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_third_order(program: Any) -> None:
    v, h = np.array([0.7, -1.3, 0.4]), 1e-5

    def second(x: Any) -> Any:
        return ad.jvp(ad.grad(program), x, v)[1]

    expected = (second(X + h * v) - second(X - h * v)) / (2 * h)
    np.testing.assert_allclose(ad.vjp(second, X)[1](v)[0], expected, 1e-5, 1e-5)
    np.testing.assert_allclose(ad.jvp(second, X, v)[1], expected, 1e-5, 1e-5)


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_what_is_masked_stays_zero(way: Way) -> None:
    def masked(x: Any) -> Any:
        total = np.sum(np.where(x > 0.5, np.sqrt(x), 0.0) * x)
        for i in range(len(x)):
            total += 0.0 if x[i] < 0.5 else math.log(x[i])
        return total

    x, v = np.array([0.0, 1.0, 4.0]), np.ones(3)
    np.testing.assert_allclose(way(masked, x, v), [0.0, 0.75 - 1.0, 0.375 - 1 / 16], 1e-12, 1e-12)
