"""Truth values, lengths and classes of ranges, views of dicts, partials, methods and slices."""

import functools
import types
from collections.abc import Iterator

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import V, check_gradient, names, registrar

CASES: list = []
case = registrar(CASES)


def weight(x, condition):
    return x[0] * (2.0 if condition else 3.0)


@case(V, -V)
def ranges(x):
    empty, filled = range(int(x[1] > 99)), range(1, 2 + int(x[1] > 0))
    return weight(x, empty) + weight(x, filled) * 5 + (x[1] if empty and x[2] < 5 else x[3]) + weight(x, not empty)


def greater(x, limit):
    found = {}
    for k, v in enumerate(x):
        if v > limit:
            found[k] = v
    return found


@case(V, -V)
def views(x):
    none, some = greater(x, 99), greater(x, 0.5)
    total = weight(x, none.values()) + weight(x, some.keys()) * 5 + weight(x, none.items()) * 7
    return total * len(some.values()) + weight(x, len(none.keys()) > 0)


class Own:
    def method(self):
        return 1


@case(V)
def partials_and_methods(x):
    partial, method = functools.partial(np.dot, x), Own().method
    total = weight(x, isinstance(partial, functools.partial)) + weight(x, isinstance(partial, types.FunctionType)) * 5
    return total + weight(x, isinstance(method, types.MethodType)) * 7


@case(V, -V)
def slices(x):
    part = slice(int(x[1] > 0), 3)
    return weight(x, part == slice(1, 3)) + weight(x, part != slice(0, 3)) * 5


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


def test_the_class_of_an_iterator_is_not_asked():
    with pytest.raises(Refused, match="the class of an iterator is not known"):
        ad.grad(lambda x: weight(x, isinstance(iter([x]), Iterator)))(V)
