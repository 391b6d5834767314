"""Additions at places that integers name: by NumPy itself where that is enough, else by the function of `runtime`."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

V, M = np.array([0.4, 1.3, -0.7, 0.9]), np.cos(np.arange(12.0)).reshape(3, 4)


def picked(x, places):
    return np.sum(np.sin(x[places]) * np.arange(1.0, 1.0 + np.size(places)).reshape(np.shape(places)))


def picked_by_two(m, rows, columns):
    return np.sum(np.sin(m[rows, columns]) * np.arange(1.0, 1.0 + len(rows)))


def smoothed(x, places, steps):
    for _ in range(steps):
        y = np.zeros_like(x)
        np.add.at(y, places[::-1], x[places] * 0.5)
        x = np.tanh(y)
    return np.sum(x**2)


def rows_of(m, places):
    return np.sum(m[places] ** 2 * m[places[::-1]])


CASES = [
    (picked, (V, np.array([0, 2, 0, -1]))), (picked, (V, np.array([1]))), (picked, (V, np.array([], dtype=int))),
    (picked, (V, np.array([[0, 1], [1, 1]]))), (picked, (V, np.array([0, 2, 2], dtype=np.uint8))),
    (picked, (V[:1], np.array([0, 0, 0]))), (picked, (V, np.ones(4, dtype=bool))), (picked, (V, 2)),
    (picked_by_two, (M, np.array([0, 2, 0]), np.array([1, 1, 1]))), (smoothed, (V, np.array([3, 3, 1]), 3)),
    (rows_of, (M, np.array([0, 2, 0]))), (rows_of, (M, np.array([1]))),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_gradient(fn, args):
    found = ad.grad(fn)(*args)
    with pass_registry.without("scatter_add"):
        np.testing.assert_array_equal(ad.grad(fn)(*args), found)
    np.testing.assert_allclose(found, differences(fn, args), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_numbers(dtype):
    found = ad.grad(lambda x, k: np.sum(np.real(x[k] * x[k])))(V.astype(dtype), np.array([0, 0, 2]))
    assert found.dtype == dtype
    np.testing.assert_allclose(np.real(found), [4 * V[0], 0.0, 2 * V[2], 0.0], rtol=1e-6)


def test_an_index_out_of_range_is_numpys():
    with pytest.raises(IndexError):
        ad.grad(picked)(V, np.array([0, 7]))


def test_what_the_text_says():
    places = np.array([0, 2, 0])
    assert "np.add.at(d_x, places, " in ad.adjoint_source(picked, V, places)
    assert " add_at(d_m, (rows, columns), " in ad.adjoint_source(picked_by_two, M, places, places)
    assert "np.add.at" not in ad.adjoint_source(rows_of, M, places)
    with pass_registry.without("scatter_add"):
        assert "np.add.at" not in ad.adjoint_source(picked, V, places)
