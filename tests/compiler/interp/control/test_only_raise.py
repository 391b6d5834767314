"""Paths that only raise need no rules: what they compute, and may write, no reverse sweep comes to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

X = np.linspace(0.1, 0.9, 5)
KEPT: list[Any] = []


class BadValue(Exception):
    def __init__(self, what: str, where: Any = None, solution: str = "") -> None:
        super().__init__(what)
        self.where, self.solution = where, solution


def note(x: Any) -> Any:
    KEPT.append(x)
    return x


def validated(x: Any) -> Any:
    if x[0] < 0.0:
        raise BadValue("the first number (" + str(x[0]) + ") is negative", where=x, solution="take another")
    if x[1] < 0.0:
        note(x)
        raise BadValue("the second one is, too", x)
    return np.sum(x**2)


def test_an_exception_of_the_users_is_given_what_carries_a_derivative() -> None:
    np.testing.assert_array_equal(ad.grad(validated)(X), 2 * X)
    np.testing.assert_array_equal(ad.jvp(validated, (X,), (np.ones(5),))[1], np.sum(2 * X))
    with pytest.raises(BadValue, match=r"the first number \(-0.1\) is negative") as caught:
        ad.grad(validated)(-X)
    np.testing.assert_array_equal(caught.value.where, -X)
    assert caught.value.solution == "take another"
    KEPT.clear()
    with pytest.raises(BadValue, match="the second"):
        ad.grad(validated)(np.array([1.0, -1.0]))
    assert len(KEPT) == 1


def test_what_a_handler_goes_on_from_is_refused_as_ever() -> None:
    def caught(x: Any) -> Any:
        y = x * 2.0
        try:
            if x[0] < 0.5:
                raise BadValue("small", where=y)
        except BadValue as error:
            return np.sum(error.where)
        return np.sum(y)

    with pytest.raises(ad.errors.Refused):
        ad.grad(caught)(X)


def windows(a: Any, n: int, writable: bool = False) -> Any:
    out = np.lib.stride_tricks.as_strided(a, (a.shape[0] - n + 1, n), (a.strides[0],) + a.strides)
    out.setflags(write=writable)
    return out


@pytest.mark.parametrize("size", [3, 40])
def test_an_array_that_becomes_read_only_is_differentiated(size: int) -> None:
    x = np.linspace(0.2, 1.0, size)
    v = np.cos(np.arange(size))

    def fn(x: Any) -> Any:
        return np.sum(windows(x * 1.0, 2) ** 3)

    slope = (fn(x + 1e-6 * v) - fn(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(ad.grad(fn)(x) @ v, slope, rtol=1e-7)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (v,))[1], slope, rtol=1e-7)

    def written(x: Any) -> Any:
        out = windows(x * 1.0, 2)
        out[0] = 0.0
        return np.sum(out)

    with pytest.raises(ValueError, match="read-only"):
        written(x)
    with pytest.raises((ValueError, ad.errors.Refused)):
        ad.grad(written)(x)


def test_an_array_that_is_written_before_is_refused() -> None:
    def fn(x: Any) -> Any:
        y = x * 2.0
        y[0] = y[1] ** 2
        z = np.sin(y)
        y[1] = z[0] ** 2 * y[1]
        y.setflags(write=False)
        return np.sum(y**2)

    with pytest.raises(ad.errors.Refused, match="becomes read-only"):
        ad.grad(fn)(X)
