"""What is compiled for a decorated function is compiled once, however often it is asked for."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import autodiff_sct as ad
from autodiff_sct.api.entry import place_of
from autodiff_sct.api.jacobians import gradient_of


def twice(fn: Any) -> Any:
    @functools.wraps(fn)
    def wrapper(*args: Any) -> Any:
        return 2 * fn(*args)

    return wrapper


@twice
def cube(x: Any) -> Any:
    return np.sum(x**3)


@twice
def square(x: Any) -> Any:
    return np.sum(x**2)


def tagged(x: Any) -> Any:
    return np.sum(x**2) * tagged.scale  # type: ignore[attr-defined]


tagged.scale = 3.0  # type: ignore[attr-defined]


def test_decorated_functions_are_compiled_once() -> None:
    x = np.array([1.0, 2.0])
    for fn, expected in ((cube, 12 * x), (square, 4.0), (tagged, 6.0)):
        np.testing.assert_allclose(ad.hvp(fn, x, np.ones(2)), expected)
        assert gradient_of(fn, (0,), False) is gradient_of(fn, (0,), False)
    assert gradient_of(cube, (0,), False) is not gradient_of(square, (0,), False)


def test_attributes_are_read_again() -> None:
    x = np.array([1.0, 2.0])
    assert ad.jvp(tagged, x, x)[1] == 30.0
    tagged.scale = 5.0  # type: ignore[attr-defined]
    assert ad.jvp(tagged, x, x)[1] == 50.0
    tagged.scale = 3.0  # type: ignore[attr-defined]


def test_local_functions_with_attributes() -> None:
    def local(x: Any) -> Any:
        return np.sum(x**2)

    local.note = "mine"  # type: ignore[attr-defined]
    assert place_of(local)[0] is None
    assert ad.jvp(local, np.ones(2), np.ones(2))[1] == 4.0
