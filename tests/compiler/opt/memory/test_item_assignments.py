"""The first addition to an item of zeros is an assignment, and no other is."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(0).uniform(0.5, 1.5, 5)


@case(V, V[:1], V[:0])
def once(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i] * i
    return total


@case(V)
def in_two_loops(x):
    total = 1.0
    for i in range(len(x)):
        total = total + np.sin(x[i])
    for i in range(1, len(x)):
        total = total * x[i]
    return total


@case(V)
def neighbours(x):
    total = 0.0
    for i in range(1, len(x)):
        total = total + x[i] * x[i - 1]
    return total


@case(V)
def wrapped(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i - 1] * i
    return total


@case(V)
def over_both_ends(x):
    total = 0.0
    for i in range(-len(x), len(x)):
        total = total + x[i] * x[i] * i
    return total


@case((V, 3), (V, 0))
def again_and_again(x, n):
    total = 0.0
    for k in range(n):
        for i in range(len(x)):
            total = total + x[i] * x[i] * k
    return total


@case(V)
def in_one_branch(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            total = total + x[i] * i
        else:
            total = total * x[i]
    return total


@case(V)
def before_the_loop(x):
    total = x[0] * x[1]
    for i in range(len(x)):
        total = total * x[i]
    return total * x[2]


@case(V)
def by_a_table(x):
    table = np.array([2, 2, 0, 1, 2])
    total = 1.0
    for i in range(len(x)):
        total = total * x[table[i]]
    return total


@case(V)
def as_a_whole_too(x):
    total = np.sum(np.sin(x))
    for i in range(len(x)):
        total = total * x[i]
    return total * np.sum(x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_assigned():
    assert "d_x[i] = " in ad.adjoint_source(once, V)


@pytest.mark.parametrize("fn", [wrapped, over_both_ends, by_a_table])
def test_added(fn):
    assert "] += " in ad.adjoint_source(fn, V) and "d_x[i] = " not in ad.adjoint_source(fn, V)
