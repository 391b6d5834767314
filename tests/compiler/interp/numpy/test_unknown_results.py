"""What is known of results whose rank only the run tells, and of what is told by records of Python's own."""

from __future__ import annotations

from collections.abc import KeysView, ValuesView
from sys import float_info
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad


def as_array(a: Any, dtype: Any = np.float64) -> Any:
    if isinstance(a, (KeysView, ValuesView)):
        a = list(a)
    return np.asarray(a, dtype)


def channels(e: Any) -> Any:
    r, g = as_array([e[..., 0], e[..., 1]]) if e.ndim > 1 else (e, e)
    joined = np.concatenate([r[..., np.newaxis], g[..., np.newaxis]], axis=-1)
    return as_array(as_array(joined) * 2.0 + np.sum(joined, axis=-1)[..., np.newaxis])


@pytest.mark.parametrize("shape", [(7,), (7, 2), (1, 3), (40, 5, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_dtype_that_is_given_is_known_whatever_the_rank(shape: tuple[int, ...], order: str) -> None:
    e = np.asarray(np.linspace(0.2, 2.0, int(np.prod(shape))).reshape(shape), order=order)  # type: ignore[call-overload]
    value, gradient = ad.value_and_grad(lambda e: np.sum(channels(e) ** 2))(e)
    assert value == np.sum(channels(e) ** 2)
    v = np.random.default_rng(1).normal(size=shape)
    above, below = (np.sum(channels(e + step * v) ** 2) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(np.sum(gradient * v), (above - below) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("low", [None, 0.0, np.float64(0.25)])
def test_a_bound_of_which_nothing_is_known_clips(low: Any) -> None:
    def fn(x: Any, limits: Any) -> Any:
        return np.sum(np.clip(x, limits.tiny if low is None else low, None) ** 2)

    x = np.linspace(-1.0, 1.0, 9)
    bound = np.finfo(float).tiny if low is None else low
    np.testing.assert_allclose(ad.grad(fn)(x, np.finfo(float)), 2 * np.where(x >= bound, x, 0))


def test_a_record_of_pythons_own_is_read() -> None:
    gradient = ad.grad(lambda x: np.sum(x) * (-1 * float_info.max) * 1e-308)(np.ones(3))
    np.testing.assert_array_equal(gradient, np.full(3, 1e-308 * float_info.max * -1))


def test_a_tuple_is_not_indexed_by_a_tuple() -> None:
    def fn(x: Any) -> Any:
        pair = (x, 2.0 * x)
        try:
            return np.sum(pair[0, 1])  # type: ignore[call-overload]
        except TypeError:
            return np.sum(pair[1])

    np.testing.assert_array_equal(ad.grad(fn)(np.ones(3)), np.full(3, 2.0))

    def failing(x: Any) -> Any:
        pair = (x, 2.0 * x)
        return pair[0, 1]  # type: ignore[call-overload]

    with pytest.raises(TypeError, match="tuple indices must be integers or slices, not tuple"):
        ad.grad(failing)(np.ones(3))


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (40, 3)])
def test_arrays_of_unknown_rank_are_broadcast_together(count: int, shape: tuple[int, ...]) -> None:
    x, y = np.linspace(0.1, 1.0, int(np.prod(shape))).reshape(shape), np.array([2.0, 3.0, 5.0])

    def fn(x: Any, y: Any, count: int) -> Any:
        u, v = np.broadcast_arrays(x.sum(axis=tuple(range(count))), y)
        return np.sum(u * v**2)

    rows = shape[0] if count == 0 else 1
    total = x if count == 0 else x.sum(axis=0)
    d_x, d_y = ad.grad(fn, (0, 1))(x, y, count)
    np.testing.assert_allclose(d_x, np.broadcast_to(y**2, shape))
    np.testing.assert_allclose(d_y, (2 * y * total).reshape(rows, 3).sum(axis=0))


def test_a_vectorized_function_that_is_given_keywords_is_refused() -> None:
    def fn(x: Any, n: float = 0.1) -> Any:
        return np.sum(np.vectorize(lambda p, q=0.5: p * q)(x, q=n))

    with pytest.raises(ad.errors.Refused, match="called with keywords"):
        ad.grad(fn)(np.ones(3))


def in_shape(a: Any, shape: Any) -> Any:
    return np.reshape(a, shape)


@pytest.mark.parametrize("size", [1, 3, 130])
def test_a_list_that_is_a_shape_tells_the_rank(size: int) -> None:
    def fn(x: Any) -> Any:
        y = in_shape(x, [x.shape[0], 1]).copy()
        n, m = y.shape
        for i in range(n - 1):
            if y[i, 0] > y[i + 1, 0]:
                y[i, 0] = y[i + 1, 0]
        z = np.zeros([n, m])
        z[1:, 0] = y[:-1, 0] ** 2
        return np.sum(y**2) + np.sum(z * y)

    x, v = np.random.default_rng(0).normal(size=size), np.random.default_rng(1).normal(size=size)
    slope = (fn(x + 1e-7 * v) - fn(x - 1e-7 * v)) / 2e-7
    np.testing.assert_allclose(ad.grad(fn)(x) @ v, slope, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (v,))[1], slope, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4,), (4, 2)])
def test_a_list_that_grows_does_not(shape: tuple[int, ...]) -> None:
    def fn(x: Any) -> Any:
        sizes = [x.shape[0]]
        if x.ndim > 1:
            sizes.append(x.shape[1])
        sizes.append(1)
        return np.sum(in_shape(x, sizes) ** 2 * np.ones(sizes))

    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    np.testing.assert_allclose(ad.grad(fn)(x), 2 * x)


def test_the_text_of_a_constant_is_known() -> None:
    def fn(x: Any, mode: str = "double") -> Any:
        return x * 2.0 if str(mode) == "double" and str(3) == "3" else (x, x)

    assert "    if " not in ad.adjoint_source(fn, np.ones(3))
    np.testing.assert_array_equal(ad.grad(fn)(np.ones(3)), np.full(3, 2.0))
