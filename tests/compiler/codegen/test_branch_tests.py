"""The test of a branch in a loop is asked again in the reverse sweep where it surely has the same answer."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)


@case((V, 4), (V, 0))
def of_the_index(x, n):
    total = 1.0
    for i in range(n):
        if i == 1:
            total = total * x[i]
        elif not i > 2:
            total = total + x[i] ** 2
    return total


@case(V, -V)
def of_items(x):
    total = 1.0
    for v in x:
        if not v < 0.0:
            total = total * np.sin(v)
        elif v < -0.8:
            continue
        total = total + v * total
    return total


@case(V, -V)
def of_what_is_written(x):
    y = x * 1.0
    for i in range(3):
        if y[i] > 0.5:
            y[i + 1] = y[i] * y[i + 1]
        else:
            y[i] = np.exp(y[i])
        y[0] = y[0] * 0.9
    return np.sum(y)


@case(0.4, 1.4)
def of_what_is_carried(x):
    s = x
    for _ in range(4):
        if s > 1.0:
            s = s * 0.7
        else:
            s = s * s + 0.3
    return s


@case(V)
def of_both(x):
    s = 0.1
    for i in range(4):
        for j in range(i):
            if i == j + 1 and x[j] > 0.0:
                s = s + x[i] * x[j] * s
            elif s > 0.2:
                s = s * x[i] + 0.3
    return s


@case(0.3, 0.6)
def of_a_counter(x):
    k, s = 0, 1.0
    while s > 0.05:
        if k == 2:
            s = s * x * x
        else:
            s = s * x
        k = k + 1
    return s * k + x


@case(V)
def of_a_name_that_is_bound_again(x):
    s = 1.0
    for i in range(4):
        v = x[i]
        if v > 0.5:
            v = v * v
        if v > 0.9:
            s = s * v
        else:
            s = s + v * v
    return s


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_the_index_needs_no_list():
    source = ad.grad(of_the_index).source_for(V, 4)
    assert "took" not in source, source
    assert source.count("if i == 1:") == 2


def test_written_memory_is_not_asked_again():
    assert "took" in ad.grad(of_what_is_written).source_for(V)


def test_items_are_read_back_once():
    source = ad.grad(of_items).source_for(V)
    reverse = source[source.index("1, -1, -1)") :]
    assert reverse.count("[i]\n") <= 1, source


def test_nan_takes_the_same_side():
    x = np.array([0.5, np.nan, 0.7, 0.2])
    value, gradient = ad.value_and_grad(of_items)(x)
    assert np.isnan(value) and gradient.shape == x.shape
