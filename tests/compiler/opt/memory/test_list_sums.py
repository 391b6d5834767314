"""The sum of a list of numbers gives its cotangent to each of them."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)


@case(V)
def sum_and_items(x):
    squares = [v * v for v in x]
    return sum(squares) * squares[0] * squares[-1]


@case(V)
def sum_before_more_is_appended(x):
    values = [x[0], x[1]]
    first = sum(values)
    values.append(first * x[2])
    return sum(values) * values[2]


@case(V)
def sum_of_what_changes(x):
    values = [v * 2.0 for v in x]
    first = sum(values)
    values[1] = values[1] * first
    values.pop()
    return sum(values) * first


@case(V, V[:0])
def two_sums(x):
    values = [np.sin(v) for v in x]
    return sum(values) * 2.0 + sum(values) ** 2


@case((V, 3), (V, 0))
def sums_in_a_loop(x, n):
    total = 1.0
    for k in range(n):
        values = [v * total for v in x]
        total = sum(values) / 2.0 + values[k] ** 2
    return total


@case(V)
def two_names_of_a_list(x):
    a = [x[0], x[1] ** 2]
    b = a
    b[0] = sum(a) * b[1]
    return sum(b) * a[0]


@case((0.7, 3), (0.7, 0))
def integers_among_them(x, n):
    values = [k * x for k in range(n)]
    return sum(values) * x + sum(values, x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_text():
    source = ad.adjoint_source(sum_and_items, V)
    assert "] * len(squares)" in source and "for i in range(len(squares))" not in source


def test_single_precision_stays():
    gradient = ad.grad(sum_and_items)(V.astype(np.float32))
    assert gradient.dtype == np.float32


def test_lists_of_arrays():
    def f(x):
        rows = [x * k for k in range(3)]
        return np.sum(sum(rows) * rows[1])

    np.testing.assert_allclose(ad.grad(f)(V), 6 * V)
