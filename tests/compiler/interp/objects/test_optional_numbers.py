"""Numbers that may be None: where an operator has taken one, it was a number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(np.array([0.4, 1.3, 0.9]))
def largest_item(x: Any) -> Any:
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * best + np.sum(x)


@case(np.array([0.4, 1.3, 0.9]))
def item_or_number(x: Any) -> Any:
    best = None
    for k, v in enumerate(x):
        if v > 1.0:
            best = v
        elif k == 2:
            best = 0.5
    return best * 2.0 + x[0]


def series(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        total += 1.0 / (1.0 + x * k)
    return total


@case(0.3, 0.9)
def bracket(x: Any) -> Any:
    """What `series` returned in the step before lies where its sum lies now, were they arrays."""
    low, high = None, None
    if x < 0.5:
        low = x
    else:
        high = x
    for _ in range(4):
        p = x * 2.0
        if low is not None and high is not None:
            p = 0.5 * (low + high)
        x = p
        if series(x) < 2.0:
            high = x
        else:
            low = x
    return x


@case(1.3, 0.7)
def largest(x: Any) -> Any:
    best = None
    for k in range(4):
        v = math.sin(x * k + 1.0)
        if best is None or v > best:
            best = v
    return best * best + x


@case(1.3, 0.7)
def none_is_caught(x: Any) -> Any:
    y = None
    try:
        r = y * 2.0
    except TypeError:
        r = x * 3.0
    if x > 1.0:
        y = x
    try:
        z = y * 2.0 + r
    except TypeError:
        z = x * 5.0 + r
    return z * x


@case(1.3, 0.7)
def number_or_array(x: Any) -> Any:
    y = None
    if x > 1.0:
        y = np.array([x, x * x])
    else:
        y = 3.0 * x
    return np.sum(y * 3.0 * x)


@case(1.3, 0.7)
def of_two_types(x: Any) -> Any:
    y = None
    if x > 1.0:
        y = 2
    elif x > 0.5:
        y = 2.5 * x
    z = -y
    return z * x


@case(1.3, 0.7)
def equal_to_none(x: Any) -> Any:
    y = None
    if x > 1.0:
        y = x * 2.0
    nothing = y == None  # noqa: E711
    if y != 3.0:
        x = x * 2.0
    return x if nothing else x * x


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


@pytest.mark.parametrize(
    "operation", [lambda y: y * 3.0, lambda y: 1 - y, lambda y: -y, lambda y: y**2, lambda y: y < 9]
)
def test_none_raises_as_in_python(operation: Any) -> None:
    def f(x: Any) -> Any:
        y = None
        if x > 1.0:
            y = x
        z = operation(y)
        return z * x

    assert ad.grad(f)(2.0) == pytest.approx((f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6)
    with pytest.raises(TypeError, match="NoneType"):
        ad.grad(f)(0.5)


def test_what_an_operator_gives_is_a_plain_number() -> None:
    def f(x: Any) -> Any:
        y = None
        if x > 1.0:
            y = x * x
        z = y * 3.0
        return z * z

    assert "unbroadcast(d_out" not in ad.adjoint_source(f, 2.0)
