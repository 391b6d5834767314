"""Variables of one branch that another branch reads: the sweep back reads nothing of them on other paths."""

import numpy as np
import pytest

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


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)
