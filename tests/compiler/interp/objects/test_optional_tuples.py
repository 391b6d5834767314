"""Tuples that may be None: copies of them."""

import copy

import numpy as np
import pytest

from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


@case(V, -V)
def copied(x):
    best = None
    for v in x:
        if best is None or v > best[0]:
            best = (v, v * v)
    kept = copy.copy(best)
    return kept[0] * kept[1]


@case(V, -V)
def copied_deeply(x):
    best = None
    for v in x:
        if v > 1.0 and (best is None or v > best[0]):
            best = (v, v * v)
    kept = copy.deepcopy(best)
    return x[0] if kept is None else kept[0] * kept[1]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def test_none_is_none():
    def f(x):
        found = None
        for v in x:
            if v > 100:
                found = (v, 1.0)
        return copy.copy(found)[0] + copy.deepcopy(found)[1]

    with pytest.raises(TypeError):
        check_gradient(f, (np.ones(3),))
