"""`linearize`: the value, and the derivative as a linear map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import jvp, linearize, vmap
from autodiff_sct.errors import ArgumentTypeError, ArgumentValueError

RNG = np.random.default_rng(4)


def f(x: Any, w: Any) -> Any:
    return np.tanh(w * x) * np.sum(x), np.sum(x**2) * w


@pytest.mark.parametrize("size", [1, 3, 130, 1000])
def test_directions(size: int) -> None:
    x, directions = RNG.normal(size=size), RNG.normal(size=(5, size))
    value, linear = linearize(f, x, 0.3)
    for a, b in zip(value, f(x, 0.3), strict=True):
        np.testing.assert_array_equal(a, b)
    wanted = [jvp(f, (x.copy(), 0.3), (v, 1.0))[1] for v in directions]
    x[:] = 7.0  # the map has a copy of its own
    for v, w in zip(directions, wanted, strict=True):
        for a, b in zip(linear(v, 1.0), w, strict=True):
            np.testing.assert_array_equal(a, b)
    batched = vmap(linear, (0, None))
    for a, b in zip(batched(directions, 1.0), zip(*wanted, strict=True), strict=True):
        np.testing.assert_allclose(a, np.stack(b), rtol=1e-12)
    assert batched.reason is None


def test_containers() -> None:
    value, linear = linearize(lambda p: {"y": p["a"] * p["b"]}, {"a": np.ones(2), "b": 3.0})
    np.testing.assert_array_equal(linear({"a": np.array([1.0, 0.0]), "b": 1.0})["y"], [4.0, 1.0])


def test_inside_differentiated_programs() -> None:
    def curvature(x: Any, v: Any) -> Any:
        value, linear = linearize(lambda x: np.sin(x) * x[0], x)
        return np.sum(linear(v) * linear(value))

    ad.check_grads(curvature, (RNG.normal(size=3), RNG.normal(size=3)), 2)


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentTypeError, match="not 3"):
        linearize(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentValueError, match="has shape"):
        linearize(np.sin, np.ones(3))[1](np.ones(2))
