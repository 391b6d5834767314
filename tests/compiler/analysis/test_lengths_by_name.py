"""Arrays that go by one name, at several places, have lengths of their own."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.bank.structures import leaves
from tests.compiler.checked import differences

pytestmark = pytest.mark.once


class Holder:
    def __init__(self, w):
        self.w = w


def drawn(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape) * 0.4


def of_both(wide, long):
    return np.mean(wide * 2) + np.sum(long**2)


def keys_written_alike(arguments):
    return of_both(arguments["a_b"], arguments["a"]["b"])


def a_number_and_its_text(arguments):
    return of_both(arguments[1], arguments["1"])


def a_field_and_a_key(arguments):
    return of_both(arguments["a"].w, arguments["a_w"])


@pytest.mark.parametrize("sizes", [((3, 4), (5, 6)), ((17,), (130,)), ((1, 130), (16, 1))])
@pytest.mark.parametrize(
    ("program", "made"),
    [
        (keys_written_alike, lambda u, v: {"a_b": u, "a": {"b": v}}),
        (a_number_and_its_text, lambda u, v: {1: u, "1": v}),
        (a_field_and_a_key, lambda u, v: {"a": Holder(u), "a_w": v}),
    ],
)
def test_parts_of_an_argument(program, made, sizes):
    wide, long = drawn(*sizes[0]), drawn(*sizes[1])
    arguments = made(wide, long)
    value, gradient = ad.value_and_grad(program)(arguments)
    assert value == program(arguments)
    found, expected = leaves(gradient), leaves(made(np.full_like(wide, 2 / wide.size), 2 * long))
    assert found.keys() == expected.keys()
    for path, part in expected.items():
        np.testing.assert_allclose(found[path], part, rtol=1e-13)


class Linear:
    def __init__(self, n, m):
        self.w, self.b = drawn(n, m), drawn(m)

    def __call__(self, x):
        return x @ self.w + self.b


class Layer:
    """Of a transformer: attention beside the identity, then a perceptron beside the identity."""

    def __init__(self, n, hidden):
        self.heads, self.out = Linear(n, 3 * n), Linear(n, n)
        self.up, self.down = Linear(n, hidden), Linear(hidden, n)

    def __call__(self, x):
        q, k, v = np.split(self.heads(normalised(x)), 3, axis=-1)
        e = np.exp(q @ k.T / np.sqrt(k.shape[-1]))
        x = x + self.out(e / np.sum(e, axis=-1, keepdims=True) @ v)
        return x + self.down(np.tanh(self.up(normalised(x))))


def normalised(x):
    return (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)


LAYER = Layer(6, 24)
WEIGHTS = {"up": {"w": LAYER.up.w, "b": LAYER.up.b}, "down": {"w": LAYER.down.w, "b": LAYER.down.b}}
w = drawn(6, 9)


def of_objects(x):
    return np.sum(LAYER(x) ** 2)


def of_tables(x):
    hidden = np.tanh(x @ WEIGHTS["up"]["w"] + WEIGHTS["up"]["b"])
    x = x + np.mean(hidden, axis=1, keepdims=True) * np.mean(x @ w)
    return np.sum(np.sin(x @ WEIGHTS["down"]["w"].T + WEIGHTS["up"]["b"]))


def of_a_cell_and_a_global(x):
    w = np.tile(x[:1, :3], (2, 1))

    def inner(y):
        return np.mean(y @ w)

    return inner(np.ones((4, 2))) + of_the_global(x)


def of_the_global(x):
    return np.sum((x @ w) ** 2)


@pytest.mark.parametrize("rows", [1, 3, 16, 130])
@pytest.mark.parametrize("program", [of_objects, of_tables, of_a_cell_and_a_global])
def test_what_is_outside(program, rows):
    x = drawn(rows, 6)
    gradient = ad.grad(program)(x)
    value, pullback = ad.vjp(program, x)
    assert value == program(x)
    np.testing.assert_allclose(pullback(1.0)[0], gradient, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(gradient[:3], differences(program, (x,))[:3], rtol=1e-5, atol=1e-7)
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    np.testing.assert_allclose(ad.jvp(program, x, direction)[1], np.sum(gradient * direction), rtol=1e-9)
