"""Integers that are settings: programs that are refused for any integer are compiled for those that they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds

X = np.array([0.3, 0.5, 0.7])


def parameters(theta: Any, order: int = 2) -> Any:
    if order == 2:
        return 1.0 - theta**2, (1.0 - theta) ** 2
    if order == 3:
        return 1.0 - theta**3, 1.5 * (1.0 - theta**2) * (1.0 - theta), 0.5 * (1 - theta) ** 3
    raise ValueError(f"order {order}")


def slope(theta: float, order: int) -> float:
    return {2: -2.0, 3: -3.0}[order] + 0.0 * theta


def test_how_many_results_there_are_depends_on_an_integer() -> None:
    derivative = ad.grad(parameters)
    for _ in range(2):
        for theta in (0.3, 0.8):
            assert derivative(theta) == pytest.approx(slope(theta, 2))
            assert derivative(theta, 3) == pytest.approx(slope(theta, 3))
            assert derivative(theta, order=2) == pytest.approx(slope(theta, 2))
        with pytest.raises(ValueError, match="order 4"):
            derivative(0.3, 4)
    value, tangent = ad.jvp(lambda theta: parameters(theta), (0.3,), (1.0,))
    assert value == parameters(0.3)
    assert tangent == pytest.approx((-0.6, -1.4))
    assert "order" in ad.adjoint_source(parameters, 0.3, 3)


def powers(x: Any, degree: int = 3) -> Any:
    if degree == 3:
        return x, x**2, x**3
    return x, x**2


def of_powers(x: Any) -> Any:
    first, *others = powers(x)
    return np.sum(first * others[-1])


def test_a_default_inside_the_program_is_a_setting() -> None:
    derivative = ad.grad(of_powers)
    np.testing.assert_allclose(derivative(X), 4 * X**3)
    powers.__defaults__ = (2,)
    try:
        np.testing.assert_allclose(derivative(X), 3 * X**2)
    finally:
        powers.__defaults__ = (3,)
    np.testing.assert_allclose(derivative(X), 4 * X**3)


def test_a_tuple_of_integers_is_a_setting() -> None:
    def fn(x: Any, axes: tuple[int, int]) -> Any:
        parts = (x, x**2, x**3) if axes[0] == axes[1] else (x, x**2)
        first, *others = parts
        return np.sum(first * others[-1])

    derivative = ad.grad(fn)
    np.testing.assert_allclose(derivative(X, (1, 1)), 4 * X**3)
    np.testing.assert_allclose(derivative(X, (1, 0)), 3 * X**2)


def test_one_program_serves_all_integers_where_it_can() -> None:
    def fn(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x * x
        return np.sum(x)

    derivative = ad.grad(fn)
    np.testing.assert_allclose(derivative(X, 2), 4 * X**3)
    text = derivative.source  # type: ignore[attr-defined]
    np.testing.assert_allclose(derivative(X, 1), 2 * X)
    assert derivative.source == text  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [2 * thresholds.SETTING, thresholds.INTEGER])
def test_a_number_of_points_is_a_setting(size: int) -> None:
    def track(x: Any, points: int = size) -> Any:
        return ([x, 2.0 * x], [x, x]) if points == 2 else (np.linspace(0.0, x, points), np.full(points, x))

    derivative = ad.grad(lambda x, *points: track(x, *points)[0])
    assert np.sum(derivative(0.3)) == pytest.approx(size / 2)
    assert ad.grad(track)(0.3) == pytest.approx(1.5 * size)
    assert ad.grad(track)(0.3, 2) == pytest.approx(5.0)


def test_a_size_is_no_setting() -> None:
    size = 2 * thresholds.INTEGER
    with pytest.raises(ad.errors.Refused):
        ad.grad(lambda x, n: parameters(x, n // thresholds.INTEGER))(0.3, size)


POSITIONS = (0, 1)


def by_rows(x: Any, a: Any) -> Any:
    rows = [row * 1.0 for row in a]
    for i in range(len(a)):
        rows[i] = rows[i] * x
    rows = rows[::-1]
    return sum([row @ row for row in rows])


def test_a_derivative_that_only_the_second_attempt_comes_to() -> None:
    """The first does not know the integers that the program reads from outside; the derivative has to stay a call."""

    def norm_of_gradient(x: Any, a: Any) -> Any:
        gradients = ad.grad(by_rows, POSITIONS)(x, a)
        return np.sum(gradients[0] ** 2) + np.sum(gradients[1] ** 2)

    def with_literal(x: Any, a: Any) -> Any:
        gradients = ad.grad(by_rows, (0, 1))(x, a)
        return np.sum(gradients[0] ** 2) + np.sum(gradients[1] ** 2)

    a = np.outer(X, X) + 1.0
    found, expected = ad.grad(norm_of_gradient, POSITIONS)(X, a), ad.grad(with_literal, (0, 1))(X, a)
    np.testing.assert_allclose(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1])
