"""An item that is stored where it was read leaves its container as it is; one that was stored elsewhere does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.bank.differences import slope

pytestmark = pytest.mark.once


def added_in_place(x: Any) -> Any:
    values = [x[k] * 1.0 for k in range(3)]
    for k in range(3):
        v = values[k]
        v += x[2 - k]
        values[k] = v
    return sum([np.sum(v**3) for v in values])


def exchanged_meanwhile(x: Any) -> Any:
    values = [x[k] * 1.0 for k in range(3)]
    for k in range(3):
        v = values[k]
        values[k] = values[k - 1] * 2.0
        v = v + x[k]
        values[k] = v
    return sum([np.sum(v**3) for v in values])


def under_a_key(x: Any) -> Any:
    values = {str(k): x[k] * 1.0 for k in range(3)}
    for name in [str(k % 3) for k in range(5)]:
        v = values[name]
        v *= x[0]
        values[name] = v
    return sum([np.sum(v**3) for v in values.values()])


@pytest.mark.parametrize("function", [added_in_place, exchanged_meanwhile, under_a_key])
@pytest.mark.parametrize("size", [1, 3, 130])
def test_gradient_and_second_order(function: Any, size: int) -> None:
    rng = np.random.default_rng(0)
    x, way = rng.normal(size=(3, size)), rng.normal(size=(3, size))
    gradient = ad.grad(function)
    expected = slope(lambda t: function(x + t * way), 2.0**-12, 1.0)
    np.testing.assert_allclose(np.sum(gradient(x) * way), expected, rtol=1e-6)
    second = slope(lambda t: gradient(x + t * way), 2.0**-12, 1.0)

    def contracted(x: Any) -> Any:
        return np.sum(gradient(x) * way)

    def tangent(x: Any) -> Any:
        return ad.jvp(function, (x,), (way,))[1]

    for found in (ad.grad(contracted)(x), ad.jvp(gradient, (x,), (way,))[1], ad.grad(tangent)(x)):
        np.testing.assert_allclose(found, second, rtol=1e-5, atol=1e-6)


PARAMS = {"w": np.array([[0.5, -1.0], [2.0, 0.3]]), "b": np.array([0.1, -0.2])}
WAY = {"w": np.array([[1.0, 0.5], [-0.5, 2.0]]), "b": np.array([-1.0, 0.7])}


def test_a_captured_dict_is_a_direction() -> None:
    """A direction of a jvp inside a program may be a dict that lives outside of it."""

    def loss(p: Any) -> Any:
        return np.sum(np.tanh(p["w"] @ p["b"]) ** 2)

    def by_name(p: Any) -> Any:
        total = 0.0
        for k in range(2):
            total = total + np.sum(p["wb"[k]] ** 3)
        return total

    for f in (loss, by_name):

        def tangent(p: Any, f: Any = f) -> Any:
            return ad.jvp(f, (p,), (WAY,))[1]

        def at(t: Any, f: Any = f) -> Any:
            return ad.grad(f)({k: v + t * WAY[k] for k, v in PARAMS.items()})

        found = ad.grad(tangent)(PARAMS)
        for key in PARAMS:
            np.testing.assert_allclose(found[key], slope(lambda t, key=key: at(t)[key], 2.0**-12, 1.0), rtol=1e-6)
