"""Shapes, axes and repetitions in lists: how many axes there are is known where the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import check_gradient

X = np.linspace(0.5, 2.5, 8)
SHAPES = [(8,), (2, 4), (2, 2, 2), (1, 8), (2, 1, 4, 1)]


def listed(shape: Any) -> Any:
    return [n * 1 for n in shape]


def ones(x: Any, shape: Any) -> Any:
    a = np.ones(listed(shape)) * np.sum(x)
    b = x[0] * np.zeros(tuple(listed(shape))) + np.full(listed(shape), 2.0) * x[1]
    return np.sum(a * a[..., -1][..., None]) + np.sum(b[0] ** 2)


def reshaped(x: Any, shape: Any) -> Any:
    a = np.reshape(x, listed(shape))
    b = x.reshape(tuple(listed(shape))) ** 2
    return np.sum(a / a[..., -1:] * b) + np.sum(b.sum(axis=-1) ** 2) + np.sum(a[-1] ** 3)


def new_axes(x: Any, shape: Any) -> Any:
    a = np.sum(np.reshape(x, listed(shape)) ** 2, axis=-1)
    b = a[None, ..., None] * a[..., None] + a[None] * a[np.newaxis, np.newaxis, ...]
    c = np.sum(x)
    return np.sum(b**2) + np.sum(c[None] * x) + np.sum(c[..., None, None] * x)


def repeated(x: Any, shape: Any) -> Any:
    a = np.tile(x, listed(shape))
    b = np.broadcast_to(x[3], listed(shape))
    return np.sum(a * a[..., 0][..., None]) + np.sum(b[..., 0] ** 2) + np.sum(b.sum(axis=-1) ** 3)


def written(x: Any, shape: Any) -> Any:
    larger = listed(shape)
    larger[-1] = larger[-1] + 1
    a = np.ones(tuple(larger))
    a[..., :-1] = x.reshape(shape)
    a[..., :-1] /= (a[..., -1] + a[..., 0])[..., None]
    return np.sum(a**2)


def swapped(x: Any, shape: Any) -> Any:
    a = np.reshape(x, listed(shape)) ** 2
    order = [k for k in range(len(shape))][::-1]
    return np.sum(np.transpose(a, order)[0] ** 2 * x[0]) + np.sum(a.sum(axis=tuple(order)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("fn", [ones, reshaped, new_axes, repeated, written, swapped], ids=lambda fn: fn.__name__)
def test_any_number_of_axes(fn: Any, shape: Any) -> None:
    check_gradient(fn, (X, shape))
    check_gradient(fn, (X, list(shape)))


def square_by_a_list(x: Any) -> Any:
    a = np.reshape(x, [2, 4])
    return np.sum(np.sum(a**2, axis=-1) ** 2) + np.sum(np.full([2, 4], x[0]) * a[0])


def square_by_lengths(x: Any) -> Any:
    n = len(x) // 2
    a, b = x.reshape([n, 2]), np.reshape(x, [2, -1], order="F")
    return np.sum(np.sum(a**2, axis=-1) ** 2) + np.sum(b[0] ** 2 * np.arange(n))


def square_by_an_array(x: Any) -> Any:
    shape = np.array([2, len(x) // 2])
    a = np.zeros(shape)
    a[0], a[1] = x[:4], x[4:] ** 2
    tiled = np.tile(x, np.array([2, 1]))
    b = x.reshape(shape) * np.broadcast_to(x[2], shape)
    return np.sum(np.sum(a**2 * b, axis=-1) ** 2) + np.sum(tiled[1] ** 2 * tiled[0])


@pytest.mark.parametrize("fn", [square_by_a_list, square_by_lengths, square_by_an_array], ids=lambda fn: fn.__name__)
def test_shapes_that_are_no_tuples(fn: Any) -> None:
    check_gradient(fn, (X,))
