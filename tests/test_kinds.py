"""Kinds, containers and memory: what comes out of a call is of the kind of what went in, and shares nothing with it."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import autodiff_sct.nn as nn
from autodiff_sct import Parameter, Tensor, grad, jacfwd, jacrev, jvp, value_and_grad, vjp
from autodiff_sct.errors import AliasError


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0]), name="w")
        self.b = Parameter(Tensor([1.0, 1.0]), name="b")

    def construct(self, x, y):
        return x * y * self.w + self.b


X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def looped(x):
    total = 0.0
    for k in range(3):
        total = total + x * k
    return total


def halved_by_sign(x):
    return x * 0.5 if np.sum(np.real(x)) > 0 else x


KINDS = [
    1.5, 1.5 + 0.5j, np.float16(1.5), np.float32(1.5), np.float64(1.5), np.complex64(1.5 + 1j), np.complex128(1.5),
    np.array(1.5), np.array(1.5, np.float32), np.array([1.0, 2.0], np.float16), np.array([1.0, 2.0], np.float32),
    np.array([1.0, 2.0]), np.array([1 + 1j, 2.0], np.complex64), np.array([1 + 1j, 2.0]),
]  # fmt: skip
FUNCTIONS = [
    lambda x: x, lambda x: 1.5, lambda x: x * x, lambda x: np.sin(x), lambda x: 2.5 * x**2 + x / 3,
    lambda x: np.sum(x * x), lambda x: np.where(np.real(x) > 0, x, 2 * x), lambda x: np.sum(np.arange(3.0) * np.sum(x)),
    lambda x: np.exp(x) * np.sqrt(x), halved_by_sign, looped,
]  # fmt: skip


def kind_of(value):
    """The type of a number, with the dtype and shape where it has them."""
    return (
        type(value),
        np.asarray(value).dtype if isinstance(value, (np.ndarray, np.generic)) else None,
        np.shape(value),
    )


@pytest.mark.parametrize("x", KINDS, ids=repr)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_kinds_of_values_and_gradients(fn, x):
    """A gradient is of the kind of its argument, a value and a tangent of that of the function's own value."""
    expected = fn(x)
    value, gradient = value_and_grad(fn)(x)
    assert kind_of(value) == kind_of(expected) and np.array_equal(value, expected)
    assert kind_of(gradient) == kind_of(x)
    assert kind_of(grad(grad(fn))(x)) == kind_of(x)
    value, pull = vjp(fn, x)
    assert kind_of(value) == kind_of(expected)
    seed = np.ones_like(expected) if isinstance(expected, np.ndarray) else type(expected)(1)
    assert kind_of(pull(seed)[0]) == kind_of(x)
    value, tangent = jvp(fn, x, x)
    assert kind_of(value) == kind_of(tangent) == kind_of(expected)
    assert kind_of(jacrev(fn)(x)) == kind_of(x) or np.ndim(x) + np.ndim(expected)
    if not isinstance(x, np.ndarray) and np.ndim(expected) == 0:
        assert isinstance(jacfwd(fn)(x), np.generic) == isinstance(x, np.generic)


class Point(NamedTuple):
    a: np.ndarray
    b: float


@dataclasses.dataclass
class Body:
    a: np.ndarray
    b: float
    count: int = 3


def parts_of(x):
    """The two things in a container, whatever it is."""
    if isinstance(x, dict):
        return x["a"], x["b"]
    return (x[0], x[1]) if isinstance(x, (tuple, list)) else (x.a, x.b)


CONTAINERS = [lambda a, b: (a, b), lambda a, b: [a, b], lambda a, b: {"a": a, "b": b, "name": "n"}, Point, Body]


def test_python_floats_of_a_list_that_became_an_array():
    def total(x, n):
        items = [x * k for k in range(n)]
        return np.sum([x] * n) + np.asarray(items) @ np.arange(float(n))

    assert kind_of(grad(total)(1.5, 3)) == kind_of(1.5) and grad(total)(1.5, 3) == 8.0
    assert kind_of(grad(grad(total))(1.5, 3)) == kind_of(1.5)
    assert kind_of(vjp(lambda x: total(x, 3), 1.5)[1](np.float64(1.0))[0]) == kind_of(1.5)


@pytest.mark.parametrize("make", CONTAINERS, ids=["tuple", "list", "dict", "namedtuple", "dataclass"])
def test_forward_mode_by_containers(make):
    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])
    value, tangent = jvp(lambda p: parts_of(p)[0] * parts_of(p)[1], (make(x, 2.0),), (make(v, 1.0),))
    assert np.array_equal(value, 2 * x) and np.array_equal(tangent, 2 * v + x)
    for jacobian in (jacrev, jacfwd):
        found = jacobian(lambda p: parts_of(p)[0] * parts_of(p)[1])(make(x, 2.0))
        by_a, by_b = parts_of(found)
        assert type(found) is type(make(x, 2.0))
        assert np.array_equal(by_a, 2 * np.eye(3)) and np.array_equal(by_b, x)
    with pytest.raises(ValueError, match="shape"):
        jvp(lambda p: parts_of(p)[0] * parts_of(p)[1], (make(x, 2.0),), (make(np.ones(2), 1.0),))
    with pytest.raises((TypeError, ValueError)):
        jvp(lambda p: parts_of(p)[0] * parts_of(p)[1], (make(x, 2.0),), (x,))


