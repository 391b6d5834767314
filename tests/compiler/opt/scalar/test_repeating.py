"""What is written twice means the same in both places."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V)
def views_of_what_is_written(x):
    y = x * 1.0
    y[1:] *= y[:-1]
    y[:-1] *= y[1:]
    return np.sum(y**2)


@case(V)
def number_out_of_what_is_written(x):
    y = x * 1.0
    s = y[0] * x[1]
    y[0] = 2.0 * s
    return s * y[0] * x[0]


@case(V, -V)
def choice_by_a_sum(x):
    s = np.sum(x)
    if s > 0.0:
        y = x * s
    else:
        y = x
    z = np.sin(y)
    return np.sum(z * y)


@case((0.4,), (1.4,))
def name_of_another_value(x):
    y = x * x
    if x > 1.0:
        x = x * y
    x = x * 3.0
    return x * y


@case((V, 2))
def read_in_a_loop(x, n):
    part = x[1:]
    total = 0.0
    for k in range(n):
        total = total + part[k] * x[1:][k]
    return total


@case(V)
def items_of_an_argument(x):
    a = x[0] * x[1]
    return a * x[0] * np.sin(x[1]) + max(x[0], x[1], x[2])


@case(V)
def items_of_an_argument_that_is_replaced(x):
    a = x[0] * x[1]
    x = x * a
    return a * x[0] * np.sin(x[1])


@case(V)
def items_written_before_and_after(x):
    y = x * 1.0
    y[1] = x[0] ** 2
    s = y[1] * np.sin(y[1]) * y[2]
    y[2] = s * y[1]
    r = y[2] ** 2 * np.cos(y[2])
    y[2] = 3.0
    return s * r * np.sum(y**2)


@case(V)
def items_of_a_list_before_and_after(x):
    values = [v * 2.0 for v in x]
    s = values[1] * np.sin(values[1])
    values[1] = s * values[2]
    r = values[1] ** 2 * np.cos(values[1])
    last = values.pop()
    t = values[-1] * np.exp(values[-1])
    values[-1] = t
    return s * r * last * t + sum(values)


@case(V)
def arrays_of_a_list(x):
    rows = [x * 1.0, x * 2.0]
    t = rows[0] * np.sin(rows[0])
    rows[0] *= rows[1]
    u = rows[0] * np.cos(rows[0])
    rows[0] = t
    return np.sum(rows[0] * u * rows[1])


@case((0.4, 1.3), (1.4, -0.3))
def sums_of_numbers(x, k):
    y = np.exp(-k * x) * np.log(x + 1.0)
    k = k - 1.0
    return y * np.sin(-k * x) / (x + 1.0)


@case((0.4, 2))
def sum_with_what_a_loop_changes(x, n):
    y = np.sin(n + x)
    for _ in range(3):
        n = n + 1
        x = x * np.cos(n + x)
    return x * y


@case(V * np.nan)
def not_a_number(x):
    return np.sum(np.where(x > 0, x, 0.0)) if x[0] > 0 else x[0] * 0.0 + 1.0


@pytest.mark.parametrize(("fn", "args"), CASES[:-1], ids=names(CASES[:-1]))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_branch_on_a_nan():
    fn, args = CASES[-1]
    np.testing.assert_array_equal(ad.grad(fn)(*args), [0.0, 0.0, 0.0, 0.0])


def test_index_out_of_range_comes_first():
    def f(x):
        a = x[9] * x[0]
        b = np.linalg.inv(np.zeros((2, 2)))
        return a * x[9] * np.sum(b)

    with pytest.raises(IndexError):
        ad.grad(f)(V)


def test_what_raises_does_so_before_what_is_seen(capsys):
    def f(x):
        a = x[9]
        print("later")
        return a * x[0] * a

    with pytest.raises(IndexError):
        ad.grad(f)(V)
    assert not capsys.readouterr().out


def test_items_of_an_argument_have_no_names():
    source = ad.adjoint_source(items_of_an_argument, V)
    assert "a = x[0] * x[1]" in source
    assert "max(x[0], x[1], x[2])" in source


def test_branches_are_asked_for_in_the_users_words():
    assert ad.grad(name_of_another_value).source_for(0.4).count("condition") in (0, 3)
    assert "condition" not in ad.grad(choice_by_a_sum).source_for(V)
