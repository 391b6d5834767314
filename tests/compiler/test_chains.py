"""Tests as one writes them: comparisons in chains, each value compared as often as the program does."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)


@case((V, 2), (V, -1), (V, 3), (V, 7))
def inside(x, k):
    if 0 <= k < len(x) - 1 and x[k] < x[k + 1] <= 2.0:
        return np.sum(x[k] * x)
    return np.sum(x**2)


@case((V, 2), (V, 0))
def nested(x, k):
    near = (k > 0 and (k < 3 and x[0] < 1.0)) and not (k > 5 or (k < -5 or k == 4))
    return np.sum(x**3) if near else np.sum(x)


@case(V, -V)
def compared_with_a_product(x):
    if 0.0 < x[0] * x[1] and x[0] * x[1] < 1.0 and x[0] < x[1]:
        return x[0] * x[2]
    return x[1] * x[2]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient_is_that_without(fn, args):
    with passes.without("chain"):
        expected = ad.grad(fn)(*args)
    np.testing.assert_array_equal(ad.grad(fn)(*args), expected)


def between(x, k):
    return np.sum(x**2) if 0 <= k < 3 and 1 < k else np.sum(x)


def test_source():
    assert "0 <= k < 3 and 1 < k" in ad.adjoint_source(between, V, 2)
