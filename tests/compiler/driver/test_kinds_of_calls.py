"""One gradient function, called with other things than before: what is compiled is told by all that matters."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import nn


@dataclass
class Layer:
    a: float


def squares(items):
    return sum(item["a"] ** 2 for item in items)


def squares_of_objects(items):
    return sum(item.a**2 for item in items)


def of_floats(items):
    total = 0.0
    for item in items:
        if isinstance(item, float):
            total = total + item * item
    return total


def counted(items, x=2.0):
    return x * len(items)


@pytest.mark.parametrize(
    "fn, make",
    [
        (squares, lambda k: {"a": k + 1.0}),
        (squares_of_objects, lambda k: Layer(k + 1.0)),
        (of_floats, lambda k: "a" if k == 1 else k + 1.0),
        (of_floats, lambda k: k + 1.0 if k % 2 else k),
        (of_floats, lambda k: None if k else 1.0),
    ],
)
def test_lists_of_other_lengths(fn, make):
    run = ad.value_and_grad(fn)
    for length in (2, 3, 1, 4, 2):
        items = [make(k) for k in range(length)]
        value, gradient = run(items)
        assert value == fn(items)
        assert len(gradient) == length


def test_lists_of_constants():
    run = ad.grad(lambda x, items: x * len(items))
    for item in (None, "a", True, (1, "a"), len, {"k": 1}, [1, "a"]):
        for length in (2, 1, 3):
            assert run(1.0, [item] * length) == length


A = np.ones(3)
B = A


def with_globals(x):
    return np.sum(x * A) + np.sum(x * x * B)


def test_globals_that_were_one():
    global B
    run, x = ad.grad(with_globals), np.array([1.0, 2.0, 3.0])
    assert run(x).tolist() == [3.0, 5.0, 7.0]
    B = np.zeros(3)
    try:
        assert run(x).tolist() == [1.0, 1.0, 1.0]
    finally:
        B = A
    assert run(x).tolist() == [3.0, 5.0, 7.0]


class Product(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = ad.Parameter(np.array([1.0, 2.0]), name="a")
        self.b = ad.Parameter(np.array([3.0, 4.0]), name="b")

    def construct(self, x):
        return (x * self.a * self.b).sum()


def test_weights_that_are_tied_later():
    net, x = Product(), ad.Tensor(np.array([1.0, 1.0]))
    a, b = net.a, net.b
    run = ad.grad(net, None, [a, b])

    def gradients():
        return [g.asnumpy().tolist() for g in run(x)]

    assert gradients() == [[3.0, 4.0], [1.0, 2.0]]
    net.b = a
    assert gradients() == [[2.0, 4.0], [0.0, 0.0]]
    net.a = net.b = b
    assert gradients() == [[0.0, 0.0], [6.0, 8.0]]
    net.a = a
    assert gradients() == [[3.0, 4.0], [1.0, 2.0]]


class Odd(np.ndarray):
    def __mul__(self, other):
        return np.ones(2) * 100


class OddFloat(float):
    def __mul__(self, other):
        return 100.0


@pytest.mark.parametrize(
    "x",
    [
        np.eye(2).view(np.matrix),
        np.ma.array([1.0, 2.0], mask=[0, 1]),
        np.array([1.0, 2.0]).view(Odd),
        OddFloat(2.0),
    ],
)
def test_classes_that_compute_in_their_own_way(x):
    with pytest.raises(ad.AutodiffError, match="may compute in its own way"):
        ad.grad(lambda x: np.sum(x * x))(x)
    with pytest.raises(ad.AutodiffError, match="may compute in its own way"):
        ad.grad(lambda y, x: np.sum(x * x) * y)(2.0, x)


class Scale:
    k = 2.0

    def step(self, x):
        return x * self.k

    @property
    def offset(self):
        return 3.0

    @staticmethod
    def fixed(x):
        return x * 5


SCALE = Scale()


def scaled(x):
    return SCALE.step(x) * SCALE.offset * Scale.fixed(x) * SCALE.fixed(x)


def test_methods_that_are_replaced(monkeypatch):
    run = ad.value_and_grad(scaled)
    assert run(1.5)[0] == scaled(1.5)
    for name, new in [
        ("k", 7.0),
        ("step", lambda self, x: x * x),
        ("offset", property(lambda self: 9.0)),
        ("fixed", staticmethod(lambda x: x * 11)),
    ]:
        monkeypatch.setattr(Scale, name, new)
        assert run(1.5)[0] == scaled(1.5), name
    monkeypatch.setattr(SCALE, "step", lambda x: x * 100, raising=False)
    value, gradient = run(1.5)
    assert value == scaled(1.5)
    assert gradient == pytest.approx(3 * value / 1.5)


def filled_with_a_sum(x, n):
    total = 0
    for k in range(n):
        total += x[k]
    y = np.array([total, total])
    y[0] = 2.5 * x[0]
    return y[0] + y[1]


def sums_in_arrays_of_floats(x, n):
    total = 0
    for k in range(n):
        total += x[k]
    y, z = np.array([total, total * 2.0]), np.full_like(x, total)
    y[0] = x[1]
    z[1] = x[0]
    return np.sum(y) + np.sum(z * z) + np.array([total, total]).sum() / 2


def test_integers_that_floats_are_added_to():
    """Without any step the sum is an integer, and an array of it would cut what is stored."""
    x = np.array([0.4, 1.3, -0.7])
    with pytest.raises(ad.AutodiffError, match="holds integers or floats"):
        ad.grad(filled_with_a_sum)(x, 0)
    for n in (0, 2):
        value, gradient = ad.value_and_grad(sums_in_arrays_of_floats)(x, n)
        assert value == sums_in_arrays_of_floats(x, n)
        step = 1e-6 * np.eye(3)
        expected = [(sums_in_arrays_of_floats(x + e, n) - sums_in_arrays_of_floats(x - e, n)) / 2e-6 for e in step]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_defaults_become_others():
    def scaled(x, factor=2.0, *, power=1, shift=None):
        return factor * x**power + (0.0 if shift is None else shift * x)

    gradient = ad.grad(scaled)
    assert gradient(3.0) == 2.0
    scaled.__defaults__ = (5.0,)
    assert gradient(3.0) == 5.0
    scaled.__kwdefaults__["power"] = 2
    assert gradient(3.0) == 30.0
    scaled.__kwdefaults__["shift"] = 1.0
    assert gradient(3.0) == 31.0
    scaled.__defaults__ = None
    with pytest.raises(TypeError):
        gradient(3.0)


def test_keywords_of_a_partial_become_others():
    part = functools.partial(lambda x, power, factor=1.0: factor * x**power, power=2)
    gradient = ad.grad(part)
    assert gradient(3.0) == 6.0
    part.keywords["power"] = 3
    assert gradient(3.0) == 27.0
    part.keywords["factor"] = np.array([1.0, 2.0])
    assert gradient(3.0) == 81.0


def test_defaults_of_a_method_become_others():
    class Model:
        def __call__(self, x, factor=2.0):
            return factor * x

    gradient = ad.grad(Model())
    assert gradient(3.0) == 2.0
    Model.__call__.__defaults__ = (4.0,)
    assert gradient(3.0) == 4.0


@pytest.mark.parametrize("count", [0, 2])
def test_what_may_be_a_number_of_either_kind(count):
    def joined(x, t, n):
        for _ in range(n):
            t = 2
        return np.sum(np.hstack([t, x]) ** 2) * np.ndim(x) + np.size(t)

    gradient = ad.grad(joined, (0, 1))(np.array([1.0, 2.0]), 3.0, count)
    assert gradient[0].tolist() == [2.0, 4.0]
    assert gradient[1] == (0.0 if count else 6.0)


@pytest.mark.parametrize("large", [False, True])
def test_what_may_be_a_number_or_an_array(large):
    def measured(x, t, flag):
        if flag:
            t = x * 2.0
        return np.sum(t) * (np.ndim(t) + 1) + np.size(t) + len(np.shape(t))

    gradient = ad.grad(measured, (0, 1))(np.array([1.0, 2.0]), 3.0, large)
    assert gradient[0].tolist() == ([4.0, 4.0] if large else [0.0, 0.0])
    assert gradient[1] == (0.0 if large else 1.0)


@pytest.mark.parametrize(
    "count",
    [
        lambda x: np.size(x),
        lambda x: np.size(x, 1),
        lambda x: np.size(x, axis=-1),
        lambda x: np.size(a=x, axis=None),
        lambda x: np.size(x, (0, 1)),
        lambda x: np.size(x, axis=(1,)),
        lambda x: sum([np.size(x, k) * (k + 1) for k in range(np.ndim(x))]),
    ],
)
def test_size_along_an_axis(count):
    x = np.ones((2, 3))
    gradient = ad.grad(lambda x: count(x) * np.sum(x))(x)
    np.testing.assert_array_equal(gradient, np.full((2, 3), float(count(x))))
