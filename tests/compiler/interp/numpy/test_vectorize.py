"""``np.vectorize``, ``zip(strict=True)`` and ``default=``: what Python and NumPy do, with derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


def bend(v: Any, k: Any = 2.0) -> Any:
    return v * v if v > 0 else k * math.sin(v)


outside = np.vectorize(bend)
typed = np.vectorize(bend, otypes=[float])


@case(V, V.reshape(2, 2), -V)
def made_inside(x: Any) -> Any:
    return np.sum(np.vectorize(lambda v, k: v * v if v > 0 else k * v)(x, 3.0) * x)


@case(V, V.reshape(2, 2), 0.7)
def made_outside(x: Any) -> Any:
    return np.sum(outside(x) * x)


scaled = np.vectorize(lambda v, w: v / np.sum(v * v * w), signature="(n),(n)->(n)")


@case(np.outer(V, [1.0, 0.5]), np.outer(V, [1.0, 0.5])[:1], np.ones((3, 2, 4)))
def of_vectors(x: Any) -> Any:
    return np.sum(scaled(x, np.arange(1.0, 1.0 + x.shape[-1])) ** 3 * np.cos(x))


@case(V, np.outer(V, V) + np.eye(4))
def of_one_part(x: Any) -> Any:
    total = np.vectorize(lambda v: np.sum(v**3), signature="(n)->()")
    pairs = np.vectorize(np.convolve, signature="(n),(m)->(k)")
    return np.sum(total(x) ** 2) + np.sum(pairs(x, [1.0, 2.0]) ** 2)


@case(np.zeros((2, 3, 3)) + np.diag([1.0, 2.0, 3.0]) + 0.1)
def of_matrices(x: Any) -> Any:
    return np.sum(np.vectorize(np.linalg.det, signature="(m,m)->()")(x) ** 2)


@case(V, np.zeros(0))
def with_types(x: Any) -> Any:
    return np.sum(typed(x) * x)


@case(V)
def broadcast(x: Any) -> Any:
    return np.sum(outside(x[:, None], x[:2]))


@case(V)
def decorated(x: Any) -> Any:
    @np.vectorize
    def cube(v: Any) -> Any:
        return v**3

    return cube(x) @ cube(x)


@case(V)
def strict(x: Any) -> Any:
    return sum(a * b * b for a, b in zip(x, x[::-1], strict=True)) + sum(
        a * b for a, b in zip([x[0], x[1]], (x[2], x[3]), strict=True)
    )


@case(V, -V, np.zeros(0))
def with_defaults(x: Any) -> Any:
    return min((abs(v) for v in x if v > 0), default=0.0) + max([v for v in x if v > 5], default=3.0 * np.sum(x))


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn: Callable[..., Any], args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_tangent(fn: Callable[..., Any], args: Any) -> None:
    check_tangent(fn, args)


def test_single_precision_is_kept() -> None:
    x = V.astype(np.float32)
    value, gradient = ad.value_and_grad(lambda x: np.sum(outside(x)))(x)
    assert value == np.sum(outside(x))
    assert gradient.dtype == np.float32


def first_may_be_an_integer(x: Any) -> Any:
    return np.sum(np.vectorize(lambda v: 0 if v < 0 else v)(x) * x)


def strict_under_handlers(x: Any) -> Any:
    total = 0.0
    try:
        for a, b in zip(x, x[1:], strict=True):
            total += a * b
    except ValueError:
        pass
    return total


@pytest.mark.parametrize("fn", [first_may_be_an_integer, strict_under_handlers], ids=lambda fn: fn.__name__)
def test_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises(Refused):
        ad.grad(fn)(-V)


def test_different_lengths() -> None:
    def fn(x: Any) -> Any:
        return sum(a * b for a, b in zip(x, x[1:], strict=True))

    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is shorter than argument 1"):
        ad.grad(fn)(V)


def test_numpy_refuses_to_call_it_with_nothing() -> None:
    with pytest.raises((ValueError, IndexError)):
        ad.grad(made_outside)(np.zeros(0))


def test_the_text_says_of_which_type_the_results_are() -> None:
    text = ad.adjoint_source(lambda x: np.sum(np.vectorize(lambda v: v * v if v > 0 else v)(x)), V)
    assert ".astype(np.float64)" in text
