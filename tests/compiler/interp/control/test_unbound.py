"""Variables that are bound on some paths: the sweep back reads nothing of them on the others."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)
X = np.array([0.43, 0.81, -0.72, 0.64])


@case(X, -X)
def default_of_a_function_made_in_a_branch(x):
    y = x * 1
    listed = [y, x * 2 + 1]

    def g(a, b=y):
        return np.sum(a + b)

    if x[1] < 0:

        def g(a, b=listed[-1]):
            return np.sum(a * b)

    return g(x)


@case(X, -X)
def default_that_is_written(x):
    y = x * 1

    def g(a, b=y):
        return np.sum(a + b)

    if x[1] < 0:
        z = x * x

        def g(a, b=z):
            b[0] = a[1]
            return np.sum(a * b)

    return g(x) + g(y)


@case(X, -X)
def items_read_in_a_loop_where_it_is_bound(x):
    total = 0.0
    if x[1] > 0:
        w = x * 2
    for v in x:
        if x[1] > 0:
            total += w[0] * v
    return total


@case(X, -X)
def bound_in_some_steps_only(x):
    total = 0.0
    for k in range(3):
        if x[k] > 0:
            w = x[k : k + 2] * x[1]
        for v in x:
            if x[k] > 0:
                total += w[0] * v
    return total


@case(X, -X)
def read_in_nested_loops_and_after_them(x):
    total = 0.0
    if x[1] > 0:
        w = x * 2
    for v in x:
        for u in x:
            if x[1] > 0:
                total += w[0] * v * u + w[1]
    return total + (w[2] if x[1] > 0 else 0.0)


@case(X, -X)
def bound_under_a_handler(x):
    total, k = 0.0, 0
    while True:
        try:
            if k >= 3:
                raise IndexError
            w = x[k : k + 2]
        except IndexError:
            break
        for v in x:
            total += w[0] * v
        k += 1
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def bound_in_a_branch(x):
    if x[0] > 1:
        y = x
    return np.sum(y)


def pair_bound_in_a_branch(x):
    if x[0] > 1:
        y = (x, x)
    a, _ = y
    return a.sum()


def bound_in_a_branch_and_read_by_a_function(x):
    if x[0] > 1:
        y = x

    def double():
        return y * 2

    return np.sum(double())


def bound_in_a_loop(x):
    for k in range(int(x[0])):
        y = x * k
    return y.sum()


def bound_to_an_argument_in_a_loop(x):
    for _ in range(int(x[0])):
        y = x
    return np.sum(y)


def bound_again_in_a_branch(x):
    y = x * 2
    total = np.sum(y)
    del y
    if x[0] > 1:
        y = x
    return np.sum(y) + total


UNBOUND = [
    bound_in_a_branch,
    pair_bound_in_a_branch,
    bound_in_a_branch_and_read_by_a_function,
    bound_in_a_loop,
    bound_to_an_argument_in_a_loop,
    bound_again_in_a_branch,
]


@pytest.mark.parametrize("fn", UNBOUND, ids=lambda fn: fn.__name__)
def test_what_is_read_unbound_raises_as_in_the_program(fn):
    with pytest.raises(NameError):
        fn(X)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x), lambda x: ad.jvp(fn, (x,), (x,))):
        with pytest.raises(NameError, match="'y"):
            derivative(X)
    check_gradient(fn, (X + 2,))
    check_tangent(fn, (X + 2,))
