"""Attributes that are asked for, extremes of one item and numbers that may be None: as Python has them."""

import math

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)


@case(0.7, V)
def length_asked_for(x):
    try:
        n = x.shape[0]
    except AttributeError:
        n = 5
    return np.sum(x) * n


@case(0.7, np.float64(0.7), V)
def attribute_read_for_its_error(x):
    try:
        x.weight
    except AttributeError:
        x = x * 3
    return np.sum(x * 2)


@case(0.7, np.float64(0.7), V)
def attribute_assigned_for_its_error(x):
    y = np.cos(x)
    for name in ("first", "second"):
        try:
            y.label = name
            y = y * 2
        except AttributeError:
            y = y * 3
    return np.sum(y * x)


@case(V, -V)
def attribute_of_either_kind_of_number(x):
    y = np.sum(x) if x[0] > 0 else float(x[1])
    try:
        y.label = "sum"
        y = y * 2
    except AttributeError:
        y = y * 3
    return y * y


@case(0.7, V)
def attributes_looked_up(x):
    n = x.shape[0] if hasattr(x, "shape") else 3
    known = hasattr(np, "sum") and hasattr(math, "hypot") and not hasattr(np, "nothing_of_the_kind")
    return np.sum(x) * n * getattr(x, "size", 5) * (2 if known else 3)


@case((V, 3), (V, 0))
def attribute_of_what_may_be_none(x, n):
    k = None
    for i in range(n):
        k = x * i
    return np.sum(k * x) if hasattr(k, "shape") else np.sum(x)


@case(0.7)
def constant_without_a_shape(x):
    c = 2.0
    try:
        n = c.ndim
    except AttributeError:
        n = 5
    return x * n


@case(V)
def extremes_of_one_item(x):
    table = {"a": x}
    return np.sum(max([x]) * x) + np.sum(min(v * x for v in table.values())) + max(len(v) for v in table.values())


@case(0.7)
def extreme_of_nothing(x):
    try:
        return x * max(())
    except ValueError:
        return x * 3


@case(0.7)
def constants_that_fail(x):
    y = x
    for text in ("3", "three"):
        try:
            y = y * int(text)
        except ValueError:
            y = y + x
    if y > 100.0:
        y = y * int("never")
    return y


@case((1.3, 3), (1.3, 2))
def integer_that_was_none(x, n):
    best, where = -1.0, None
    for i in range(n):
        if math.sin(i * x) > best:
            best, where = math.sin(i * x), i
    return best * x + where + x * where / 3


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_list_of_floats_indexed_by_what_was_none():
    def f(xs):
        best, where = -1.0, None
        for i, v in enumerate(xs):
            if v * v > best:
                best, where = v * v, i
        return best * xs[where] + where

    value, gradient = ad.value_and_grad(f)([1.0, -3.0, 2.0])
    assert value == -26.0
    assert gradient == [0.0, 27.0, 0.0]


def test_tuple_that_was_none():
    def f(x):
        best = None
        for i in range(3):
            if best is None or x[i] > best[0]:
                best = (x[i], i)
        return best[0] * 2

    gradient = np.zeros_like(V)
    gradient[np.argmax(V[:3])] = 2.0
    assert np.array_equal(ad.grad(f)(V), gradient)


def test_tuple_with_a_list_that_was_none():
    def f(x, n):
        best = None
        for i in range(n):
            if best is None or x[i] > best[0]:
                best = (x[i], [x[i], x[0]])
        return best[0] * best[1][0]

    for x in (V, -V):
        gradient = np.zeros_like(x)
        k = np.argmax(x[:3])
        gradient[k] = 2 * x[k]
        assert np.array_equal(ad.grad(f)(x, 3), gradient)
    with pytest.raises(TypeError, match="not subscriptable"):
        ad.grad(f)(V, 0)
