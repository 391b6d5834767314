"""Assignments of a part of an array to a part that overlaps it: right, or refused where NumPy reads what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.runtime.memory import in_order
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

RIGHT: Cases = []
right = registrar(RIGHT)
X = np.array([0.4, 1.3, -0.7, 0.9, 0.2, -1.1])
SQUARE = np.arange(9.0).reshape(3, 3) / 5 + 1


@right(X)
def shifted(x: Any) -> Any:
    y = x.copy()
    y[1:] = y[:-1]
    y[::2] = y[1::2]
    y[:3] = y[3:]
    return np.sum(y * x)


@right(X)
def turned(x: Any) -> Any:
    y = x.copy()
    y[:] = y[::-1]
    y[::2] = y[::-1][::2]
    return np.sum(y * x)


@right(X)
def at_places(x: Any) -> Any:
    """NumPy reads all values before it writes the first."""
    y = x.copy()
    np.multiply.at(y, [0, 0, 1], y[1:4])
    np.maximum.at(y, [3, 2], y[2:4] + x[0] * 0.1)
    np.add.at(y, [1, 1, 2], y[:3])
    np.put(y, [0, 1, 2], y[1:4])
    return np.sum(y * x)


@right(SQUARE)
def rows_and_columns(x: Any) -> Any:
    y = x.copy()
    y[0] = y[1]
    y[1] = y[:, 1]
    y[:, 2] = y[2]
    y[:] = y.T
    return np.sum(y * x)


@right(SQUARE)
def rows_from_lists(x: Any) -> Any:
    y = x.copy()
    lines = [y[0], y[1], y[:, 0]]
    lines[0][:] = lines[1]
    lines[1][...] = lines[2]
    return np.sum(y * x)


@right(X)
def through_a_mask(x: Any) -> Any:
    y = x.copy()
    y[y > 0] = y[:1]
    y[[0, 2, 4]] = y[:3]
    return np.sum(y * x)


@pytest.mark.parametrize("fn, args", RIGHT, ids=names(RIGHT))
def test_right(fn: Callable[..., Any], args: Any) -> None:
    check_tangent(fn, args)
    check_gradient(fn, args)


def every_second(x: Any) -> Any:
    y = x.copy()
    y[::2] = y[:3]
    return np.sum(y * x)


def by_copyto(x: Any) -> Any:
    y = x.copy()
    np.copyto(y[::2], y[:3])
    return np.sum(y * x)


def by_another_name(x: Any) -> Any:
    y = x.copy()
    half = y[::2]
    other = y[:3] if x[0] > 0 else y[3:]
    half[:] = other
    return np.sum(y * x)


def by_mask(x: Any) -> Any:
    y = x.copy()
    y[np.arange(6) % 2 == 0] = y[:3]
    return np.sum(y * x)


def by_flat(x: Any) -> Any:
    y = x.copy()
    y.flat[::2] = y[:3]
    return np.sum(y * x)


def column_to_row(x: Any) -> Any:
    y = np.outer(x, x)
    y[1] = y[:, 2]
    return np.sum(y * y[0])


def ellipsis_to_row(x: Any) -> Any:
    y = np.outer(x, x)
    y[1] = y[..., 2]
    return np.sum(y * y[0])


def by_place(x: Any) -> Any:
    y = x.copy()
    np.place(y, y > 0.3, y)
    return np.sum(y * x)


def on_the_diagonal(x: Any) -> Any:
    y = np.outer(x, x)
    np.fill_diagonal(y, y[::-1, 0])
    return np.sum(y * x)


REFUSED = [every_second, by_copyto, by_another_name, by_mask, by_flat, column_to_row, ellipsis_to_row, by_place]
REFUSED += [on_the_diagonal]


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises(ad.errors.AliasError, match="read after they were written"):
        ad.grad(fn)(X)
    with pytest.raises(ad.errors.AliasError, match="read after they were written"):
        ad.jvp(fn, (X,), (X,))


def test_a_copy_is_what_the_message_says() -> None:
    def fn(x: Any) -> Any:
        y = x.copy()
        y[::2] = y[:3].copy()
        return np.sum(y * x)

    check_gradient(fn, (X,))


def test_the_check_is_numpys_own_order() -> None:
    """Whatever two lines of one array: the check passes just where NumPy assigns as from a copy."""
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(2000):
        ends = rng.integers(0, 30, 2)
        steps = rng.choice([-3, -2, -1, 1, 2, 3], 2)
        count = rng.integers(0, 7)
        memory = np.arange(200.0)
        target, source = (memory[80 + e : 80 + e + s * count : s] for e, s in zip(ends, steps))
        expected = memory.copy()
        expected[80 + ends[0] : 80 + ends[0] + steps[0] * count : steps[0]] = source.copy()
        try:
            in_order(target, source)
            passed = True
        except ad.errors.AliasError:
            passed = False
        target[:] = source
        assert passed == np.array_equal(memory, expected)
        outcomes.add(passed)
    assert outcomes == {True, False}
