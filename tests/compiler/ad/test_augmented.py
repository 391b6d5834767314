"""Updates of numbers in the reverse sweep are augmented assignments; the forward sweep stays as it was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, check_tangent

pytestmark = pytest.mark.once


def newton(a: Any) -> Any:
    x = 1.0
    for _ in range(6):
        x = 0.5 * (x + a / x)
    return x * a


def of_scalars(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = np.sin(total * v) + v
    return total


def number_beside_array(x: Any) -> Any:
    scale = 1.0
    for _ in range(3):
        scale = scale * 0.5 + float(x[0])
    return np.sum(x * scale) * scale


def carried_array(x: Any) -> Any:
    y = x
    for _ in range(3):
        y = np.sin(y) * x
    return np.sum(y)


@pytest.mark.parametrize("fn", [of_scalars, number_beside_array, carried_array])
@pytest.mark.parametrize("n", [1, 3, 130])
def test_gradient(fn: Any, n: int) -> None:
    x = np.linspace(0.2, 0.7, n)
    check_gradient(fn, (x,))
    check_tangent(fn, (x,))


def test_text_and_second_order_of_numbers() -> None:
    text = ad.adjoint_source(newton, 2.0)
    assert "t = d_x / x\n" in text and "d_a += t\n" in text and "d_x *= 0.5" in text
    check_gradient(newton, (2.0,))
    ad.check_grads(newton, (2.0,), order=3)


def test_the_forward_sweep_stays_as_the_user_wrote_it() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for v in x:
            total = total + np.sin(v)
        return total * total

    assert "total = total + np.sin(v)" in ad.adjoint_source(f, [1.0, 2.0])
