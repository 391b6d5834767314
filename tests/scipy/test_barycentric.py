"""Barycentric interpolation: right at the points themselves, where SciPy takes their values."""

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator, barycentric_interpolate

import autodiff_sct as ad

pytestmark = pytest.mark.once
XI, YI = np.array([0.0, 1.0, 2.0, 3.5]), np.array([1.0, -1.0, 0.5, 2.0])
SEVERAL = np.stack([YI, YI**2], axis=1)
PLACES = [np.array([0.3, 1.0, 2.7, 3.5]), np.array([1.0]), np.float64(2.0), 0.6, np.zeros(0), np.array([[0.3, 2.0]])]


def by_function(x: Any) -> Any:
    return np.sum(barycentric_interpolate(XI, YI, x) ** 2)


def by_class(x: Any) -> Any:
    return np.sum(BarycentricInterpolator(XI, YI)(x) ** 2)


def several_values(x: Any) -> Any:
    return np.sum(barycentric_interpolate(XI, SEVERAL, x) ** 2)


@pytest.mark.parametrize("fn", [by_function, by_class, several_values], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("x", PLACES, ids=str)
def test_all_orders(fn: Any, x: Any) -> None:
    way = np.cos(np.arange(np.size(x)) + 1.0).reshape(np.shape(x))
    way = way if np.ndim(x) else float(way)

    def slope(x: Any) -> Any:
        return np.sum(ad.grad(fn)(x) * way)

    h = 1e-5
    value, tangent = ad.jvp(fn, (x,), (way,))
    values = [value, ad.value_and_grad(fn)(x)[0]]
    np.testing.assert_allclose(values, [fn(x)] * 2, rtol=1e-14)  # SciPy permutes the points at random
    expected = (fn(x + h * way) - fn(x - h * way)) / (2 * h)
    np.testing.assert_allclose([slope(x), tangent], [expected] * 2, rtol=1e-6, atol=1e-8)
    curvature = (slope(x + h * way) - slope(x - h * way)) / (2 * h)
    np.testing.assert_allclose(np.sum(ad.grad(slope)(x) * way), curvature, rtol=1e-5, atol=1e-6)
