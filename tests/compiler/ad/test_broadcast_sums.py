"""Sums, products and choices of items of several shapes: each item's cotangent has the shape of the item."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

X = np.array([0.5, 1.5, -1.0])


def added(items):
    return np.sum(sum(items) * X)


def squared(items):
    return np.sum(sum(items) ** 2)


def added_backwards(items):
    return np.sum(sum(items[::-1]) ** 3)


def from_a_start(items):
    return np.sum(sum(items, X) ** 2)


def a_start_added(items):
    return np.sum(sum(items, X))


def from_an_item(items):
    return np.sum(sum(items, start=items[0]) ** 2)


def with_what_was_read_before(items):
    return np.sum(np.prod([np.sum(item) for item in items]) * sum(items))


def of_a_list_made(items):
    made = []
    for item in items:
        made.append(item * item)
    return np.sum(sum(made) ** 2)


def multiplied(items):
    return np.sum(math.prod(items) * X)


CHOSEN = np.array([[True, False, True], [False, True, False]])
WEIGHTS = np.arange(6.0).reshape(2, 3)


def selected(items):
    return np.sum(np.select([CHOSEN, ~CHOSEN], items[:2]) ** 2 * WEIGHTS)


def chosen_by_numbers(items):
    return np.sum(np.choose(CHOSEN.astype(int), items[:2]) ** 2 * WEIGHTS)


LISTS = {
    "numbers": [1.0, 2.0],
    "of_either_kind": [1.0, np.float64(2.0), X],
    "of_rank_0": [np.array(1.5), X],
    "of_length_1": [np.ones(1), X],
    "rows": [np.full((1, 3), 2.0), X],
    "rows_and_columns": [np.full((1, 3), 2.0), np.arange(3.0).reshape(3, 1)],
    "of_three_ranks": [np.ones((2, 3)), X, 2.0],
    "alike": [X, 2 * X, X**2],
}
FUNCTIONS = [
    added,
    squared,
    added_backwards,
    from_a_start,
    a_start_added,
    from_an_item,
    with_what_was_read_before,
    of_a_list_made,
    multiplied,
    selected,
    chosen_by_numbers,
]


def moved(items, k, step):
    return [item + step if j == k else item for j, item in enumerate(items)]


CHECKED = [
    (fn, name)
    for fn in FUNCTIONS
    for name in LISTS
    if name != "rows_and_columns" or fn not in (selected, chosen_by_numbers)  # of two rows
]


@pytest.mark.parametrize(("fn", "name"), CHECKED)
def test_gradient(fn, name):
    items = LISTS[name]
    value, gradient = ad.value_and_grad(fn)(items)
    assert value == fn(items)
    for k, (item, d) in enumerate(zip(items, gradient, strict=True)):
        assert type(d) is type(item) and np.shape(d) == np.shape(item)
        expected = np.zeros(np.shape(item))
        for index in np.ndindex(expected.shape):
            step = np.zeros(expected.shape)
            step[index] = 1e-6
            expected[index] = (fn(moved(items, k, step)) - fn(moved(items, k, -step))) / 2e-6
        np.testing.assert_allclose(d, expected, rtol=1e-6, atol=1e-7)
    for k, d in enumerate(gradient):
        assert not any(np.may_share_memory(d, other) for other in [*gradient[:k], *items] if np.ndim(other))


@pytest.mark.parametrize(("fn", "name"), [each for each in CHECKED if each[0] not in (selected, chosen_by_numbers)])
def test_tangent(fn, name):
    items = LISTS[name]
    ones = [np.ones_like(item) if isinstance(item, np.ndarray) else type(item)(1.0) for item in items]
    value, tangent = ad.jvp(fn, (items,), (ones,))
    ends = [fn([item + step for item in items]) for step in (1e-6, -1e-6)]
    assert value == fn(items)
    np.testing.assert_allclose(tangent, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)


def test_what_is_alike_is_not_fitted():
    assert "unbroadcast(" not in ad.adjoint_source(squared, LISTS["alike"])
