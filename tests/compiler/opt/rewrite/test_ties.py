"""Halves of cotangents where two arrays tie: looked for before they are made, and the same numbers as without."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.runtime.selection import half_where

pytestmark = pytest.mark.once

V = np.array([0.4, -1.3, 0.0, 0.9])
M = np.cos(np.arange(12.0)).reshape(3, 4)


def relu(x, w):
    return np.sum(np.maximum(x, 0.0) * w)


def relu_of_ints(x, w):
    return np.sum(np.maximum(x, 0) * w)


def least(x, w):
    return np.sum(np.minimum(w, x) ** 2)


def both(x):
    y = x[::-1].copy()
    return np.sum(np.maximum(x, y) * np.arange(1.0, 1.0 + len(x)))


def spread(x, m):
    return np.sum(np.maximum(m, x) ** 2)


def scalar(x, limit):
    total = 0.0
    for v in x:
        total += np.maximum(v, limit) ** 2
    return total


def in_steps(x, n):
    for _ in range(n):
        x = np.maximum(x - 0.1, -x)
    return np.sum(x**2)


def uniform(x):
    return np.mean(np.maximum(x, 0.5))


def of_infinite_cotangents(x):
    return np.sum(np.log(np.maximum(x, 0.0)))


CASES = [
    (relu, (V, V + 1)), (relu, (V, 3.0)), (relu, (np.abs(V) + 1, V)), (relu, (np.zeros(4), V)), (relu, (V[:0], V[:0])),
    (relu, (V[2:3], V[:1])), (relu, (V, M)), (relu, (M, V)), (relu, (np.array([np.nan, np.inf, -np.inf, 0.0]), V)),
    (relu, (V.astype(np.float32), V.astype(np.float32))), (relu_of_ints, (V, V)), (least, (V, V * [1, 2, 1, 2])),
    (least, (V, 0.0)), (least, (M, V)), (both, (V,)), (both, (np.zeros(3),)), (spread, (V, M)), (spread, (M[0], M)),
    (spread, (V[:1], M)), (scalar, (V, 0.0)), (scalar, (V, 0.4)), (in_steps, (V, 3)), (in_steps, (V, 0)),
    (uniform, (V,)), (uniform, (np.full(3, 0.5),)), (uniform, (V.astype(np.float32),)), (relu, (0.0, 2.0)),
    (relu, (np.float64(0.0), 2.0)), (relu, (np.array(0.0), 2.0)),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_as_without(fn, args):
    found = ad.grad(fn)(*args)
    with pass_registry.without("runtime_select"):
        expected = ad.grad(fn)(*args)
    assert type(found) is type(expected)
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
    np.testing.assert_array_equal(found, expected)


def test_ties_share():
    np.testing.assert_array_equal(ad.grad(relu)(V, V + 1), [1.4, 0.0, 0.5, 1.9])
    np.testing.assert_array_equal(ad.grad(relu)(V[:2], V[:2] + 1), [1.4, 0.0])


def test_an_infinite_cotangent_of_the_other_side_is_none():
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(ad.grad(of_infinite_cotangents)(np.array([-1.0, 2.0])), [0.0, 0.5])
        np.testing.assert_array_equal(ad.grad(of_infinite_cotangents)(np.array([-1.0, 0.0])), [0.0, np.inf])


def test_the_halves_are_asked_for():
    assert "select(x > 0.0, d_t, half_where(x == 0.0, d_t))" in ad.adjoint_source(relu, V, V)


def test_second_order():
    def slope(x):
        return np.sum(ad.grad(lambda y: np.sum(np.maximum(y, 0.0) ** 3))(x) ** 2)

    np.testing.assert_allclose(ad.grad(slope)(V), 36 * np.maximum(V, 0) ** 3)


def test_the_emitted_text_can_be_differentiated():
    text = ad.adjoint_source(relu, V, V)
    again = ad.grad(ad.from_source(text))
    np.testing.assert_array_equal(again(V, V), np.zeros(4))


def test_halves():
    assert half_where(np.array([False, False]), V[:2]) == 0
    assert half_where(np.False_, 3.0) == 0
    np.testing.assert_array_equal(half_where(np.array([True, False]), np.float32([3, 4])), [1.5, 0.0])
    assert half_where(np.array([True, False]), np.float32([3, 4])).dtype == np.float32


def greatest(x, axis):
    return np.sum(x.max(axis=axis) ** 3)


def least_of_lanes(x, axis):
    return np.sum(np.min(x, axis=axis, keepdims=True) * x)


LANES = np.random.default_rng(0).uniform(-1, 1, (9, 25, 24))  # more elements than `np.where` is used for


@pytest.mark.parametrize("fn", [greatest, least_of_lanes])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("kind", ["one", "tied", "nan", "small", "fortran", "single", "empty_lanes"])
def test_extremes_along_an_axis(fn, axis, kind) -> None:
    """The cotangent of an extreme is put where that is, or shared by those that tie, in the same numbers."""
    x = LANES.copy()
    if kind == "tied":
        x[:, :2, :2] = x[:, 0, 0].max()
        x[0] = x[1] = -2.0
    elif kind == "nan":
        x[3, 4, 5], x[0, :2, 0], x[:2, 1, 1] = np.nan, 2.0, -2.0
    elif kind == "small":
        x = x[:3, :3, :3]
    elif kind == "fortran":
        x = np.asfortranarray(x)
    elif kind == "single":
        x = x.astype(np.float32)
    elif kind == "empty_lanes":
        x = x[:, :, :0] if axis in (0, 1) else x[:0]
    got = ad.grad(fn)(x, axis)
    with pass_registry.without("runtime_select"):
        plain = ad.grad(fn)(x, axis)
    assert got.dtype == plain.dtype == x.dtype
    assert np.array_equal(got, plain, equal_nan=True)


def test_emitted_text_that_shares_out_can_be_differentiated() -> None:
    text = ad.adjoint_source(greatest, LANES, 1)
    assert "share_out(" in text
    adjoint = ad.from_source(text)
    value, slope = ad.value_and_grad(lambda x: np.sum(adjoint(x, 1) ** 2))(LANES)
    extreme = LANES == LANES.max(axis=1, keepdims=True)
    assert value == np.sum(9 * LANES.max(axis=1) ** 4)
    np.testing.assert_allclose(slope, np.where(extreme, 36 * LANES**3, 0), rtol=1e-12)
