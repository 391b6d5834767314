"""What is written where it is used, and loops that go over several things: the programs do what they did."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V, V[:1])
def rows_saved_before_they_are_written(x):
    B = np.outer(x, x)
    for row in B:
        row *= np.sin(row[0])
        row[0:] = row * row
    return np.sum(B)


@case(V, V[:1])
def items_saved_before_they_are_written(x):
    y = x * 1.0
    for i in range(len(y) - 1):
        y[i] = y[i] * y[i + 1] * x[i]
        y[i + 1] *= y[i]
    return np.sum(y)


@case(V)
def items_read_before_and_after_a_write(x):
    y = x * 1.0
    for i in range(3):
        a = y[i] * y[i + 1]
        y[i] = a * a
        b = y[i] * y[i + 1]
        y[i + 1] = b * y[0]
    return np.sum(y * x)


@case((V, [0, 2, 1, 0]))
def items_at_places_that_change(x, places):
    y = x * 1.0
    for k in range(len(places)):
        j = places[k]
        a = y[j]
        j = (j + 1) % 4
        y[j] = np.sin(a * y[j])
        y[j] *= a
    return np.sum(y * x)


@case(V)
def items_of_arrays_in_a_list(x):
    rows = [x * 1.0, x * x, x * 2.0]
    rows[1][0] = rows.pop()[1] * x[2]
    rows[-1][1] *= x[0]
    rows[0][2] += rows[1][0]
    for k in range(2):
        rows[k][k + 1] = rows[1 - k][k] * 3.0
    return np.sum(rows[0] * rows[1])


@case(V)
def items_of_lists_in_a_list(x):
    pairs = [[x[0], x[1]], [x[2], 2.0]]
    pairs[0][1] = pairs[1].pop() * pairs[1][0]
    pairs[1].append(pairs[0][0])
    pairs[1][-1] *= x[3]
    return pairs[0][1] * pairs[1][1] + sum(pairs[0])


@case(V)
def items_of_rows_that_change(x):
    rows = [x * 1.0, x * x]
    for i in range(3):
        t = rows[0][i] * rows[1][i + 1]
        rows[1][i] *= t
        rows[0], rows[1] = rows[1], rows[0]
        rows[0][i] = rows[0][i] * rows[1][i] * t
    return np.sum(rows[0] * rows[1])


@case(V)
def arrays_of_a_list_changed_in_place(x):
    rows = [x * 1.0, x * x, np.sin(x)]
    same = rows
    middle = rows[1]
    rows[1] *= x
    same[0] += rows[1]
    for k in range(3):
        rows[k] -= 0.5 * rows[k - 1]
    return np.sum(middle * same[0]) + np.sum(rows[2] ** 2)


@case(V)
def arrays_of_no_axes_in_a_list(x):
    items = [np.array(x[0]), np.array(x[1] * x[2])]
    first = items[0]
    items[0] *= items[1]
    return first * items[0] * x[3]


@case(V)
def an_array_of_a_tuple_in_a_list(x):
    pairs = [(x * 1.0, x * x)]
    for a, b in pairs:
        a *= b
    return np.sum(pairs[0][0])


@case(V, -V)
def raised_and_caught(x):
    total = 0.0
    for k in range(4):
        try:
            if x[k] < 0:
                raise ValueError(k)
            total = total + x[k] ** 2
        except ValueError as error:
            total = total + x[k] * len(error.args)
    return total


@case((V, np.array([2.0, 3.0, 4.0])), (V[:2], np.array([2.0, 3.0, 4.0])), (V, np.zeros(0)))
def zip_of_other_lengths(x, w):
    total = 0.0
    for v, k in zip(x, w):
        total = total * 0.5 + v * v * k
    return total * total + np.sum(x)


@case((V, np.array([2.0, 3.0, 4.0, 5.0, 6.0])))
def counted_zip(x, w):
    total = 0.0
    for i, (v, k) in enumerate(zip(x, w)):
        total = total * v + i * k
    return total * i


@case((V, np.array([2.0, 3.0, 4.0, 5.0, 6.0])))
def only_one_is_read_first(x, w):
    total = 0.0
    for i in range(min(len(x), len(w))):
        v = w[i]
        total = total * v + x[i] ** 2
    return total


@case(V, V[:1])
def written_before_the_second_is_read(x):
    y = x * 1.0
    total = 0.0
    for i in range(len(y)):
        a = y[i]
        y[:] = y * 0.5
        b = y[i]
        total = total + a * b
    return total


@case(V)
def counter_that_is_written(x):
    total = 0.0
    for i in range(len(x)):
        v = x[i]
        i = i * 2 + 1
        total = total + v * v * i
    return total * i


@case(V)
def list_that_another_name_fills(x):
    items = [x[0], x[1]]
    same = items
    for k in range(len(items)):
        v = items[k]
        same.append(v * v)
    return sum(items) * items[3]


@case(V)
def list_whose_items_are_replaced(x):
    items = [v for v in x]
    total = 0.0
    for k in range(len(items) - 1):
        items[k + 1] = items[k] * items[k + 1]
    for k in range(len(items)):
        v = items[k]
        items[-1] = v * 0.5
        total = total + v**2
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    plain = ad.grad(fn)(*args)
    with pass_registry.without("forward_substitute", "iterate", "comprehensions"):
        assert np.array_equal(ad.grad(lambda *given: fn(*given))(*args), plain)


def test_what_is_saved_has_no_name():
    source = ad.adjoint_source(rows_saved_before_they_are_written, V)
    assert "saved_old_row[k] = row\n" in source and "old_row = row\n" not in source
    with pass_registry.without("tape_rows", "tape_tuples"):
        assert ".append(row.copy())\n" in ad.adjoint_source(rows_saved_before_they_are_written, V)
    with pass_registry.without("tape_rows", "tape_tuples", "forward_substitute"):
        assert "old_row = row.copy()\n" in ad.adjoint_source(rows_saved_before_they_are_written, V)


def test_items_are_saved_where_they_are():
    with pass_registry.without("tape_tuples"):
        source = ad.adjoint_source(items_saved_before_they_are_written, V)
    assert ".append(y[i])" in source
    assert "y[i + 1] *= y[i]" in source


def test_items_are_changed_where_they_are():
    source = ad.adjoint_source(arrays_of_a_list_changed_in_place, V)
    assert "    rows[0] += rows[1]\n" in source and "        rows[k] -= 0.5 * rows[k - 1]\n" in source


def test_managers_and_errors_have_no_name():
    def f(x):
        if not np.all(x > 0):
            raise ValueError("negative")
        with np.errstate(divide="ignore"):
            y = x / x[0]
        return np.sum(y * y)

    source = ad.adjoint_source(f, np.ones(3))
    assert 'raise ValueError("negative")\n' in source and 'with np.errstate(divide="ignore"):\n' in source
    with pytest.raises(ValueError, match="negative"):
        ad.grad(f)(-np.ones(3))


def test_loops_over_several_things():
    assert " in zip(" in ad.adjoint_source(zip_of_other_lengths, V, V)
    assert " in enumerate(zip(" in ad.adjoint_source(counted_zip, V, V)
    assert "zip(" not in ad.adjoint_source(only_one_is_read_first, V, V)


def test_what_is_too_short_raises():
    def f(x, w):
        total = 0.0
        for i in range(len(x)):
            v, k = x[i], w[i]
            total = total + v * k
        return total

    with pytest.raises(IndexError):
        ad.grad(f)(V, V[:2])


def test_a_function_of_the_users_is_called_zip():
    text = """
