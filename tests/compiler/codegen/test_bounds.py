"""Lengths of lists in the bounds of loops: only where nothing changes the list any more."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(V)
def complete(x):
    items = [x * 2.0, np.sin(x)]
    items.append(x * x)
    total = 0.0
    for item in items:
        total = total * 0.5 + np.sum(item * x)
    return total


@case(V)
def appended_to_after_the_loop(x):
    items = [x[0], x[1]]
    total = 0.0
    for item in items:
        total = total * 0.5 + item**2
    items.append(x[2] * 3.0)
    return total * sum(items)


@case(V)
def appended_to_in_the_loop(x):
    items = [x[0], x[1]]
    total = 0.0
    for k in range(len(items)):
        items.append(items[k] * x[2])
        total = total + items[-1] ** 2
    return total + sum(items)


@case(V)
def appended_to_under_another_name(x):
    items = [x[0], x[1]]
    same = items
    total = 0.0
    for item in items:
        total = total * 0.5 + item**2
    same.append(x[2] * 3.0)
    for item in items:
        total = total * 0.5 + item**3
    return total


@case(V)
def appended_to_inside_another_list(x):
    items = [x[0], x[1]]
    both = [items, [x[2]]]
    total = 0.0
    for item in items:
        total = total * 0.5 + item**2
    both[0].append(x[3])
    both[1].append(x[0])
    return total * sum(items) + sum(both[1])


@case(V)
def shortened_by_a_slice(x):
    items = [x[0], x[1], x[2]]
    total = 0.0
    for item in items:
        total = total * 0.5 + item**2
    items[1:] = [x[3]]
    for item in items:
        total = total * 0.7 + item**2
    return total


@case(V)
def emptied_from_one_end(x):
    items = [x[0], x[1] * x[2], x[2]]
    total = 0.0
    for item in items:
        total = total * 0.5 + item**2
    while items:
        total = total * items.pop()
    return total


@case(V)
def one_of_two_lists(x):
    a, b = [x[0], x[1]], [x[2]]
    c = a if x[3] > 0 else b
    total = 0.0
    for item in a:
        total = total * 0.5 + item**2
    c.append(x[3])
    for item in b:
        total = total * 0.5 + item**3
    return total + len(a)


@case(V)
def made_in_each_iteration(x):
    total = 0.0
    for k in range(3):
        items = [v * k for v in x[k:]]
        for item in items:
            total = total * 0.9 + item**2
    return total


@case((0.4, 3), (0.4, 0), (0.4, -2))
def repeated(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return x


@case((0.4, 3), (0.4, 0))
def counter_with_no_name_is_read(x, n):
    for _ in range(n):
        x = np.sin(x) * (x + _)
    return x


@case((0.4, 3), (0.4, 0))
def counter_is_read_after_the_loop(x, n):
    k = 5
    for k in range(n):
        x = np.sin(x) * x
    return x * k


@case((0.4, 3), (0.4, 1))
def repeated_inside(x, n):
    for i in range(n):
        for _ in range(i):
            x = np.cos(x) * x
        x = x * i + 1.0
    return x


_ = 2.5


@case((0.4, 3))
def global_with_the_name_of_a_counter(x, n):
    for k in range(n):
        x = np.sin(x) * x * _
    return x


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_length_of_a_complete_list_has_no_name():
    text = ad.adjoint_source(complete, V)
    assert "n = " not in text and "for item in items:" in text and "range(len(items) - 1, -1, -1)" in text


def test_loops_that_only_repeat():
    text = ad.adjoint_source(repeated, 0.4, 3)
    assert text.count("for _ in range(n):") == 1 and "in reversed(saved):" in text
    with pass_registry.without("reversed_loops"):
        assert ad.adjoint_source(repeated, 0.4, 3).count("for _ in range(n):") == 2
    text = ad.adjoint_source(repeated_inside, 0.4, 3)
    assert text.count("for _ in range(i):") == 2 and "for i in range(n - 1, -1, -1):" in text


def test_sums_are_written_where_loops_need_them():
    def f(x, n):
        total = 0.0
        for k in range(1, n + 1):
            total = total * np.sin(x) + k * x
        return total

    def changed(x, n):
        total = x
        for _ in range(n + 1):
            total = np.sin(total)
        n = n - 2
        for _ in range(n + 1):
            total = total * np.cos(total)
        return total

    source = ad.adjoint_source(f, 0.3, 4)
    assert "range(1, n + 1)" in source and "range(n, 0, -1)" in source, source
    for fn in (f, changed):
        for n in (0, 1, 4):
            found, h = ad.grad(fn)(0.3, n), 1e-6
            np.testing.assert_allclose(found, (fn(0.3 + h, n) - fn(0.3 - h, n)) / (2 * h), rtol=1e-6, atol=1e-9)


def test_powers_of_numbers_are_computed_again():
    def f(x, n):
        m, v = x * 0.0, x * 0.0
        for t in range(1, n + 1):
            m = 0.9 * m + 0.1 * x
            v = m / (1 - 0.9**t)
            x = x - 0.1 * v * np.sin(x)
        return np.sum(x)

    x = np.array([0.4, 1.3, -0.7])
    assert ".append(" not in ad.adjoint_source(f, x, 3)
    ends = [np.array([f(x + s * h, 3) for h in 1e-6 * np.eye(3)]) for s in (1, -1)]
    np.testing.assert_allclose(ad.grad(f)(x, 3), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
