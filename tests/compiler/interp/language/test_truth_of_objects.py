"""Objects in tests: ``and``, ``or`` and ``not`` ask an object for its truth value, beside numbers, too."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import Cases, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
X = np.array([0.5, 0.2, 0.9])
Y = np.array([0.6, 1.2, 0.4])


class Box:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        return bool(self.v > 0.3)


class Stack:
    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)


@case(X, Y)
def in_a_loop(x):
    c, n, s = Box(x[2] * 0.5), 0, x[0]
    while n < 3 and c:
        n += 1
        s = s * x[1]
        c.v = c.v * 0.9
    return s


@case(X, Y)
def in_an_expression(x):
    c = Box(x[2] * 0.5)
    return (x[0] * 2 if x[1] > 0 and c else x[1]) + (x[0] if x[1] > 1 or c else x[1] * 3)


@case(X, Y)
def below_not(x):
    c, d, s = Box(x[2] * 0.5), Box(x[0]), 0.0
    for e in x:
        if not (e > 0.3 and c):
            s += e * e
        elif d and c or e > 0.8:
            s += 2 * e * e
        c.v = e
    return s


@case(X, Y)
def length(x):
    c = Stack([e for e in x if e > 0.45])
    while x[0] < 5 and c:
        x = x * c.items.pop()
    return x[0] + sum([e * 2 for e in x if e > 0 and not c])


@case(X, Y)
def in_a_list(x):
    s = 0.0
    for o in [Box(e) for e in x]:
        if o and o.v < 0.55:
            s += o.v**2
        elif not o or s > 0:
            s += o.v * 3
    return s


@case(X, Y)
def one_of_two(x):
    c, d = Box(x[2] * 0.5), Box(x[0])
    r = c or d
    r.v += x[1]
    return c.v * x[1] + d.v**2


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_each(fn, args):
    check_gradient(fn, args)


def kept(x):
    found = x[1] > 0 and Box(x[2] * 0.5)
    return x[0] * 2 if found else x[1]


def test_an_object_or_a_truth_value_under_one_name_is_refused():
    with pytest.raises(Refused):
        ad.grad(kept)(X)
