"""Numbers as keys of dicts: what comes out of the keys has lost its derivative, and is refused where one passes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax
from tests.compiler.checked import check_gradient

X = np.array([0.3, 0.4, 0.5])


def unique(x):
    return sum(list(dict.fromkeys(x)))


def counted(x):
    return sum(k * n for k, n in Counter(x).items())


def multiplied(x):
    table = {v: v * v for v in x}
    return sum(k * v for k, v in table.items())


def in_a_tuple(x):
    table = {(x[0], x[1]): 2.0}
    return sum(k[0] * v for k, v in table.items())


def copied(x):
    table = {v: 1 for v in x}
    return sum({k: v for k, v in dict(table).items()})


def updated(x):
    table = {}
    table.update({x[0]: 1})
    return sum(table)


def the_largest(x):
    return max({x[0]: 1, x[1]: 2}.items())[0] * x[2]


@pytest.mark.parametrize("fn", [unique, counted, multiplied, in_a_tuple, copied, updated, the_largest])
def test_keys_that_carry_a_derivative_are_refused(fn):
    for differentiated in (ad.grad(fn), lambda x: ad.jvp(fn, x, np.ones(3))):
        with pytest.raises(UnsupportedSyntax, match="the keys of a dict carry a derivative"):
            differentiated(X)


def looked_up(x):
    places = {}
    for i, v in enumerate(x):
        places[v] = i
    return sum(x[places[k]] ** 2 for k in places)


def times(x):
    table = {}
    for i, v in enumerate(x):
        table[i * 0.5] = v
    return sum(k * v for k, v in table.items())


def rounded(x):
    groups = {}
    for v in x:
        groups.setdefault(round(v, 1), []).append(v)
    return sum(k * sum(vs) for k, vs in groups.items())


@pytest.mark.parametrize("fn", [looked_up, times, rounded])
def test_keys_that_carry_none(fn):
    check_gradient(fn, (X,))
