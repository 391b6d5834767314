"""Arrays without elements: as values that are written again and again, as samples, and as operands of products."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import tape


def put(x, v):
    y = x * x
    np.put(y, [0, 2], v * y[1])
    return np.sum(y * x)


def put_into_matrix(x, v):
    y = np.outer(x, x)
    y.put([0, 3], v)
    return np.sum(y * x)


def putmask(x, v):
    y = x * x
    np.putmask(y, x > 0.2, v)
    return np.sum(y * x)


def diagonal(x, v):
    y = np.outer(x, x)
    np.fill_diagonal(y, v)
    return np.sum(y * x)


def flat_slice(x, v):
    y = np.outer(x, x)
    y.flat[1:3] = v
    return np.sum(y * x)


def whole_flat(x, v):
    y = np.outer(x, x)
    y.flat = v
    return np.sum(y * x)


WRITERS = [put, put_into_matrix, putmask, diagonal, flat_slice, whole_flat]


@pytest.mark.parametrize("function", WRITERS)
@pytest.mark.parametrize("length", [0, 1, 2])
def test_arguments(function, length):
    x, v = np.array([0.5, -0.3, 0.9]), np.arange(1.0, length + 1)
    value, (d_x, d_v) = ad.value_and_grad(function, (0, 1))(x, v)
    assert value == function(x, v)
    steps = [function(x + 1e-6 * e, v) - function(x - 1e-6 * e, v) for e in np.eye(3)]
    np.testing.assert_allclose(d_x, np.array(steps) / 2e-6, rtol=1e-6)
    assert d_v.shape == v.shape
    recorded = [tape.tensor(x, True), tape.tensor(v, True)]
    t_x, _ = tape.grad(function(*recorded), recorded, allow_unused=True)
    np.testing.assert_allclose(t_x.value, d_x, rtol=1e-12)


@pytest.mark.parametrize("function", WRITERS)
def test_lengths_that_only_the_run_decides(function):
    def chosen(x, v):
        return function(x, v[v > 0.5])

    x, v = np.array([0.5, -0.3, 0.9]), np.array([0.7, 0.1])
    value, _ = ad.value_and_grad(chosen, (0, 1))(x, v)
    assert value == chosen(x, v)
    value, (_, d_v) = ad.value_and_grad(chosen, (0, 1))(x, v - 1.0)
    assert value == chosen(x, v - 1.0)
    assert not np.any(d_v)


@pytest.mark.parametrize("level", [0.2, 2.0])
def test_place_raises_as_numpy_does(level):
    def place(x, v):
        y = x * x
        np.place(y, x > level, v)
        return np.sum(y * x)

    x, v = np.array([0.5, -0.3, 0.9]), np.array([])
    try:
        expected = place(x, v)
    except ValueError:
        with pytest.raises(ValueError, match="Cannot insert from an empty array"):
            ad.grad(place)(x, v)
    else:
        assert ad.value_and_grad(place)(x, v)[0] == expected


QUANTILES = [
    np.median,
    np.nanmedian,
    lambda x, **settings: np.nanquantile(x, 0.3, **settings),
    lambda x, **settings: np.nanpercentile(x, 30.0, **settings),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", QUANTILES)
@pytest.mark.parametrize("settings", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}], ids=str)
def test_quantiles_of_nothing_are_nan(function, settings):
    x = np.zeros((0, 3) if settings.get("axis") == 0 else (3, 0))

    def program(x):
        return function(x, **settings)

    value, gradient = ad.value_and_grad(program)(x)
    assert np.array_equal(value, program(x), equal_nan=True)
    assert gradient.shape == x.shape
    tangent = ad.jvp(program, (x,), (x,))[1]
    assert np.array_equal(tangent, np.zeros_like(value))
    assert ad.grad(lambda x: np.sum(ad.grad(lambda x: np.sum(program(x)))(x) ** 2))(x).shape == x.shape
