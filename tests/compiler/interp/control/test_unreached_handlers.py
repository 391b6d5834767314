"""Handlers for what kinds and dtypes decide: known while compiling where these are, caught at run time elsewhere."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, registrar

CASES: Cases = []
case = registrar(CASES)
SIZES = [np.linspace(-0.73, 0.9, n) for n in (1, 3, 130)]


@case(*SIZES, 0.02, 0.8)
def cleared(e: Any) -> Any:
    e = e * 1.0
    try:
        e[abs(e) < 0.1] = 0.0
    except TypeError:
        if abs(e) < 0.1:
            e = 0.0
    return np.sum(e**2)


@case(*SIZES, 0.3, 0.8)
def turned_inside(x: Any) -> Any:
    height = np.hypot(x, 2.0 * x + 1.0)
    inside = x**2 < 0.25
    try:
        if inside.any():
            height[inside] = -height[inside]
    except (TypeError, AttributeError):
        if inside:
            height = -height
    return np.sum(height**3)


@case(*SIZES, 0.8)
def several_steps(x: Any) -> Any:
    y = x * 2.0
    try:
        y[y > 1.0] = 1.0
        y[y < -1.0] *= 0.5
        limit = np.max(y) - np.finfo(y.dtype).eps
    except (TypeError, AttributeError):
        limit = 0.5
    else:
        limit = limit * 2.0
    return np.sum(np.sin(y)) + limit


@case(*SIZES)
def missing_name(x: Any) -> Any:
    try:
        y = numpy.sin(x)  # type: ignore[name-defined]
    except NameError:
        y = np.cos(x)
    return np.sum(y)


@case(*SIZES)
def one_number(x: Any) -> Any:
    try:
        value = float(x[: len(x)])
    except TypeError:
        value = np.sum(x) * 3.0
    return value**2


@case(*SIZES)
def one_number_of_python(x: Any) -> Any:
    try:
        value = math.sin(x)
    except TypeError:
        value = np.sum(np.sin(x)) * 3.0
    return value**2


@case(*SIZES)
def other_errors(x: Any) -> Any:
    y = x * 1.0
    try:
        y[2] = 0.0
    except (TypeError, IndexError):
        y = y * 5.0
    return np.sum(y**2)


@case(*SIZES)
def unequal_lengths(x: Any) -> Any:
    try:
        y = x * np.ones(3)
    except ValueError:
        y = x * 5.0
    return np.sum(y**2)


def cast(x: Any, scale: Any) -> Any:
    y = np.asarray(x)
    try:
        y *= scale
    except TypeError:
        y = y * scale
    return y


@case(*SIZES)
def sums_of_integers(x: Any) -> Any:
    return np.sum(cast(np.arange(len(x)), 0.5) * cast(x * 1.0, 3))


@case(*SIZES)
def in_a_loop(x: Any) -> Any:
    total = 0.0
    for item in (x, 0.5, x[None] * 1.0):
        y = item * x[0]
        try:
            y[y > 0.2] = 0.2
        except TypeError:
            y = min(y, 0.2)
        total = total + np.sum(y)
    return total


@pytest.mark.parametrize("k", range(len(CASES)), ids=[f"{fn.__name__}_{np.size(a[0])}" for fn, a in CASES])
@pytest.mark.filterwarnings("ignore:Conversion of an array")
def test_gradient(k: int) -> None:
    check_gradient(*CASES[k])


@pytest.mark.parametrize("fn", [cleared, turned_inside], ids=lambda fn: fn.__name__)
def test_the_text_has_the_path_alone_that_is_taken(fn: Callable[[Any], Any]) -> None:
    for x in (SIZES[1], 0.8):
        source = ad.adjoint_source(fn, x)
        assert "try" not in source
        assert ("inside]" in source or "condition]" in source) == (np.ndim(x) > 0)


def test_other_exceptions_leave() -> None:
    with pytest.raises(IndexError):
        ad.grad(lambda x: stored_at(x, 7))(SIZES[1])


def stored_at(x: Any, k: int) -> Any:
    y = x * 1.0
    try:
        y[k] = 0.0
    except TypeError:
        y = y * 2.0
    return np.sum(y)


def raises_again(x: Any) -> Any:
    try:
        x[0] = 1.0
    except TypeError:
        raise
    return x


def raises_another(x: Any) -> Any:
    try:
        x[0] = 1.0
    except TypeError:
        raise ValueError("no array") from None
    return x


def asks_by_name(x: Any) -> Any:
    try:
        x[0] = 1.0
    except TypeError as error:
        return x * len(str(error))
    return x


def passes_on(x: Any) -> Any:
    try:
        return raises_again(x)
    except TypeError:
        return x * 3.0


@pytest.mark.parametrize("fn", [raises_again, raises_another, asks_by_name, passes_on], ids=lambda fn: fn.__name__)
def test_what_a_handler_asks_is_answered(fn: Callable[[Any], Any]) -> None:
    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    assert outcome(lambda: ad.value_and_grad(fn)(0.5)[0]) == outcome(lambda: fn(0.5))


@pytest.mark.parametrize("ask", [sys.exc_info, traceback.format_exc])
def test_the_exception_at_hand_has_to_be_named(ask: Any) -> None:
    """What is computed in a handler may stand after it."""

    def fn(x: Any) -> Any:
        try:
            x[0] = 1.0
        except TypeError:
            return x * len(ask())
        return x

    with pytest.raises(ad.errors.Refused, match="except ValueError as e"):
        ad.grad(fn)(0.5)
