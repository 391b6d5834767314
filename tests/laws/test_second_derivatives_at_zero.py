"""Second derivatives of functions of norms and absolute values at zero, where these have kinks: right or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import NotDifferentiable

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")]

EYE, AWAY = np.eye(2), np.array([1.0, -1.0, 0.0, 0.0])


def matern(r: Any) -> Any:
    return (1 + r) * np.exp(-r)


def listed(x: Any) -> Any:
    return sum([np.cos(r) for r in [np.linalg.norm(x), np.linalg.norm(2 * x)]])


def by_coordinates(x: Any) -> Any:
    return math.cos(math.sqrt(x[0] * x[0] + x[1] ** 2))


def between(x: Any) -> Any:
    points = np.stack([x, 2 * x])  # the distance of a point to itself has no derivative, and none is asked for
    apart = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    return np.sum(np.cos(apart))


def stable_softplus(x: Any) -> Any:
    return np.sum(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def of_numbers(x: Any) -> Any:
    return sum([math.cos(abs(float(v))) for v in x])


RIGHT: list[tuple[Callable[[Any], Any], float]] = [
    (lambda x: np.cos(np.linalg.norm(x)), -1.0),
    (lambda x: (np.linalg.norm(x) / 0.5) ** 2, 8.0),
    (listed, -5.0),
    (lambda x: np.cos(np.linalg.vector_norm(x)), -1.0),
    (lambda x: np.cos(np.linalg.matrix_norm(np.outer(x, np.ones(3)))), -3.0),
    (lambda x: np.sum(np.cos(np.linalg.norm(np.outer(x, np.ones(3)), axis=1))), -3.0),
    (lambda x: np.cos(np.linalg.norm(x + 2j * x)), -5.0),
    (lambda x: np.sum(np.cos(np.abs(x + 1j * x))), -2.0),
    (lambda x: np.cos(np.hypot(x[0], x[1])), -1.0),
    (lambda x: math.cos(math.hypot(x[0], x[1])), -1.0),
    (lambda x: np.cos(np.sqrt(np.sum(x**2))), -1.0),
    (lambda x: np.sum(np.cos(np.sqrt((np.outer(x, np.ones(3)) ** 2).sum(axis=1)))), -3.0),
    (lambda x: np.cos(np.sqrt(x @ x)), -1.0),
    (by_coordinates, -1.0),
    (lambda x: np.cos(np.sqrt(np.mean(x**2))), -0.5),
    (lambda x: np.sum(np.cos(np.sqrt((np.outer(x, np.ones(3)) ** 2).mean(axis=1, keepdims=True)))), -1.0),
    (lambda x: np.cos(np.sqrt(0.5 * np.sum(x * x) / len(x))), -0.25),
    (between, -2.0),
    (lambda x: matern(np.linalg.norm(x)), -1.0),
    (lambda x: matern(np.sqrt(x @ x)), -1.0),
    (lambda x: np.sum(np.cos(np.abs(x))), -1.0),
    (of_numbers, -1.0),
    (stable_softplus, 0.25),
    (lambda x: np.sum(np.abs(x)), 0.0),
    (lambda x: np.cos(np.sum(x**2) ** 0.5), -1.0),
    (lambda x: np.cos(np.std(np.outer(x, AWAY[:2]))), -0.5),
    (lambda x: np.sum(np.cos(np.std(np.outer(x, AWAY), axis=1, ddof=2))), -1.0),
    (lambda x: np.cos(np.var(np.outer(x, AWAY[:2])) ** 0.5), -0.5),
]


def test_numbers_of_python_in_reverse_over_forward_mode() -> None:
    def slope(a: float, b: float) -> Any:
        return ad.jvp(lambda a, b: math.cos(math.sqrt(a * a + b * b)), (a, b), (1.0, 0.5))[1]

    np.testing.assert_allclose(ad.grad(slope, (0, 1))(0.0, 0.0), [-1.0, -0.5], rtol=1e-6)


REFUSED: list[Callable[[Any], Any]] = [
    np.linalg.norm,
    lambda x: np.sqrt(np.sum(x * x)),
    lambda x: np.hypot(x[0], x[1]) + x[0],
    lambda x: np.linalg.norm(x) * (x[0] + 2 * x[1]),
    lambda x: np.sum(x * x) ** 0.5,
    np.std,
    lambda x: np.sqrt(np.var(x)),
    lambda x: np.sum(np.nanstd(np.outer(x, np.ones(3)), axis=0)),
]

# Roots of forms that are not known to be sums of squares: what has no derivative is NaN or infinite at second order.
WEIGHTS, FORM = np.array([1.0, 3.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
INFINITE: list[Callable[[Any], Any]] = [
    lambda x: np.sqrt(np.sum(WEIGHTS * x**2)),
    lambda x: np.sum(np.sqrt(WEIGHTS * x**2)),
    lambda x: (x @ FORM @ x) ** 0.5,
]
SECOND = [ad.hessian, lambda f: ad.jacrev(ad.grad(f)), lambda f: ad.jacrev(ad.jacfwd(f))]


@pytest.mark.parametrize("second", SECOND, ids=["hessian", "jacrev of grad", "jacrev of jacfwd"])
@pytest.mark.parametrize(("function", "expected"), RIGHT)
def test_right(function: Callable[[Any], Any], expected: float, second: Any) -> None:
    x = np.zeros(2)
    if function is by_coordinates and second is SECOND[2]:
        pytest.xfail("a root of Python's numbers divides by zero first, and strong zeros hide what is lost")
    np.testing.assert_allclose(second(function)(x), expected * EYE, atol=1e-6)
    np.testing.assert_array_equal(ad.grad(function)(x), np.full(2, 0.5) if function is stable_softplus else 0.0)
    np.testing.assert_allclose(second(function)(x + 1e-3), expected * EYE, atol=1e-2)


@pytest.mark.parametrize("second", SECOND, ids=["hessian", "jacrev of grad", "jacrev of jacfwd"])
@pytest.mark.parametrize("function", REFUSED)
def test_refused(function: Callable[[Any], Any], second: Any) -> None:
    with pytest.raises(NotDifferentiable, match="norm that is zero"):
        second(function)(np.zeros(2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", REFUSED[:2] + REFUSED[4:])
def test_slope_of_norms(function: Callable[[Any], Any]) -> None:
    x = np.zeros(2)
    np.testing.assert_array_equal(ad.grad(function)(x), 0.0)
    assert ad.jvp(function, x, np.array([1.0, 2.0]))[1] == 0.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", INFINITE)
def test_a_second_derivative_that_is_infinite_shows(function: Callable[[Any], Any]) -> None:
    x, way = np.zeros(2), np.array([1.0, 2.0])
    for found in (
        ad.jvp(ad.grad(function), x, way)[1],
        ad.grad(lambda x: np.sum(ad.grad(function)(x) * way))(x),
    ):
        assert not np.all(np.isfinite(found))


def test_forward_over_forward() -> None:
    for function, expected in RIGHT:
        np.testing.assert_allclose(ad.jacfwd(ad.jacfwd(function))(np.zeros(2)), expected * EYE, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision(dtype: Any) -> None:
    hessian = ad.hessian(lambda x: np.cos(np.linalg.norm(x)) + np.cos(np.abs(x[0])))(np.zeros(2, dtype))
    assert hessian.dtype == dtype
    np.testing.assert_allclose(hessian, np.diag([-2.0, -1.0]), atol=1e-3)


def test_sparse() -> None:
    function = ad.sparse_hessian(lambda x: np.sum(np.cos(np.sqrt(x[1:] ** 2 + x[:-1] ** 2))))
    expected = np.diag([-1.0, -2.0, -2.0, -1.0])
    for x in (np.zeros(4), np.arange(4.0)):
        found = np.asarray(function(x).todense())
        whole = ad.hessian(lambda x: np.sum(np.cos(np.sqrt(x[1:] ** 2 + x[:-1] ** 2))))(x)
        np.testing.assert_allclose(found, whole, atol=1e-7)
        if not x.any():
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_one_zero_among_many_rows() -> None:
    def rows(x: Any) -> Any:
        return np.sum(np.cos(np.linalg.norm(x, axis=1)) * np.arange(1.0, 4.0))

    x = np.array([[0.0, 0.0], [0.3, -0.2], [0.0, 0.0]])
    way = np.array([[1.0, 2.0], [0.5, 1.0], [-1.0, 3.0]])
    found = ad.jvp(ad.grad(rows), (x,), (way,))[1]
    near = (ad.grad(rows)(x + 1e-5 * way) - ad.grad(rows)(x - 1e-5 * way)) / 2e-5
    np.testing.assert_allclose(found, near, atol=1e-8)


def test_batches_and_products() -> None:
    def function(x: Any) -> Any:
        return np.cos(np.linalg.norm(x))

    rows, way = np.array([[0.0, 0.0], [0.3, -0.2], [0.0, 0.0]]), np.array([1.0, 2.0])
    each = np.stack([ad.hessian(function)(row) for row in rows])
    np.testing.assert_allclose(ad.vmap(ad.hessian(function))(rows), each, atol=1e-7)
    np.testing.assert_allclose(ad.hvp(function, rows[0], way), -way, atol=1e-7)
    np.testing.assert_allclose(ad.vjp(ad.grad(function), rows[0])[1](way)[0], -way, atol=1e-7)
    np.testing.assert_allclose(ad.linearize(ad.grad(function), rows[0])[1](way), -way, atol=1e-7)
