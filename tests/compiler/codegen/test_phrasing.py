"""Statements that are phrased in other words do what they did: rows, conditional expressions, loops left at once."""

import contextlib

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)
PASSES = ("iterate", "breaks", "comprehensions", "conditions", "forward_substitute", "returns", "unpack")


@case(V, V[:0])
def left_with_a_flag_that_is_read_after_it(x):
    total, found = 0.0, False
    for v in x:
        total = total + v**2
        if total > 1.0:
            found = True
            break
        total = total * 1.5
    return total * 3.0 if found else total + np.sum(x)


@case(V, -V, V[:0])
def left_in_an_inner_loop(x):
    total = 0.0
    for v in x:
        for k in range(5):
            total = total + v * k
            if total > 2.0:
                break
            total = total * 1.1
        else:
            total = total - 1.0
        if total < -3.0:
            break
    return total


@case(V, 3 * V)
def left_while_an_array_is_counted_with(x):
    n = np.zeros(2)
    y = n
    for v in x:
        if v > 1.0:
            break
        n += 1
    return np.sum(x * x) * y[0]


@case(0.3, 1.2, -4.0)
def left_from_either_branch(x):
    while True:
        if x > 0:
            x = x * 1.5 + 0.1
            if x > 3.0:
                break
        else:
            x = x * x
            if x > 20.0:
                return x * 2.0
    return x**2


@case(0.3, 1.2)
def left_by_an_exception(x):
    steps = 0
    try:
        for k in range(5):
            x = x * 1.5
            if x > 2.0:
                break
            if k == 3:
                raise ValueError
            steps += 1
    except ValueError:
        x = x * 10.0
    return x * steps


@case(V, V[:0])
def variable_of_a_comprehension_that_is_read_later(x):
    v = 2.0
    items = []
    for v in x:
        items.append(v * v)
    return sum(items) * v


@case(V)
def list_that_is_read_while_it_is_filled(x):
    items = []
    for v in x:
        items.append(v * len(items))
    same = items
    for v in x:
        same.append(v * v)
    return sum(items)


@case(V)
def list_that_another_name_has(x):
    items = []
    both = [items, items]
    for v in x:
        items.append(v * v)
    return sum(both[0]) + both[1][0]


@case(V, -V)
def list_that_grows_under_its_loop(x):
    work = [x[0], x[1]]
    for k in range(len(work)):
        v = work[k]
        work.append(v * x[2])
    return sum(work)


@case(V)
def dict_that_is_read_by_numbers(x):
    table = {0: x[0] * 2.0, 1: x[1] ** 2}
    total = 0.0
    for k in range(len(table)):
        total = total + table[k] * x[3]
    return total


@case(V)
def array_that_is_written_under_its_loop(x):
    y = x * 1.0
    for k in range(len(y)):
        v = y[k]
        y[-1] = v * v + y[-1]
    return np.sum(y)


@case(V)
def rows_that_are_written_by_the_loop(x):
    table = np.outer(x, x)
    for row in table:
        row *= row[0]
    return np.sum(table)


@case(0.4, 1.4, -2.0)
def branch_that_reads_what_it_assigns(x):
    y = x * x
    if x > 1.0:
        y = y * x
    else:
        y = np.sin(y)
    z = y if y > 0.5 else x
    return z * y


@case(V)
def branches_that_pop(x):
    stack = [x[0], x[1] * 2.0, x[2] ** 2]
    total = 0.0
    for k in range(3):
        v = stack.pop() if k % 2 else stack[0] * stack[-1]
        total = total + v * v
    return total


@case(V)
def swapped_names(x):
    a, b = x[0], x[1]
    for _ in range(3):
        a, b = b * 2.0, a * x[2]
    return a * b


@case(V)
def order_of_calls(x):
    items = [x[0], x[1], x[2] * x[3]]
    a = items.pop()
    b = items.pop()
    return a * a * b + items.pop()


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    plain = ad.grad(fn)(*args)
    with pass_registry.without(*PASSES):
        assert np.array_equal(ad.grad(lambda *given: fn(*given))(*args), plain)


def test_rows():
    def f(x, y):
        a, b = np.sin(x), np.sin(y)
        return a * b

    assert "d_a, d_b = d_out * b, d_out * a\n" in ad.grad(f, (0, 1)).source_for(2.0, 3.0)


def test_several_gradients_are_returned_where_they_are_computed():
    def f(x, y):
        return x * y

    assert ad.grad(f, (0, 1)).source_for(2.0, 3.0).endswith("    return d_out * y, d_out * x\n")


def test_the_last_addition_is_part_of_what_is_returned():
    def f(x):
        y = x * x
        a = y[1:] * x[0]
        return np.sum(np.sin(x) * y) * a[0]

    def g(x):
        return np.sum(x * x[0])

    assert "return d_x + d_y * (2 * x)\n" in ad.grad(f).source_for(V)
    assert "d_x[0] += " in ad.grad(g).source_for(V)


def test_lines_of_the_user_stay_apart():
    def f(x, y):
        a = x * y
        b = x + y
        return np.sin(a) * np.cos(b)

    source = ad.adjoint_source(f, 2.0, 3.0)
    assert "a = x * y\n" in source and "b = x + y\n" in source


def test_what_reads_a_neighbour_stays_apart():
    def f(x):
        a, b = x * 2.0, x * 3.0
        a, b = b, a * b
        return a * b

    np.testing.assert_allclose(ad.grad(f)(0.5), 3 * 3.0 * 6.0 * 0.25)


def test_a_loop_is_left_where_that_is_decided():
    def f(x):
        while True:
            x = x * 1.5
            if x > 3.0:
                break
            x = np.sin(x) + x
        return x

    source = ad.adjoint_source(f, 0.2)
    assert "stop" not in source and "else" not in source


def test_comprehension_of_what_is_saved():
    def f(A):
        total = 0.0
        for row in A:
            total = total * 0.5 + np.sum(row) * row[0]
        return total

    assert " for row in A]\n" in ad.adjoint_source(f, np.ones((2, 3)))


def test_branches_of_two_lines_stay():
    def f(x):
        if x > 0:
            y = x * 3.0
        else:
            y = x * x
        return y * y

    assert "    else:\n" in ad.adjoint_source(f, 0.4)
    assert "if x > 0 else" in ad.adjoint_source(lambda x: (x * 3.0 if x > 0 else x * x) ** 2, 0.4)


def test_handlers_see_what_is_assigned():
    def f(x):
        a = 1.0
        with contextlib.suppress(ZeroDivisionError):
            a, b = x * 2.0, x / 0
            a = b
        return a * x

    assert ad.grad(f)(2.0) == 1.0


def test_single_gradient_is_returned_where_it_is_computed():
    def f(x):
        y = x * x
        return np.sin(y)

    assert "    return d_y * (2 * x)\n" in ad.adjoint_source(f, np.ones(3))


def test_what_the_user_calls_t_is_called_so():
    def f(x, steps):
        y = 2.0 * np.exp(x[0])
        for t in range(steps):
            y = y * np.exp(x[t] * y)
        return y

    source = ad.adjoint_source(f, V, 2)
    assert source.count("    for t in range(") == 2
    assert "x[t]" in source
    check_gradient(f, (V / 9, 2))
