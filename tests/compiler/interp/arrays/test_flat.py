"""``a.flat`` indexed by masks, positions, slices and ellipses; what only looks like positions is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import Cases, check_gradient, names, registrar

RIGHT: Cases = []
right = registrar(RIGHT)
X = np.array([-2.2, -1.2, -0.2, 0.8, 1.8, 2.8])
ROWS = X.reshape(2, 3)
COLUMNS = np.asfortranarray(ROWS)


@right(ROWS, COLUMNS)
def gone_through_inside_a_loop(x: Any) -> Any:
    total = 0.0
    for row in x:
        doubled = row * 2
        for v in row.flat:
            total += np.sin(v) * v
        doubled.flat[0] = total
        total += doubled.sum()
    return total


@right(ROWS, COLUMNS)
def two_of_them_in_each_step(x: Any) -> Any:
    total = 0.0
    for k in range(2):
        first, second = x.flat, (x * k).flat
        total += first[k] * second[k + 1] * x.flat[0]
        first = second
        total += first[2] * second[0]
    return total


@right(X, ROWS, COLUMNS)
def read_by_a_mask(x: Any) -> Any:
    positive = (x > 0).ravel()
    return np.sum(x.flat[positive] ** 2) * np.sum(x.flat[(~positive,)])


@right(X, ROWS, COLUMNS)
def reciprocals(x: Any) -> Any:
    result = np.zeros_like(x)
    usable = ~np.isnan(x.flat)
    usable[usable] = usable[usable] & (x.flat[usable] > 0)
    result.flat[usable] = 1.0 / x.flat[usable]
    return np.sum(result**2 * x)


@right(X, ROWS, COLUMNS)
def augmented(x: Any) -> Any:
    y = x * 1.0
    large = np.abs(x.ravel()) > 1
    y.flat[large] *= x.flat[large]
    y.flat[~large] = 3.0
    return np.sum(y**2 * x)


@right(X, ROWS, COLUMNS)
def by_a_mask_that_changes(x: Any) -> Any:
    y = x * 1.0
    mask = x.ravel() > 0
    y.flat[mask] = x.flat[mask] ** 2
    mask[:2] = ~mask[:2]
    y.flat[mask] += x.flat[0]
    return np.sum(y**2)


@right(X, ROWS)
def an_argument_by_a_mask(x: Any) -> Any:
    x.flat[x.ravel() > 0] = 2.0
    return np.sum(x**3)


@right(X, ROWS, COLUMNS)
def all_of_them(x: Any) -> Any:
    y = x * 2.0
    y.flat[...] = x.flat[...] ** 2
    return np.sum(y * x)


@right(X, ROWS, COLUMNS)
def by_positions(x: Any) -> Any:
    y = np.zeros_like(x)
    y.flat[[0, 2]] = x.flat[np.array([1, 1])] ** 2
    return np.sum(y * x)


@pytest.mark.parametrize("case", RIGHT, ids=names(RIGHT))
def test_elements_of_flat(case: Any) -> None:
    check_gradient(*case)


def by_true(x: Any) -> Any:
    return np.sum(x.flat[True] ** 2)


def by_a_list_of_truth(x: Any) -> Any:
    return np.sum(x.flat[[True, False]] ** 2)


def store_by_rows_of_truth(x: Any) -> Any:
    y = x * 1.0
    y.flat[x > 0] = 2.0
    return np.sum(y)


def positions_or_mask(x: Any) -> Any:
    index = np.array([1, 0]) if x[0, 0] > 0 else np.array([True, False])
    return np.sum(x.flat[index])


@pytest.mark.parametrize("fn", [by_true, by_a_list_of_truth, store_by_rows_of_truth, positions_or_mask])
def test_other_indices_are_refused(fn: Any) -> None:
    with pytest.raises(Refused):
        ad.grad(fn)(ROWS)


def test_a_mask_of_another_length_raises() -> None:
    def short(x: Any) -> Any:
        y = x * 1.0
        y.flat[(x > 0).ravel()[1:]] = 2.0
        return np.sum(y)

    with pytest.raises((IndexError, ValueError)):
        ad.grad(short)(ROWS)
