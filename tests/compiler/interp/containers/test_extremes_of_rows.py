"""The largest and the smallest of tuples and of lists, which Python compares item by item."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

X = np.array([0.3, 0.4, 0.5])
CASES: Cases = []
case = registrar(CASES)


@case(X)
def of_two_tuples(x):
    return max((x[0], 1), (x[1], 0))[0] * min((x[2], 0), (x[0], 5))[0]


@case(X)
def told_by_the_second(x):
    return max((1, x[1]), (0, x[2]), (1, x[0]))[1]


@case(X)
def in_a_list(x):
    return max([(x[0], 1), (x[1], 0)])[0] + min([(v * v, k) for k, v in enumerate(x)])[0]


@case(X, -X)
def best_so_far(x):
    best = (x[0], 0)
    for k, v in enumerate(x):
        best = max(best, (v * v, k))
    return best[0] * (best[1] + 1)


@case(X)
def none_before(x):
    best = None
    for k, v in enumerate(x):
        found = (v * v, k)
        best = found if best is None else min(best, found)
    return best[0]


@case(X)
def of_two_lists(x):
    a, b = [x[0], x[1]], [x[2], x[0]]
    largest = max(a, b)
    largest[0] = largest[0] * 2
    return a[0] + b[0]


@case(X)
def of_a_generator(x):
    return max((v * v, -i) for i, v in enumerate(x))[0] * min(zip(x, x[::-1]))[1]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_of_none():
    def fn(x):
        rows = []
        for v in x:
            if v > 9:
                rows.append((v, 1))
        return max(rows)[0]

    with pytest.raises(ValueError, match="empty"):
        ad.grad(fn)(X)
