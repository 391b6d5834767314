"""Items of arrays of which no rank is known: numbers, which a later write does not change, unless they are views."""

from typing import Any

import numpy as np

import autodiff_sct as ad

SWITCH = [3]
X, WAY = np.array([1.0, 2.0, 3.0, 5.0]), np.array([0.1, 0.2, -0.3, 0.4])


def swapped(x: Any) -> Any:
    y = x * 1.0
    if SWITCH[0] < 2:
        y = None
    y[0], y[3] = y[3], y[0]
    y[1], y[2] = y[2] * y[0], y[1]
    return np.sum(y * x**2)


def test_items_that_change_places() -> None:
    value, tangent = ad.jvp(swapped, X, WAY)
    assert value == swapped(X)
    np.testing.assert_allclose(tangent, (swapped(X + 1e-6 * WAY) - swapped(X - 1e-6 * WAY)) / 2e-6, rtol=1e-7)
