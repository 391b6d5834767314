"""Reductions of Bottleneck, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

bn = pytest.importorskip("bottleneck")

SETTINGS: list[tuple[str, tuple[Any, ...]]] = [
    *((name, args) for name in ("nansum", "nanmean", "nanmax", "nanmin") for args in ((), (0,), (1,))),
    *((name, args) for name in ("nanvar", "nanstd") for args in ((), (0,), (1, 1))),
]


@pytest.mark.parametrize(("name", "args"), SETTINGS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_reductions(name: str, args: tuple[Any, ...], order: Any) -> None:
    x = np.random.default_rng(0).normal(size=(40, 7))
    x[3, 2] = x[7, 5] = np.nan
    x, v = np.asarray(x, order=order), np.random.default_rng(1).normal(size=(40, 7))

    def fn(x: Any) -> Any:
        return np.sum(np.sin(getattr(bn, name)(x, *args)))

    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x)
    slope = (fn(x + 1e-6 * v) - fn(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(np.sum(gradient * v), slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (v,))[1], slope, rtol=1e-6, atol=1e-8)
