"""What is written twice means the same in both places."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, names, registrar

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


def test_branches_are_asked_for_in_the_users_words():
    assert ad.grad(name_of_another_value).source_for(0.4).count("condition") in (0, 3)
    assert "condition" not in ad.grad(choice_by_a_sum).source_for(V)
