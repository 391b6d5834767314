"""A test is written the other way round only where that is the same for all values."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case((V, 2), (V, 9))
def equal_numbers(x, n):
    total = 0.0
    for i in range(len(x)):
        if i == n:
            continue
        total = total + x[i] ** 2
    return total


@case((0.4, 0), (0.4, 3))
def power_by_recursion(x, n):
    if n < 1:
        return 1.0
    return x * power_by_recursion(x, n - 1)


@case((0.4, 3, [1, 3]), (0.4, 2, [1, 3]))
def member(x, k, chosen):
    total = x
    for i in range(3):
        if k in chosen:
            continue
        total = total * x
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def less_than_a_limit(x, limit):
    total = 0.0
    for v in x:
        if v < limit:
            continue
        total = total + v**2
    return total


@pytest.mark.parametrize("limit", [0.5, np.nan])
def test_not_less_is_not_greater_or_equal(limit):
    check_gradient(less_than_a_limit, (V, limit))
    assert "not v < limit" in ad.grad(less_than_a_limit).source_for(V, limit)


def test_text():
    assert "if i != n:" in ad.grad(equal_numbers).source_for(V, 2)
    assert "if n >= 1:" in ad.grad(power_by_recursion).source_for(0.4, 2)
