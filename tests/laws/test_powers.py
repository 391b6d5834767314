"""Derivatives of powers, first and second, at bases and exponents where the formulas meet ``0 ** -1`` or ``log(0)``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_sct import grad

pytestmark = pytest.mark.once


def by_operator(x: Any, b: Any) -> Any:
    return np.sum(x**b)


def by_power(x: Any, b: Any) -> Any:
    return np.sum(np.power(x, b))


def by_float_power(x: Any, b: Any) -> Any:
    return np.sum(np.float_power(x, b))


def by_math(x: Any, b: Any) -> Any:
    return math.pow(x, b)


def by_builtin(x: Any, b: Any) -> Any:
    return pow(x, b)


FUNCTIONS = [by_operator, by_power, by_float_power, by_math, by_builtin]
KINDS: dict[str, Callable[[float, float], tuple[Any, Any]]] = {
    "floats": lambda x, b: (x, b),
    "array and float": lambda x, b: (np.array([x]), b),
    "float and array": lambda x, b: (x, np.array([b])),
    "arrays": lambda x, b: (np.array([x]), np.array([b])),
    "single": lambda x, b: (np.array([x], np.float32), np.array([b], np.float32)),
    "NumPy scalars": lambda x, b: (np.float64(x), np.float64(b)),
}
ON_ARRAYS = [(fn, kind) for fn in FUNCTIONS for kind in KINDS if fn is not by_math or kind == "floats"]


def derivatives(fn: Callable[[Any, Any], Any], x: Any, b: Any) -> list[float]:
    """By x, by b, by x twice, by x then b, by b then x, by b twice."""

    def by_x(x: Any, b: Any) -> Any:
        return np.sum(grad(fn, 0)(x, b))

    def by_b(x: Any, b: Any) -> Any:
        return np.sum(grad(fn, 1)(x, b))

    found = [grad(f, k)(x, b) for f in (fn, by_x, by_b) for k in (0, 1)]
    return [float(np.sum(value)) for value in found]


def formulas(x: float, b: float) -> list[float]:
    log = math.log(x)
    mixed = x ** (b - 1) * (1 + b * log)
    return [b * x ** (b - 1), x**b * log, b * (b - 1) * x ** (b - 2), mixed, mixed, x**b * log * log]


@pytest.mark.parametrize(("fn", "kind"), ON_ARRAYS, ids=lambda v: getattr(v, "__name__", v))
@pytest.mark.parametrize("b", [0.0, 1.0, 2.0, 0.5, -1.0])
def test_positive_bases(fn: Callable[[Any, Any], Any], kind: str, b: float) -> None:
    np.testing.assert_allclose(derivatives(fn, *KINDS[kind](1.7, b)), formulas(1.7, b), 1e-5, 1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("b", "slope", "bend"), [(0.0, 0, 0), (1.0, 1, 0), (2.0, 0, 2), (3.0, 0, 0), (2.5, 0, 0)])
def test_base_zero(kind: str, b: float, slope: float, bend: float) -> None:
    """By the base as for a fixed exponent; by the exponent nothing, for 0 to any positive power is 0."""
    with np.errstate(all="ignore"):
        found = derivatives(by_operator, *KINDS[kind](0.0, b))
    assert found[:3] == [slope, 0, bend] and found[5] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("b", [0.0, 1.0, 2.0, 3.0])
def test_negative_bases(kind: str, b: float) -> None:
    """By the base as for a fixed exponent; by the exponent there is none.

    The slope by the base, ``b * a**(b - 1)``, has one by an exponent of 0: zero times the second factor's is zero.
    """
    with np.errstate(all="ignore"):
        found = derivatives(by_operator, *KINDS[kind](-2.0, b))
    mixed = np.nan if b else -0.5
    expected = [b * (-2) ** (b - 1), np.nan, b * (b - 1) * (-2) ** (b - 2), mixed, np.nan, np.nan]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("x", [0.0, -2.0, 1.7, np.array([0.0, -2.0])], ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_whole_exponents(x: Any, n: int) -> None:
    def first(x: Any) -> Any:
        return np.sum(grad(by_operator)(x, n))

    np.testing.assert_allclose(grad(by_operator)(x, n), n * x ** max(n - 1, 0))
    np.testing.assert_allclose(grad(first)(x), n * (n - 1) * x ** max(n - 2, 0))


def test_literal_exponents() -> None:
    x = np.array([0.0, -2.0, 1.7])
    for fn, expected in (
        (lambda x: np.sum(x**0), 0 * x),
        (lambda x: np.sum(x**0.0), 0 * x),
        (lambda x: np.sum(x**1.0), 0 * x + 1),
        (lambda x: np.sum(x**2.0), 2 * x),
    ):
        np.testing.assert_array_equal(grad(fn)(x), expected)
