"""One gradient function called with arguments of one kind after another: each call runs what was compiled for it."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import nn
from tests.compiler.checked import differences

X = np.array([0.4, 1.3, 0.7])


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return self.k * x


@dataclass(frozen=True)
class Power:
    exponent: int


class Net(nn.Cell):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.weight = np.full(3, k)

    def construct(self, x):
        return np.sum(x * x * self.weight) * self.k


class Holder:
    def __init__(self, net):
        self.net = net


def to_the(x, k):
    return x**k


def power(k):
    return lambda x: x**k


def called(f, x):
    return np.sum(f(x))


def held(holder, x):
    return holder.net(x)


def multiplied(c, x):
    return np.sum(x * c)


def raised(d, x):
    return np.sum(x**d.exponent)


def powers(exponents, x):
    s = 0.0
    for k in exponents:
        s = s + np.sum(x**k)
    return s


def all_called(functions, x):
    s = 0.0
    for f in functions:
        s = s + np.sum(f(x))
    return s


def layers(params, x):
    for layer in params:
        x = np.tanh(x * layer["w"] + layer["b"])
    return np.sum(x)


def by_name(names, x):
    s = 0.0
    for name in names:
        s = s + np.sum(x**2 if name == "a" else x**3)
    return s


def nested(parts, x):
    s = 0.0
    for part in parts:
        for item in part:
            s = s + np.sum(item * x)
    return s


def entries(d, x):
    s = 0.0
    for k, v in d.items():
        s = s + v * np.sum(x**k)
    return s


def counted(items, x):
    return len(items) * np.sum(x)


def numbers_and_names(items, x):
    s = np.sum(x)
    for item in items:
        s = s + (np.sum(x**2) if isinstance(item, str) else np.sum(item * x))
    return s


def layer(k):
    return {"w": X * k, "b": X - k}


CASES: list[tuple[Any, list[Any]]] = [
    (called, [np.sin, np.cos, power(2), power(3), Scale(2.0), Scale(3.0), Scale(2)]),
    (called, [partial(to_the, k=2), partial(to_the, k=3), partial(to_the, k=1.5), partial(np.power, 2.0)]),
    (called, [partial(np.multiply, X), partial(np.multiply, 2 * X), partial(np.multiply, 3), np.vectorize(power(2))]),
    (called, [Net(1.0), Net(2.0), Net(3.0)]),
    (held, [Holder(Net(1.0)), Holder(Net(2.0))]),
    (multiplied, [2, 2.0, True, False, np.float32(1.5), np.int8(3), X, X[:1], np.ones((2, 3)), np.ones((1, 3))]),
    (raised, [Power(2), Power(3)]),
    (powers, [[1, 2], [1, 2, 3], (1, 2), (1, 2, 3), range(1, 3), range(1, 4), {1, 2}, deque([2]), np.array([1, 3])]),
    (all_called, [[np.sin, np.cos], [np.sin, np.cos, np.sin], [np.cos], [Scale(2.0)], [Scale(2.0), Scale(3.0)]]),
    (layers, [[layer(k) for k in range(n)] for n in (2, 3, 1)]),
    (by_name, [["a", "b"], ["a", "b", "b"], ["b", "a", "a"], ("a", "b"), ("a", "b", "b")]),
    (nested, [[(X, X), (X, X, X)], [(X, X), (X, X, X), (X, X)], [(X, X, X), (X, X)]]),
    (nested, [[[X], [X, X]], [[X], [X, X], [X]], [[X]], ([X], [X]), ([X], [X], [X])]),
    (
        entries,
        [{1: 2.0, 2: 3.0}, {1: 2.0, 3: 3.0}, OrderedDict([(1, 2.0)]), OrderedDict([(2, 3.0)]), Counter([1, 1, 2])],
    ),
    (counted, [[None], [None, None], [{}], [{}, {}], [[]], [[], []], [()], [(), ()], ["a"], ["a", "a"], [X], [X, X]]),
    (numbers_and_names, [[2.0, "a"], [2.0, "a", "a"], ["a", 2.0], [X, 2.0], [X, 2.0, 2.0], [2.0, X]]),
]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("fn", "values"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_calls_one_after_another(fn, values, backwards):
    gradient = ad.grad(fn, 1)
    for value in values[::-1] if backwards else values:
        np.testing.assert_allclose(gradient(value, X), differences(fn, (value, X), 1), rtol=1e-6, atol=1e-8)


def scaled(x, n=3, rate=0.5, bounds=(0.0, 2.0)):
    return n * np.sum(np.clip(x, *bounds) ** 2) * rate


def test_defaults_left_out():
    gradient = ad.grad(scaled)
    for _ in range(2):  # the second time by what was compiled the first time
        np.testing.assert_allclose(gradient(X), 3 * X)
        np.testing.assert_allclose(gradient(X, 2), 2 * X)
        np.testing.assert_allclose(gradient(X, 2, 1.0), 4 * X)
        np.testing.assert_allclose(gradient(X, rate=2.0), 12 * X)
    with pytest.raises(TypeError):
        gradient()


def test_defaults_that_become_others():
    def f(x, k=2.0):
        return k * np.sum(x)

    gradient, both = ad.grad(f), ad.grad(f, (0, 1))
    for k in (2.0, 5.0, 3):
        f.__defaults__ = (k,)
        for _ in range(2):
            np.testing.assert_array_equal(gradient(X), k * np.ones(3))
            np.testing.assert_allclose(both(X, 1.5)[1], np.sum(X))
    f.__defaults__ = (np.array([1.0, 2.0, 3.0]),)
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(f(x)))(X), np.full(3, 6.0))


def test_defaults_that_are_changed():
    def f(x, seen=[0.0]):
        seen[0] += 1.0
        return seen[0] * np.sum(x)

    gradient = ad.grad(f)
    assert [gradient(X)[0] for _ in range(3)] == [1.0, 2.0, 3.0]
    assert gradient(X, [4.0])[0] == 5.0
    assert f.__defaults__ == ([3.0],)
