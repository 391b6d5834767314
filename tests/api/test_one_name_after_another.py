"""Functions of one text that a module has by one name, one after the other: each is differentiated as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

X = np.array([1.0, 2.0, 0.5])
SCALES = (1.0, 2.0, np.arange(3.0))
WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda fn: ad.grad(fn)(X),
    "value_and_grad": lambda fn: ad.value_and_grad(fn)(X)[1],
    "vjp": lambda fn: ad.vjp(fn, X)[1](1.0)[0],
    "jvp": lambda fn: np.array([ad.jvp(fn, X, way)[1] for way in np.eye(3)]),
    "jacrev": lambda fn: ad.jacrev(fn)(X),
    "hvp": lambda fn: ad.hvp(fn, X, X),  # of a square, in the direction of x
}


class Model:
    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def loss(self, x: Any) -> Any:
        return np.sum(self.scale * x**2)


def with_cells(scale: Any) -> Callable[[Any], Any]:
    def loss(x: Any) -> Any:
        return np.sum(scale * x**2)

    return loss


def with_functions(scale: Any) -> Callable[[Any], Any]:
    def scaled(x: Any) -> Any:
        return scale * x**2

    def loss(x: Any) -> Any:
        return np.sum(scaled(x))

    return loss


def with_defaults(scale: Any) -> Callable[[Any], Any]:
    def loss(x: Any, scale: Any = scale) -> Any:
        return np.sum(scale * x**2)

    return loss


def with_keywords(scale: Any) -> Callable[[Any], Any]:
    def loss(x: Any, *, scale: Any = scale) -> Any:
        return np.sum(scale * x**2)

    return loss


def bound(scale: Any) -> Callable[[Any], Any]:
    return Model(scale).loss


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [with_cells, with_functions, with_defaults, with_keywords, bound])
def test_each_is_differentiated_as_it_is(make: Any, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for scale in SCALES:
        monkeypatch.setitem(globals(), "loss", make(scale))
        np.testing.assert_allclose(WAYS[way](globals()["loss"]), 2 * scale * X, err_msg=str(scale))
