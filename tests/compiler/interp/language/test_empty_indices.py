"""``a[()]``, ``a[None]`` and ``a[..., None]`` of numbers, arrays without axes, and arrays of any number of axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.array([0.5, 1.5, -0.7, 2.5])


def number(x: Any, shape: Any) -> Any:
    c = np.sum(x**2)
    return c[()] * c[()] + np.sum(c[None] * x) * c + np.sum(c[..., None, None] * c[None, None])


def item(x: Any, shape: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + v[()] ** 2 * v[...]
    return total


def array_without_axes(x: Any, shape: Any) -> Any:
    y = np.where(x[0] > 0, x[1] ** 2, x[2])
    z = np.asarray(x[0] * 2.0)
    z[()] = x[1] ** 2
    z[()] += x[2]
    return y[()] * y[()] * 3 + z[()] * x[0]


def maybe_without_axes(x: Any, shape: Any) -> Any:
    y, z = np.squeeze(x[:1]), np.sum(np.reshape(x, [n * 1 for n in shape]) ** 2, axis=-1)
    return np.sum(y[()] ** 2 + y[None][0] * 3) + np.sum(z[()] * z[...]) + np.sum(z[None] * z[..., None] ** 2)


def all_of_an_array(x: Any, shape: Any) -> Any:
    y = x**2
    z = y[()]
    z *= 2
    return np.sum(y * z) + np.sum(np.expand_dims(y, [0, 2]) ** 2)


PROGRAMS = [number, item, array_without_axes, maybe_without_axes, all_of_an_array]


@pytest.mark.parametrize("shape", [(4,), (2, 2)], ids=str)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_indices_that_pick_everything(fn: Any, shape: Any) -> None:
    check_gradient(fn, (X, shape))
    along = np.array([0.3, -0.2, 0.7, 0.1])
    slope = ad.jvp(lambda x: fn(x, shape), (X,), (along,))[1]
    assert slope == pytest.approx((fn(X + 1e-6 * along, shape) - fn(X - 1e-6 * along, shape)) / 2e-6)
