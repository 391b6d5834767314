"""Iterators that are moved and lists that change while a loop goes over them: refused, for loops count beforehand."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import check_gradient

X = np.array([0.4, 1.3, -0.7, 0.9])


def item_of_the_loops_iterator(x):
    it, total = iter(x), 0.0
    for v in it:
        total = total + v * next(it, 1.0)
    return total


def item_in_a_branch(x):
    it, total = enumerate(x), 0.0
    for k, v in it:
        if v > 0.5:
            next(it, None)
        total = total + k * v
    return total


def loop_in_a_loop_over_one_iterator(x):
    it, total = iter(x), 0.0
    for v in it:
        for w in it:
            total = total + v * w
    return total


def item_of_an_iterator_that_is_mapped(x):
    it = iter(x)
    return sum([v * next(it, 2.0) for v in enumerate(it)][0])


def item_by_a_function(x):
    it, items = iter(x), []

    def more():
        return next(it, 1.0)

    for v in it:
        items.append(v * more())
    return sum(items)


MOVED = [item_of_the_loops_iterator, item_in_a_branch, loop_in_a_loop_over_one_iterator]
MOVED += [item_of_an_iterator_that_is_mapped, item_by_a_function]


@pytest.mark.parametrize("fn", MOVED)
def test_moved_in_a_loop_over_it(fn):
    with pytest.raises(Refused, match="inside a loop that goes over it"):
        ad.grad(fn)(X)


def enumerated_list_grows(x):
    items, total = [x[0], x[1]], 0.0
    for k, v in enumerate(items):
        if k < 3:
            items.append(v * x[2])
        total += v * (k + 1)
    return total


def zipped_list_grows(x):
    items, total = [x[0], x[1]], 0.0
    for v, w in zip(items, x):
        if len(items) < 4:
            items.append(v * w)
        total += v * w
    return total


def mapped_list_grows(x):
    items, total = [v * 2 for v in x], 0.0
    for v in map(lambda q: q * 2, items):
        if len(items) < 6:
            items.append(v)
        total += v * v
    return total


def iterator_over_a_list_that_grows(x):
    items, total = [x[0], x[1]], 0.0
    pairs = zip(items, x)
    items.append(x[2])
    for v, w in pairs:
        total += v * w
    return total


@pytest.mark.parametrize(
    "fn", [enumerated_list_grows, zipped_list_grows, mapped_list_grows, iterator_over_a_list_that_grows]
)
def test_list_that_changes_its_length_meanwhile(fn):
    with pytest.raises(Refused, match="changes its length while"):
        ad.grad(fn)(X)


def left_and_taken_up_again(x):
    it, total = iter(x), 0.0
    for v in it:
        total += v * v
        if v > 1.0:
            break
    return total + next(it, 0.5) ** 2


def list_that_grows_between_loops(x):
    items, total = [v * 2 for v in x], 0.0
    for j in range(len(items)):
        for v in items:
            total += v * j
        items.append(total * 0.1)
    return total


def functions_beside_a_list_that_grows(x):
    items = [x[0], x[1]]
    for fn, v in zip([np.sin, np.cos], items):
        items.append(fn(v))
    return sum(items)


@pytest.mark.parametrize(
    "fn", [left_and_taken_up_again, list_that_grows_between_loops, functions_beside_a_list_that_grows]
)
def test_right(fn):
    check_gradient(fn, (X,))
