"""Functions that may be None, and one of several functions, as the run decides: which one it is may be asked."""

import functools

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


@case(V, -V)
def called_where_it_is_there(x):
    act = np.tanh if x[0] > 0 else None
    y = x * 2
    for _ in range(2):
        y = y * x
        if act is not None:
            y = act(y)
    return np.sum(y)


@case(V, -V)
def returned_early(x):
    act = np.sin if x[0] > 0 else None
    if act is None:
        return np.sum(x)
    y = act(x)
    return np.sum(y * act(y))


@case(V, -V)
def one_of_three(x):
    act = None
    if x[0] > 0:
        act = np.sin
    elif x[1] < -5:
        act = np.cos
    if not act:
        return np.sum(x * x)
    return np.sum(act(x))


@case(V, -V)
def or_another(x):
    act = np.sin if x[0] > 0 else None
    return np.sum((act or np.cos)(x))


@case(V, -V)
def default_of_a_parameter(x):
    def apply(v, act=None):
        if act is not None:
            v = act(v)
        return v

    return np.sum(apply(x, np.tanh if x[0] > 0 else None) * apply(x))


class Layer:
    def __init__(self, w, act=None):
        self.w, self.act = w, act

    def __call__(self, v):
        v = v * self.w
        return self.act(v) if self.act else v


@case(V, -V)
def attribute_of_an_object(x):
    return np.sum(Layer(x, np.tanh if x[1] > 0 else None)(x))


@case(V, -V)
def assigned_again_on_both_paths(x):
    act = np.sin if x[0] > 0 else None
    y = x
    if act is not None:
        y = act(x)
        act = np.cos
    else:
        act = np.exp
    return np.sum(act(y))


@case(V, -V)
def partial_or_none(x):
    fn = functools.partial(np.dot, x) if x[0] > 0 else None
    return fn(x * 2) if fn is not None else np.sum(x)


@case(V, -V)
def which_one_it_is(x):
    act = np.sin if x[0] > 0 else np.cos
    first = 2.0 if act is np.sin else 3.0
    second = 5.0 if act != np.cos else 7.0
    return np.sum(act(x)) * first * second * (1.0 if callable(act) else 11.0)


@case(V, -V)
def which_of_its_own_functions(x):
    def double(v):
        return v * 2

    def square(v):
        return v * v

    act = double if x[0] > 0 else square
    return np.sum(act(x)) * (2.0 if act is double else 3.0)


@case(V, -V)
def which_of_a_list(x):
    act = [np.sin, np.cos, np.exp][int(x[0] > 0)]
    return np.sum(act(x)) * (2.0 if act is np.cos else 3.0)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def test_none_is_not_callable():
    def f(x):
        act = np.sin if x[0] > 100 else None
        return np.sum(act(x))

    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        ad.grad(f)(V)
