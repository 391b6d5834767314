"""Counters with numbers added are written where they are read, and named where they are read often."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V)
def neighbours(x):
    total = 0.0
    for i in range(1, len(x) - 1):
        total = total + x[i - 1] * x[i] * x[i + 1] + x[i - 1] ** 2
    return total


@case(V)
def tables(x):
    D = np.ones((5, 5))
    for i in range(1, 5):
        for j in range(1, 5):
            D[i, j] = D[i - 1, j] * x[i - 1] * 0.3 + D[i, j - 1] * D[i - 1, j - 1] * x[j - 1]
    return D[4, 4]


@case(V)
def counter_that_is_handed_on(x):
    total, last, before = 0.0, 0, -1
    for i in range(4):
        total = total * 0.5 + x[last] * x[before] * x[i]
        before, last = last - 1, i
        last = i + 1 if i < 3 else i
    return total * x[last] * last


@case(V)
def bounds_of_inner_loops(x):
    total = 0.0
    for i in range(3):
        for j in range(i + 1, len(x)):
            total = total * x[i + 1] + x[i] * x[j - 1] * x[j] * x[i + 1]
    return total


@case(V)
def counted_down(x):
    y = x * 1.0
    for i in range(len(x) - 2, -1, -1):
        if y[i + 1] > 0.0:
            y[i] = y[i] * y[i + 1] * x[i + 1]
        else:
            y[i] = y[i + 1] - x[i + 1] * y[i]
    return np.sum(y)


@case(V)
def left_early(x):
    total = 1.0
    for i in range(1, 4):
        total = total * x[i - 1] + x[i] * x[i - 1]
        if total < 0.5:
            break
    return total


@case(V)
def numbers_that_are_counted_with(x):
    total = 0.0
    for i in range(3):
        total = total + x[i + 1] ** (i + 1) * (i + 1) / (i + 1.0)
    return total


@case(V)
def assigned_under_the_loop(x):
    total, k = 0.0, 0
    while k < 3:
        total = total + x[k] * x[k + 1] ** 2
        k = k + 1
        total = total * x[k - 1]
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    plain = ad.grad(fn)(*args)
    with pass_registry.without("rematerialize"):
        np.testing.assert_allclose(ad.grad(lambda *given: fn(*given))(*args), plain, rtol=1e-14)


def test_read_twice_it_has_no_name():
    def f(x):
        y = np.ones(len(x) + 1)
        for i in range(len(x)):
            y[i + 1] = y[i] * x[i]
        return y[-1]

    with pass_registry.without("dse"):
        assert "d_y[i + 1] = d_y[i + 1], 0.0\n" in ad.adjoint_source(f, V)
    with pass_registry.without("dse", "rematerialize"):
        assert " = i + 1\n" in ad.adjoint_source(f, V)


def test_read_often_it_has_one_name():
    source = ad.adjoint_source(tables, V)
    assert source.count(" = i - 1\n") == 1 and source.count(" = j - 1\n") == 1
    forward = source.split("d_D")[0]
    assert "D_rows[i - 1]" in forward or "D[i - 1" in forward  # as the user wrote it