def zip(a):
    return abs(a)

def f(x, w):
    total = 0.0
    for i in range(min(len(x), len(w))):
        v, k = x[i], w[i]
        total = total + v * k
    return total * zip(w[0])
"""
    np.testing.assert_allclose(ad.grad(ad.from_source(text))(V, V[:3]), [*V[:3] * V[0], 0.0])


def test_items_are_stored_without_a_name():
    text = ad.grad(items_of_arrays_in_a_list).source_for(V)
    assert "rows[0][2] += " in text and "d_rows[0][2]" in text


def test_a_condition_is_tested_where_it_is_saved():
    def f(x):
        while True:
            if x > 2.0:
                break
            x = x * x + 0.3
        return x

    source = ad.adjoint_source(f, 0.7)
    assert ".append(x > 2.0)\n        if took_condition[-1]:\n" in source, source
    check_gradient(f, (0.7,))
    check_gradient(f, (3.0,))


def test_a_loop_is_left_where_its_test_is():
    def newton(x):
        for _ in range(50):
            step = (x * x - 2.0) / (2.0 * x)
            x -= step
            if abs(step) < 1e-12:
                break
        return x

    def old_value(x):
        while True:
            old = x
            x = x * 1.5 + 0.1
            if old > 2.0:
                break
        return x * old

    def changed_later(x):
        items = [x, x * 2.0]
        for k in range(5):
            done = items[-1] > 4.0
            items.append(items[-1] * x + 1.0)
            if done:
                break
        return items[-1]

    def at_once(x):
        for v in x:
            y = v * x[1]
            break
        return y

    assert "        if abs(step) < 1e-12:\n            break\n" in ad.adjoint_source(newton, 0.7)
    assert "if True" not in ad.adjoint_source(at_once, V)
    for x in (0.7, 1.4, 3.0):
        for fn in (newton, old_value, changed_later):
            check_gradient(fn, (x,))
    check_gradient(at_once, (V,))
