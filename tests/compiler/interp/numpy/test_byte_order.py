"""Arrays in the other order of bytes, as files of astronomy hold them: gradients have that order, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

SWAPPED = np.dtype(float).newbyteorder()
FUNCTIONS = [np.max, np.min, np.ptp, np.median, np.nanmax, np.nanmin, np.sum, np.sort, np.mean, np.std, np.cumsum,
             np.prod, np.linalg.norm, np.exp, np.abs, np.diff, np.var]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_functions_of_numpy(fn: Any, dtype: str) -> None:
    def total(x: Any) -> Any:
        return np.sum(fn(x) * 2.0)

    x = np.array([3.0, 1.0, 2.0, 3.0], dtype)
    swapped = x.astype(x.dtype.newbyteorder())
    value, gradient = ad.value_and_grad(total)(swapped)
    assert value == total(swapped)
    assert gradient.dtype == swapped.dtype
    np.testing.assert_allclose(gradient, ad.grad(total)(x), 1e-6)
    pulled = ad.vjp(total, swapped)[1](1.0)[0]
    assert pulled.dtype == swapped.dtype
    np.testing.assert_array_equal(pulled, gradient)
    tangent = ad.jvp(total, (swapped,), (np.ones_like(swapped),))[1]
    np.testing.assert_allclose(tangent, np.sum(gradient), 1e-5, 1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_quantiles(axis: int | None) -> None:
    x = np.arange(12.0).reshape(3, 4).astype(SWAPPED)
    for fn in (lambda x: np.quantile(x, 0.3, axis), lambda x: np.percentile(x, [30, 60], axis)):
        found = ad.grad(lambda x, fn=fn: np.sum(fn(x)))(x)
        np.testing.assert_allclose(found, ad.grad(lambda x, fn=fn: np.sum(fn(x)))(x.astype(float)))


def test_containers() -> None:
    held = {"a": np.ones(2, SWAPPED), "b": [np.ones(3), 2.0]}
    found = ad.grad(lambda p: np.sum(p["a"] * 2.0) + np.sum(p["b"][0]) * p["b"][1])(held)
    assert found["a"].dtype == SWAPPED
    assert found["b"][0].dtype == float
    assert found["b"][1] == 3.0


def test_after_an_array_of_the_machines_order() -> None:
    gradient = ad.grad(lambda x: np.sum(x * x))
    for x in (np.ones(2), np.ones(2, SWAPPED), np.ones(2)):
        assert gradient(x).dtype == x.dtype
