"""Items that are put into lists, taken out of them, and change places."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

X = np.array([0.5, 0.2, 0.9])
CASES: Cases = []
case = registrar(CASES)


def weighed(items):
    return sum([v * v * (k + 1) for k, v in enumerate(items)])


@case(X)
def first_taken(x):
    work = [v * v for v in x]
    first = work.pop(0)
    return first * work[-1] + sum(work)


@case(X, X[:1])
def moving_window(x):
    window = deque(maxlen=2)
    total = 0.0
    for v in x:
        window.append(v)
        total = total + sum(window) ** 2
    return total


@case(X)
def window_from_the_left(x):
    window = deque(maxlen=2)
    for v in x:
        window.appendleft(v * v)
    return window[0] * window[1]


@case(X)
def queue(x):
    waiting, total = deque(x), 0.0
    while len(waiting) > 1:
        a = waiting.popleft()
        b = waiting.popleft()
        waiting.append(a * b + a)
        total = total + a
    return waiting[0] * total


@case(X)
def places_from_both_ends(x):
    items = [v * 1.0 for v in x]
    k = int(np.argmin(x))
    a = items.pop(k)
    items.insert(-1, a * a)
    b = items.pop(-2)
    items.insert(10, b * items[0])
    items.insert(-10, a)
    del items[1]
    return weighed(items) + b


@case((X, 0), (X, 2), (X, 7), (X, -1), (X, -2), (X, -7))
def inserted_anywhere(x, place):
    items = [v * v for v in x]
    items.insert(place, x[0] * x[1])
    items[0] = items[0] * items[-1]
    return weighed(items)


@case((X, 0), (X, 2), (X, -1), (X, -3))
def taken_from_anywhere(x, place):
    items = [v * v for v in x]
    taken = items.pop(place)
    items[0] = items[0] * taken
    return weighed(items)


@case(X)
def told_by_the_numbers(x):
    items, k = [v for v in x], 0
    for _ in range(5):
        k = (k * 7 + 3) % len(items)
        v = items.pop(k)
        if v > 0.3:
            items.insert(k - 1, v * v)
        else:
            items.append(v * 2)
    return weighed(items)


@case(X)
def beyond_the_end(x):
    items = [v * v for v in x]
    try:
        items.pop(7)
    except IndexError:
        items.append(x[0])
    return weighed(items)


@case(X)
def of_tuples(x):
    items = [(v, v * v) for v in x]
    a, b = items.pop(0)
    items.insert(1, (a * b, b))
    return sum([p * q * (k + 1) for k, (p, q) in enumerate(items)])


@case(X)
def of_arrays_that_are_written(x):
    items = [x * k for k in range(1, 4)]
    taken = items.pop(1)
    items.insert(0, taken * x)
    items[0][1] = 3.0 * x[0]
    return sum([np.sum(row * row * (k + 1)) for k, row in enumerate(items)])


@case(X)
def of_lists(x):
    rows = [[v * k for v in x] for k in range(1, 4)]
    rows.pop(0)
    rows[0].insert(0, x[1] * x[2])
    rows.insert(1, [x[0], x[0] * x[1]])
    rows[1].append(x[2])
    rows[2].pop(1)
    return sum([weighed(row) * (k + 1) for k, row in enumerate(rows)])


@case(X)
def read_between(x):
    items = [v * v for v in x]
    a = sum(items)
    items.insert(1, a * x[0])
    b = sum(items)
    items.pop(0)
    return a * b * sum(items)


@case(X)
def turned(x):
    items = [v * v for v in x]
    total = weighed(items)
    items.reverse()
    items[0] = items[0] * total
    return weighed(items)


@case(X)
def sorted_in_place(x):
    items = [v * v for v in x]
    items.sort()
    items[0] = items[0] * items[2]
    items.sort(key=lambda v: -v)
    return weighed(items)


@case(X)
def sorted_tuples(x):
    items = [(v, k) for k, v in enumerate(x)]
    items.sort(reverse=True)
    return sum([a * a * (b + 1) * (k + 1) for k, (a, b) in enumerate(items)])


@case(X)
def rows_in_order(x):
    rows = [[v * k for v in x] for k in range(3, 0, -1)]
    rows.sort(key=lambda row: row[0])
    rows[0].append(x[0])
    rows.reverse()
    rows[1][0] = x[1]
    return sum([weighed(row) * (k + 1) for k, row in enumerate(rows)])


@case(X)
def arrays_in_order(x):
    arrays = [x * k for k in (3, 1, 2)]
    arrays.sort(key=lambda a: np.sum(a))
    arrays[0][1] = x[0] * 3
    arrays.reverse()
    return sum([np.sum(a * a) * (k + 1) for k, a in enumerate(arrays)])


@case(X)
def sorted_in_a_loop(x):
    items, total = [v * v for v in x], 0.0
    for k in range(3):
        items.append(items[0] * x[k])
        items.sort(reverse=k % 2 == 0)
        total = total + items[1] * sum(items)
    return total


@case(X)
def read_before_one_is_taken(x):
    items = [v * v for v in x]
    product = math.prod(items)
    return product * items.pop(0)


@case(X)
def read_before_they_turn(x):
    items = [v * v for v in x]
    product = math.prod(items[1:]) + math.prod(items)
    items.reverse()
    return product * items[0]


@case(X)
def rows_and_columns_turned(x):
    matrix = [[x[0], x[1]], [x[2], x[0] * x[1]]]
    matrix.reverse()
    for row in matrix:
        row.reverse()
    return matrix[0][0] * matrix[1][1] + matrix[0][1] ** 2


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullback_twice(fn, args):
    """The state that a pullback keeps is not changed by what undoes the program's changes."""
    _, pullback = ad.vjp(fn, args[0]) if len(args) == 1 else ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    first, second = np.array(pullback(1.0)), np.array(pullback(1.0))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first[0], ad.grad(fn)(*args))


def test_second_order():
    def fn(x):
        items = [v * v for v in x]
        items.insert(0, items.pop() * x[0])
        return weighed(items)

    x = np.array([0.5, 0.2, 0.9])
    hessian = [ad.grad(lambda x, k=k: ad.grad(fn)(x)[k])(x) for k in range(3)]
    h = 1e-5
    differences = [(ad.grad(fn)(x + h * e) - ad.grad(fn)(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(hessian, differences, rtol=1e-6, atol=1e-8)


def test_what_is_taken_out_of_an_empty_list_raises():
    def fn(x):
        items = [v for v in x]
        return items.pop(5) * 2.0

    with pytest.raises(IndexError, match="pop index out of range"):
        ad.grad(fn)(X)


def test_text():
    source = ad.adjoint_source(first_taken, X)
    assert "first = work.pop(0)" in source and "d_work.insert(0, d_first)" in source
