"""What only the reverse sweep reads moves there, and nothing that may be seen from outside changes."""

import math

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V, -V)
def branch(x):
    if x[0] > 0.0:
        return np.sum(np.sqrt(np.abs(x)) * x)
    return np.sum(x)


@case(V, -V)
def branch_in_branch(x):
    if x[0] > 0.0:
        if x[1] > 0.0:
            return np.sum(np.sin(x) * np.exp(x))
        return x[1] * x[2]
    return np.sum(x)


@case(V, -V)
def branch_that_writes(x):
    y = x * 1.0
    t = y[1:] * y[:-1]
    if x[0] > 0.0:
        y[0] = y[1] ** 2
    else:
        y[1] = y[0] ** 3
    return np.sum(y * y) * np.sum(t)


@case(V)
def overwritten_after_it_was_read(x):
    y = np.exp(x)
    s = y[1] * y[2]
    y[1] = 0.0
    y[2] = x[0]
    return s * y[0] * y[2]


@case(V)
def view_of_what_is_overwritten(x):
    y = x * x
    part = y[:2]
    total = np.sum(part**2)
    y[0] = x[3]
    return total * np.sum(part)


@case(V)
def sum_in_place(x):
    total = np.zeros_like(x)
    total += x
    square = total**2
    total += square
    return np.sum(total * square)


@case((V, 3), (V, 0))
def loop_between(x, n):
    t = x**2
    s = 1.0
    for _ in range(n):
        s = s * np.sum(t)
    return s * np.sum(np.sin(t))


@case(V.astype(np.float32).astype(float))
def both_branches_return_the_same(x):
    if np.sum(x) > 100.0:
        y = x
    else:
        y = x
    return np.sum(y**3)


@case(np.ones((2, 3)))
def broadcast(a):
    row = a[:1]
    if a[0, 0] > 0.5:
        return np.sum(row * a + a[:, :1])
    return np.sum(row)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_branches_of_both_sweeps_are_one():
    source = ad.grad(branch).source_for(V)
    assert source.count("if ") == 1, source


def test_a_value_is_nested_where_it_is_read():
    def f(x, y):
        return x**2 * np.log(y)

    source = ad.grad(f, grad_position=(0, 1)).source_for(0.5, 2.0)
    body = [line for line in source.splitlines() if " = " in line and not line.lstrip().startswith("#")]
    assert [line.split(" = ")[0].strip() for line in body] == ["d_y", "d_x"]


def test_float32_stays():
    result = ad.grad(branch)(V.astype(np.float32))
    assert result.dtype == np.float32


def test_the_first_exception_stays_the_first():
    def f(x, y):
        a = math.sqrt(x)
        b = 1.0 / y
        return a * b

    with pytest.raises(ValueError, match="math domain error|expected a nonnegative input"):
        ad.grad(f, grad_position=(0, 1))(-1.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        ad.grad(f, grad_position=(0, 1))(1.0, 0.0)


def test_an_effect_is_not_passed(capsys):
    def f(x):
        t = 1.0 / x
        print("seen")
        return t * t

    with pytest.raises(ZeroDivisionError):
        ad.grad(f)(0.0)
    assert capsys.readouterr().out == ""


def test_index_error_before_an_effect(capsys):
    def f(x):
        t = x[7]
        print("seen")
        return t * x[0]

    with pytest.raises(IndexError):
        ad.grad(f)(V)
    assert capsys.readouterr().out == ""
