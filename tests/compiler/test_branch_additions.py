"""Additions of what a branch leaves as zero go into its sides: the same gradients, and nothing zero is added."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.compiler.checked import Cases, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(0).uniform(0.5, 1.5, 6)


@case(V, V[:1], V[:0])
def limited(x):
    slope = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        left = x[i] - x[i - 1]
        right = x[i + 1] - x[i]
        if left * right <= 0.0:
            slope[i] = 0.0
        elif abs(left) < abs(right):
            slope[i] = left
        else:
            slope[i] = right
    return np.sum(slope * slope * x)


@case(V)
def one_side_only(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1]
        if step > 1.0:
            total = total + step
    return total


@case(V)
def index_that_is_saved(x):
    total, j = 0.0, 1
    for i in range(5):
        j = (j * j + 3 * i) % 6
        v = x[j]
        if total > 0.6:
            total = total + np.sin(v)
        else:
            total = total * 0.9 + 0.5
    return total


@case(V)
def indices_that_are_saved(x):
    total, j = 1.0, 1
    while j < 20:
        v, w = x[j % 6], x[(j * 3) % 6]
        if j % 3 == 0:
            total = total * v
        elif j % 3 == 1:
            total = total + w
        j = j * 2 - j % 5 + 1
    return total


@case(V)
def both_sides(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1]
        other = x[i] - x[i - 1]
        if step > 1.0:
            total = total + step * other
        else:
            total = total - other
    return total


@case(V)
def read_after_the_branch_too(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1]
        if step > 1.0:
            total = total + step
        total = total * 0.5 + step
    return total


@case(V)
def index_chosen(x):
    total = 0.0
    for i in range(1, len(x)):
        k = i - 1
        step = x[i]
        other = x[k] * 2.0
        if step > 1.0:
            k = i
            total = total + step
        else:
            total = total * other
        total = total + x[k] * 0.1
    return total


@case(V)
def deep(x):
    total = 0.0
    for i in range(2, len(x)):
        a, b, c = x[i] - x[i - 1], x[i - 1] - x[i - 2], x[i] * x[i - 2]
        if a > 0.0:
            if b > 0.0:
                total = total + a
            elif c > 1.0:
                total = total + c
        elif c > 0.5:
            total = total - b
        else:
            total = total + c * a
    return total


@case(V)
def rows(x):
    total = np.zeros(3)
    y = np.outer(x, np.arange(1.0, 4.0))
    for i in range(1, len(x)):
        left = y[i] - y[i - 1]
        right = y[i] * y[i - 1]
        if x[i] > 1.0:
            total = total + left * left
        else:
            total = total + right
    return np.sum(total)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with passes.without("add_in_branches"):
        expected = ad.grad(lambda x: fn(x))(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), expected, rtol=1e-13, atol=1e-15)


def test_zeros_are_gone():
    lines = ad.adjoint_source(limited, V).splitlines()
    assert not any("d_left, d_right" in line or line.strip() == "d_right = 0.0" for line in lines)
