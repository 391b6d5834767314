"""What Python reads before the right side of ``a[i] += e`` runs, which may change it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(V)
def item_that_the_right_side_overwrites(x):
    y = x.copy()

    def g():
        y[0] = 5.0 * x[1]
        return x[2]

    y[0] += g()
    return np.sum(y * y)


@case(V)
def part_that_the_right_side_overwrites(x):
    y = x.copy()

    def g():
        y[0] = 5.0 * x[1]
        return x[2]

    y[:2] += g()
    return np.sum(y * y)


@case(V)
def items_that_the_right_side_overwrites(x):
    y = x.copy()

    def g():
        y[0] = 5.0 * x[1]
        return x[2]

    y[[0, 1]] *= g()
    return np.sum(y * y)


@case(V)
def picked_before_a_write(x):
    y = x.copy()

    def g():
        y[0] = 5.0 * x[1]
        return x[2]

    return np.sum(y[[0, 1]] * g()) * np.sum(y[y > 0] + g()) + np.sum(y[::2] * g())


@case(V)
def stack_that_shrinks(x):
    stack = [x[0]]
    for v in x[1:]:
        stack.append(v * stack[-1])
    while len(stack) > 2:
        stack[-2] += stack.pop()
    return stack[0] * stack[1]


@case(V)
def array_of_a_list_that_is_replaced(x):
    items = [x[:2] * 1, x[2:4] * 1]

    def g():
        items[0] = items[1] * 2
        return x[2]

    items[0] *= g()
    return np.sum(items[0] * items[1])


@case(V)
def array_of_a_list_that_is_changed(x):
    items = [x[:2] * 1, x[2:4] * 1]

    def g():
        items[0] *= items[1] * 2
        return x[2]

    items[0] *= g()
    return np.sum(items[0] * items[1])


@case(V)
def item_of_a_dict(x):
    d = {"a": x[0]}

    def g():
        d["a"] = x[1]
        d["b"] = x[3]
        return x[2]

    d["a"] -= g()
    return d["a"] * d["b"]


@case(V)
def table_of_a_recursion(x):
    d = {}

    def rec(n):
        d[n] = x[n]
        if n > 1:
            d[n] += rec(n - 1) * rec(n - 2)
        return d[n]

    return rec(3)


@case(V)
def key_that_the_right_side_counts(x):
    table = defaultdict(float)
    for key, v in zip("abab", x):
        table[key] += v * len(table)
    return table["a"] * table["b"]


@case(V)
def list_that_the_right_side_counts(x):
    table = defaultdict(list)
    for key, v in zip("abab", x):
        table[key] += [v * len(table)]
    return sum(table["a"]) * sum(table["b"])


@case(V)
def known_keys_that_the_right_side_counts(x):
    table = defaultdict(lambda: 2.0)
    table["a"] *= x[0] * len(table)
    table["b"] += x[1] * sum(table.values())
    return table["a"] * table["b"] + table["c"]


class Readings:
    def __init__(self, items):
        self.items, self.count = items, 0

    def __getitem__(self, k):
        self.count += 1
        return self.items[k]

    def __setitem__(self, k, value):
        self.items[k] = value * self.count


@case(V)
def reading_that_the_right_side_counts(x):
    readings = Readings([x[0], x[1]])
    readings[0] += readings.count
    readings[1] *= x[2] * readings.count
    return readings[0] * readings[1]


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_item_of_a_number():
    """A number that is indexed raises what it raises without us."""
    with pytest.raises(TypeError, match="not subscriptable"):
        ad.grad(lambda x: np.sum(x[:2] * 2))(0.3)
