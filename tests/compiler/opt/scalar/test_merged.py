"""What a branch hands on is read under one name by the branch that reverses it."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V, -V, 0.01 * V)
def normalised(x):
    y = np.tanh(x)
    n = np.linalg.norm(y)
    if n > 0.5:
        y = y / n
    return y @ x


@case(V, -V)
def both_sides(x):
    if x[0] > 0:
        y = np.exp(x)
        z = y * y
    else:
        z = np.sin(x)
        y = z * x
    return np.sum(y * z)


@case(V, -V)
def one_value_under_two_names(x):
    y, z = x, x * 2
    if x[1] > 0:
        y = np.exp(x)
        z = y
    return np.sum(y * z)


@case(V, -V, 2 * V)
def a_branch_in_a_branch(x):
    y = x
    if x[0] > 0:
        if x[0] > 0.5:
            y = np.exp(0.3 * x)
        else:
            y = np.sin(x)
        y = y * y
    return np.sum(np.cos(y) * y)


@case(V, -V)
def written_after_the_branch(x):
    y = x * 2.0
    if x[0] > 0:
        y = np.exp(y)
    y[0] *= y[1]
    y[2:] = np.sin(y[2:])
    return np.sum(y * y)


@case(V, -V)
def written_in_the_branch(x):
    y = x * 1.0
    if x[0] > 0:
        y = np.exp(y)
        y[1] = y[0] * y[1]
    return np.sum(y**2)


@case(V)
def inside_a_loop(x, n=3):
    for k in range(n):
        if x[0] > 0.3:
            y = np.exp(-x)
            x = y * y
        else:
            x = np.cos(x)
    return np.sum(x)


@case(0.3, -0.4, 2.0)
def kinds_of_numbers(x):
    if x > 0:
        y = np.exp(x)
    else:
        y = x * x
    return y * y


@case(V, -V)
def a_number_or_an_array(x):
    y = x if x[0] > 0 else np.sum(x**2)
    return np.sum(np.sin(y) * x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    found = ad.grad(fn)(*args)
    with pass_registry.without("copy_propagation"):
        plain = ad.grad(lambda x: fn(x))(*args)
    np.testing.assert_array_equal(found, plain)
    _, pullback = ad.vjp(fn, *args)
    first, second = pullback(1.0), pullback(1.0)
    np.testing.assert_array_equal(np.asarray(first[0]), np.asarray(second[0]))


def test_no_copy():
    source = ad.adjoint_source(normalised, V)
    assert "y2 = y / n" in source and "y3" not in source, source