def moved(body):
    body.a[0] = body.b * 3
    body.b = body.b * 2
    return body.a * body.b


def test_forward_mode_leaves_containers_as_they_are():
    body, direction = Body(np.array([1.0, 2.0]), 2.0), Body(np.array([1.0, 1.0]), 1.0)
    assert jvp(moved, (body,), (direction,))[1].tolist() == [24.0, 8.0]
    assert (body.a.tolist(), body.b) == ([1.0, 2.0], 2.0) and (direction.a.tolist(), direction.b) == ([1.0, 1.0], 1.0)


def test_forward_mode_of_cells():
    net = Scaled()
    assert [part.tolist() for part in jvp(net, (X, Y), (Y, X))] == [[7.0, 25.0], [20.0, 60.0]]
    assert jvp(lambda x: net(x, Y), X, Y)[1].tolist() == [18.0, 48.0]


CAPTURED = np.array([1.0, 2.0])


def test_vjp_is_at_the_point_where_it_was_taken():
    """Whatever the caller writes into between the value and the pullback."""
    x, ones = np.array([1.0, 2.0]), np.ones(2)
    value, pull = vjp(lambda x: np.exp(x) * x * CAPTURED, x)
    expected = np.exp(x) * (x + 1) * CAPTURED
    for array in (x, value, CAPTURED):
        array += 1
    try:
        assert np.allclose(pull(ones)[0], expected)
    finally:
        CAPTURED[:] -= 1
    items = [np.array([1.0]), np.array([2.0])]
    value, pull = vjp(lambda items: np.exp(items[0]) * items[1], items)
    value[:] = items[1][:] = 0.0
    assert np.allclose(pull(np.ones(1))[0], np.exp(1.0) * np.array([[2.0], [1.0]]))


def flattened(value):
    """The arrays in containers."""
    if isinstance(value, dict):
        return flattened(list(value.values()))
    return [a for item in value for a in flattened(item)] if isinstance(value, (tuple, list)) else [value]


def filled(x):
    items = []
    for _ in range(int(x[0])):
        items.append(x)
    return items


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x,
        lambda x: x[1:],
        lambda x: (x, x),
        lambda x: {"a": x, "b": [x, 2 * x]},
        lambda x: x if np.sum(x) > 0 else 1.0,
        filled,
    ],
)
def test_results_share_no_memory(fn):
    x, v = np.array([2.0, 3.0]), np.ones(2)
    value, tangent = jvp(fn, x, v)
    shared = [x, v, *flattened(value), *flattened(tangent)]
    (value, gradient), (output, _) = value_and_grad(fn)(x), vjp(fn, x)
    for arrays in (shared, [x, *flattened(value), gradient], [x, *flattened(output)]):
        assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


OUTSIDE = np.array([1.0, 2.0])


def write_first(a, b):
    a[0] = b[1] * 3
    return np.sum(a * b)


def write_first_of_two(p):
    a, b = parts_of(p)
    return write_first(a, b)


def write_beside_outside(a):
    return write_first(a, OUTSIDE)


@pytest.mark.parametrize("make", CONTAINERS)
def test_one_array_twice_in_what_is_written_is_refused(make):
    """Python would write both; the compiled code works on a copy of each."""
    x = np.array([1.0, 2.0])
    for differentiate in (grad(write_first_of_two), lambda p: vjp(write_first_of_two, p)):
        with pytest.raises(AliasError, match="twice|share memory"):
            differentiate(make(x, x[:]))
    assert float(value_and_grad(write_first_of_two)(make(x, x.copy()))[0]) == 10.0
    assert x.tolist() == [1.0, 2.0]


def test_one_array_for_two_arguments_one_of_which_is_written_is_refused():
    tensor = Tensor([1.0, 2.0])
    with pytest.raises(AliasError, match="share memory"):
        grad(write_first)(tensor, tensor)
    with pytest.raises(AliasError, match="share memory"):
        grad(write_beside_outside)(OUTSIDE)
    with pytest.raises(AliasError, match="share memory"):
        grad(lambda p, b: write_first(p[0], b))((OUTSIDE, 1.0), OUTSIDE)


def test_objects_that_hold_tensors():
    body = Body(Tensor([1.0, 2.0]), 2.0)
    value, gradient = value_and_grad(lambda p: p.a * p.a * p.b)(body)
    assert isinstance(value, Tensor) and isinstance(gradient.a, Tensor) and gradient.a.tolist() == [4.0, 8.0]
    assert vjp(lambda p: p.a * p.b, body)[1](Tensor([1.0, 1.0]))[0].b == 3.0
    value, tangent = jvp(lambda p: p.a * p.b, (body,), (body,))
    assert isinstance(tangent, Tensor) and tangent.tolist() == [4.0, 8.0]
