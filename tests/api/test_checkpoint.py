"""`checkpoint`: the same values and derivatives, with less memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import ArgumentTypeError


def layer(w: Any, x: Any, scale: float = 1.0) -> Any:
    h = np.tanh(w @ x)
    h = np.sin(h) * np.exp(h)
    return scale * np.tanh(h)


KEPT = ad.checkpoint(layer)


@ad.checkpoint
def branching(p: Any, x: Any) -> Any:
    if x.sum() > 0:
        return {"y": p["w"] * x, "n": np.sum(p["w"])}
    return {"y": p["w"] + x, "n": np.sum(x)}


@ad.checkpoint
def writing(x: Any) -> Any:
    x[0] = x[-1] * x[0]
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
    return np.sum(x)


def straight(w: Any, x: Any) -> Any:
    return np.sum(KEPT(w, KEPT(w, x, scale=2.0)))


def loop(w: Any, x: Any) -> Any:
    for _ in range(4):
        x = KEPT(w, x)
    return np.sum(x**2)


def nested(w: Any, x: Any) -> Any:
    both = ad.checkpoint(lambda w, x: KEPT(w, KEPT(w, x)))
    return np.sum(both(w, both(w, x)))


def containers(w: Any, x: Any) -> Any:
    found = branching({"w": w[0]}, x)
    return np.sum(found["y"] ** 2) * found["n"]


def in_place(w: Any, x: Any) -> Any:
    y = x * w[0]
    return writing(y) + np.sum(y)


@pytest.mark.parametrize("size", [1, 3, 130])
@pytest.mark.parametrize("f", [straight, loop, nested, containers, in_place], ids=lambda f: f.__name__)
def test_derivatives(f: Any, size: int) -> None:
    rng = np.random.default_rng(size)
    w, x = rng.normal(size=(size, size)) / size**0.5, rng.uniform(0.2, 1.0, size=size)
    if f is in_place and size == 130:
        w[0], x = 1.0, 1 + 0.01 * x
    ad.check_grads(f, (w, x), 2 if size == 3 else 1)


def test_value_is_the_functions_own() -> None:
    w, x = np.ones((2, 2)), np.ones(2)
    assert np.array_equal(KEPT(w, x), layer(w, x))
    assert ad.value_and_grad(straight)(w, x)[0] == straight(w, x)
    assert KEPT.__name__ == "layer"


def test_memory() -> None:
    def chain(step: Any) -> Any:
        def run(x: Any) -> Any:
            for _ in range(20):
                x = step(x)
            return np.sum(x)

        return run

    def step(x: Any) -> Any:
        for _ in range(10):
            x = np.sin(x) * np.exp(-x * x)
        return x

    x = np.ones(10_000)
    taken = []
    for run in (chain(step), chain(ad.checkpoint(step))):
        gradient = ad.grad(run)
        gradient(x)
        tracemalloc.start()
        gradient(x)
        taken.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert taken[1] < taken[0] / 4


def test_what_is_no_function() -> None:
    with pytest.raises(ArgumentTypeError, match="takes a function, not 3"):
        ad.checkpoint(3)  # type: ignore[type-var]
