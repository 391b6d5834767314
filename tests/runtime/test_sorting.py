"""The order of a stable sort, with ties and without, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_sct.runtime.sorting import put_in_order, stable_order

INF, NAN = np.inf, np.nan
VECTORS = [
    [],
    [1.0],
    [2.0, 1.0, 2.0, 1.0],
    [NAN, 1.0, NAN, -INF],
    [INF, INF, 0.0, -0.0],
    np.random.default_rng(0).normal(size=1000),
    np.random.default_rng(0).integers(0, 9, 1000) * 1.0,
]


@pytest.mark.parametrize("values", VECTORS)
def test_is_the_order_of_a_stable_sort(values):
    a = np.array(values)
    np.testing.assert_array_equal(stable_order(a), np.argsort(a, kind="stable"))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (130, 7), (0, 4)])
def test_along_axes(shape, order, axis):
    a = np.array(np.random.default_rng(1).integers(0, 50, shape) * 1.0, order=order)
    a.flat[: a.size // 20] = NAN
    places = stable_order(a, axis)
    np.testing.assert_array_equal(places, np.argsort(a, axis, kind="stable"))
    np.testing.assert_array_equal(put_in_order(np.take_along_axis(a, places, axis), places, axis), a)
