"""Lists that a few iterations fill are known item by item where a call unpacks them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds
from tests.compiler.checked import check_gradient

X = np.array([[0.3, 0.5, 0.7], [1.1, 0.9, 0.4]])


def of_a_comprehension(x: Any) -> Any:
    points = [x[0, i] * np.linspace(0.0, 1.0, 4) ** x[1, i] for i in range(3)]
    first, second, third = np.meshgrid(*points)
    return np.sum(first**2 * second + third)


def of_an_axis(x: Any) -> Any:
    points = [x[0, i] * np.linspace(0.0, 1.0, 4) for i in range(x.shape[1])]
    grid = np.meshgrid(*points)
    return np.sum(grid[0] * grid[1] ** 2 * grid[2])


def of_a_loop(x: Any) -> Any:
    points = []
    for i in range(2):
        points.append(x[i] ** 2)
    points.append(x[0] * x[1])
    first, second, third = np.broadcast_arrays(*points)
    return np.sum(first * second + third)


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(thresholds.TRIPS_WRITTEN_OUT + 1):
        points = []
        for i in range(2):
            points.append(x[i] * k)
        first, second = np.meshgrid(*points)
        total += np.sum(first * second)
    return total


@pytest.mark.parametrize("fn", [of_a_comprehension, of_an_axis, of_a_loop, in_a_loop])
def test_unpacked_in_a_call(fn: Any) -> None:
    check_gradient(fn, (X,))


def test_what_a_long_loop_fills_is_refused() -> None:
    def fn(x: Any, n: int) -> Any:
        points = []
        for _ in range(n):
            for i in range(2):
                points.append(x[i])
        return np.sum(np.meshgrid(*points)[0])

    with pytest.raises(ad.errors.Refused, match="number of items"):
        ad.grad(fn)(X, thresholds.INTEGER)
