"""``np.nan_to_num``, which writes into its argument with ``copy=False``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
X = np.array([1.3, np.nan, -2.0, 0.7])
LONG = np.where(np.arange(130) % 7 == 3, np.nan, np.cos(np.arange(130.0)))


@case(X, LONG)
def read_again(x: Any) -> Any:
    y = x * 2.0
    np.nan_to_num(y, copy=False, nan=0.7)
    return np.sum(y**2)


@case(X)
def result_is_the_argument(x: Any) -> Any:
    y = x * 2.0
    z = np.nan_to_num(y, False)
    z *= 3.0
    return np.sum(y**2) + np.sum(z)


@case(X, LONG)
def a_view(x: Any) -> Any:
    y = x * 2.0
    np.nan_to_num(y[1:], copy=None, posinf=1.0)
    return np.sum(np.nan_to_num(y) ** 2)


@case(X)
def complex_numbers(x: Any) -> Any:
    z = x * (1.0 + 2.0j)
    np.nan_to_num(z, copy=False)
    return np.sum(np.abs(z) ** 2)


@case(X)
def a_number(x: Any) -> Any:
    return np.nan_to_num(x[0], copy=None) ** 2


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_the_argument_of_a_gradient_is_left_alone() -> None:
    x = X.copy()

    def fn(x: Any) -> Any:
        np.nan_to_num(x, copy=False)
        return np.sum(x**2)

    np.testing.assert_array_equal(ad.grad(fn)(x), [2.6, 0.0, -4.0, 1.4])
    np.testing.assert_array_equal(x, X)
