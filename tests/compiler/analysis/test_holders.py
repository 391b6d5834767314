"""Augmented assignments of arrays that somebody else refers to: in a tuple, a default, an iterator, an operand."""

from __future__ import annotations

import functools
from collections import namedtuple

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
Pair = namedtuple("Pair", "a b")


class Walker:
    def __init__(self, a):
        self.a = a

    def step(self, x):
        self.a += x
        return self


@case((V, 2), (V, 3))
def tuple_in_a_list(x, n):
    kept = []
    y = x * 1
    for i in range(n):
        kept.append((y, i))
        y += x
    return np.sum(kept[0][0] * kept[1][0])


@case((V, 2))
def tuple_in_a_dict(x, n):
    kept = {}
    y = x * 1
    for i in range(n):
        kept[i] = (y, i * 1.0)
        y *= x
    return np.sum(kept[0][0] * kept[1][0])


@case(V)
def default_of_a_function(x):
    y = x * 1

    def g(a, b=y):
        return np.sum(a * b)

    y += x
    return g(x)


@case(V)
def default_of_a_lambda(x):
    y = x * 1
    g = lambda a, *, b=y: np.sum(a * b)
    y *= 2
    return g(x) + np.sum(y)


@case(V)
def partial_of_a_function(x):
    y = x * 1

    def f(a, b):
        return np.sum(a * b)

    g, h = functools.partial(f, y), functools.partial(np.multiply, y)
    y += x
    return g(x) + np.sum(h(x))


@case(V)
def kept_iterator(x):
    y = x * 1
    pairs = zip([y], [x])
    y += x
    total = 0.0
    for a, b in pairs:
        total = total + np.sum(a * b)
    return total


@case(V)
def named_tuple(x):
    y = x * 1
    p = Pair(y, x)
    y *= 3
    return np.sum(p.a * p.b)


@case(V)
def tuple_or_none(x):
    best = None
    y = x * 1
    if np.sum(x) > -100.0:
        best = (y, 2.0)
    y += x * x
    return np.sum(best[0] * y) * best[1] if best is not None else np.sum(y)


@case(V)
def operand_that_a_call_changes(x):
    y = x * 1

    def inc():
        nonlocal y
        y += x
        return y

    items = [y, inc(), y]
    return np.sum(y * inc()) + np.sum(items[0] * items[1])


@case(V)
def attribute_that_a_call_changes(x):
    w = Walker(x * 1)
    items = [w.a, w.step(x).a]
    return np.sum(w.a * w.step(x).a) + np.sum(items[0] * items[1])


@case(V)
def right_side_that_changes_the_left(x):
    y = x * 1

    def scale():
        nonlocal y
        y *= 2
        return x

    y += scale()
    return np.sum(y * y)


@case(V)
def copied_and_cleared(x):
    y = x * 1
    y += x
    old = y.copy()
    y += x
    z = np.zeros_like(y)
    z += y
    y[...] = old
    z += y
    z += y
    return np.sum(z * x)


@case(V)
def restored_between_sums(x):
    t = x * 1
    t += x
    old = t.copy()
    t += x
    parts = np.stack([t, t])
    t[...] = old
    d = np.sum(parts, axis=0) + 1.0 * t
    e = d.copy()
    d += t
    d += t
    e += d
    e += d
    return np.sum(e * V)


@case((V, 1), (V, 2))
def one_of_several_after_a_try(x, i):
    a = x * 1
    b = a
    p = x * 3
    try:
        p = b
        if i % 2 == 0:
            raise ValueError
    except ValueError:
        x = x * 2
    a *= 0.5
    return np.sum(p * 12) + np.sum(x * b)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_second_order():
    """What a reverse sweep restores and adds up is differentiated itself."""
    g = ad.grad(lambda x: np.dot(Walker(x * 1).step(x).a, V) + attribute_that_a_call_changes(x))
    u = np.sin(V)
    expected = (g(V + 1e-5 * u) - g(V - 1e-5 * u)) / 2e-5
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(g(x) * u))(V), expected, rtol=1e-6, atol=1e-8)


def test_generator():
    """Its items are computed when they are asked for."""

    def program(x):
        y = x * 1
        z = y
        items = (v * 2 for v in y)
        z *= 3
        return sum(items)

    check_gradient(program, (V,))
