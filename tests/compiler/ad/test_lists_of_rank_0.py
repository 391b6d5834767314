"""Second derivatives through lists of arrays without axes, whose cotangents are changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once


def in_a_display(m: Any) -> Any:
    q = [m[..., 0, 0], m[..., 0, 1]]
    return (q[0] * q[1]) ** 2


def in_a_comprehension(m: Any) -> Any:
    q = [m[..., 0, j] for j in range(2)]
    return q[0] * q[1] ** 2


def in_nested_lists(m: Any) -> Any:
    q = [[m[..., i, j] for j in range(2)] for i in range(2)]
    return q[0][0] * q[1][1] ** 2 * q[0][1]


@pytest.mark.parametrize("fn", [in_a_display, in_a_comprehension, in_nested_lists])
def test_second_derivatives(fn: Any) -> None:
    m, way = np.array([[1.3, 0.4], [-0.7, 2.1]]), np.array([[0.2, -0.5], [0.9, 0.3]])
    gradient = ad.grad(fn)
    curved = (gradient(m + 1e-5 * way) - gradient(m - 1e-5 * way)) / 2e-5
    np.testing.assert_allclose(ad.grad(lambda m: np.sum(gradient(m) * way))(m), curved, 1e-6, 1e-8)
    np.testing.assert_allclose(ad.hvp(fn, m, way), curved, 1e-6, 1e-8)
