"""Ranges with bounds that only the run knows: how many items they have, and what they pick of an array."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, differences, names, registrar

X = np.array([1.0, 2.0, 3.0])
SQUARE = np.arange(9.0).reshape(3, 3) / 5 + 0.3
LABELS = np.array([1, 0, 2])


def lengths(x: Any, n: Any) -> Any:
    return x[0] * len(range(n)) + x[1] * len(range(2, n)) + x[2] * len(range(n)[1:]) * len(range(n, 0, -2))


def product_of_ranges(x: Any, n: Any) -> Any:
    total = x[0]
    for i, j in itertools.product(range(n), range(1, n)):
        total = total + x[1] * i * j + x[2]
    return total


def pairs_of_one_range(x: Any, n: Any) -> Any:
    total = x[0]
    for i, j in itertools.product(range(n - 1), repeat=2):
        total = total + x[1] * i + x[2] * j
    return total


def windows(x: Any, n: Any) -> Any:
    total = x[2]
    for row, column in itertools.product(range(len(x) - n + 1), range(len(x) - n + 1)):
        total = total + x[row] * x[column] * row
    return total


def strictly_zipped(x: Any, n: Any) -> Any:
    total = x[0]
    for i, j in zip(range(n), range(min(n, 2)), strict=True):
        total = total + x[1] * i * j + x[2]
    return total


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 2, 5])
@pytest.mark.parametrize(
    "fn",
    [lengths, product_of_ranges, pairs_of_one_range, windows, strictly_zipped],
    ids=lambda fn: fn.__name__,
)
def test_ranges_that_end_before_they_begin_have_no_items(fn: Callable[..., Any], n: int) -> None:
    try:
        expected = fn(X, n)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            ad.grad(fn)(X, n)
        return
    value, gradient = ad.value_and_grad(fn)(X, n)
    assert value == expected
    np.testing.assert_allclose(gradient, differences(fn, (X, n)), rtol=1e-6, atol=1e-8)


RIGHT: Cases = []
right = registrar(RIGHT)


@right((SQUARE, LABELS), (SQUARE[:0], LABELS[:0]))
def picked(x: Any, labels: Any) -> Any:
    return -np.sum(np.log(x[range(len(labels)), labels]))


@right((SQUARE, LABELS))
def lowered(x: Any, labels: Any) -> Any:
    p = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    p[range(x.shape[0]), labels] -= 1.0
    rows = range(x.shape[0])
    p[labels, rows] *= x[rows, rows]
    return np.sum(p**2 * x)


@right((SQUARE, 3), (SQUARE, 1), (SQUARE, 0), (SQUARE, -2))
def rows_by_ranges(x: Any, n: Any) -> Any:
    y = x * 1.0
    y[range(1, n)] = x[0] ** 2
    return np.sum(y * x) + np.sum(x[range(n)][:, range(n - 1, -1, -1)] ** 2)


@pytest.mark.parametrize("case", RIGHT, ids=names(RIGHT))
def test_ranges_as_indices(case: Any) -> None:
    check_gradient(*case)


def test_lists_take_no_ranges() -> None:
    def fn(x: Any, n: Any) -> Any:
        items = [x[0], x[1]]
        return items[range(n)]

    with pytest.raises((TypeError, ad.AutodiffError)):
        ad.grad(fn)(X, 1)
