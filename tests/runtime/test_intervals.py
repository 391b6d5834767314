"""Intervals by division are those that a search finds."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.runtime.sorting import even_interval, interval_of

RNG = np.random.default_rng(0)


def searched(x, ends):
    return np.clip(np.searchsorted(ends, x, "right") - 1, 0, len(ends) - 2)


ENDS = {
    "even": np.linspace(-1.0, 3.0, 38),
    "two": np.array([0.0, 1.0]),
    "three": np.array([0.0, 1.0, 2.0]),
    "nearly": np.sort(np.linspace(0.0, 1.0, 101) + RNG.uniform(-4e-4, 4e-4, 101)),
    "uneven": np.array([0.0, 0.1, 0.15, 0.7, 1.0]),
    "equal": np.array([0.0, 0.5, 0.5, 0.5, 1.0]),
    "single": np.linspace(0.0, 1.0, 33).astype(np.float32),
    "whole": np.arange(7),
    "tiny": np.linspace(0.0, 1e-310, 9),
    "none": np.zeros(5),
}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("n", [0, 1, 130, 4095, 4096, 20000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_intervals(ends, n, dtype) -> None:
    low, high = float(ends[0]), float(ends[-1])
    x = RNG.uniform(low - 0.2 * (high - low), high + 0.2 * (high - low), n).astype(dtype)
    x[: n // 3] = RNG.choice(ends, n // 3)
    np.testing.assert_array_equal(interval_of(x, ends), searched(x, ends))
    if n:
        for odd in (np.nan, np.inf, -np.inf):
            x[n // 2] = odd
            np.testing.assert_array_equal(interval_of(x, ends), searched(x, ends))


def test_even_ends_are_not_searched() -> None:
    x, ends = RNG.uniform(-1.2, 3.2, 5000), ENDS["even"]
    np.testing.assert_array_equal(even_interval(x, ends, ends[1] - ends[0]), searched(x, ends))


@pytest.mark.parametrize("n", [5, 4096])
def test_gradients(n) -> None:
    """Those of histograms and of piecewise linear functions."""
    x, weights, knots = RNG.uniform(0.0, 1.0, n), RNG.uniform(0.0, 1.0, n), np.linspace(0.0, 1.0, 9)
    d = ad.grad(lambda w: np.sum(np.histogram(x, 8, weights=w)[0] ** 2))(weights)
    counts, edges = np.histogram(x, 8, weights=weights)
    np.testing.assert_allclose(d, 2 * counts[searched(x, edges)])
    values = RNG.uniform(0.0, 1.0, 9)
    slopes = np.diff(values) / np.diff(knots)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.interp(x, knots, values)))(x), slopes[searched(x, knots)])


@pytest.mark.parametrize("knots", [7, 40, 300])
@pytest.mark.parametrize("n", [7, 300, 5000])
def test_knots_in_no_order(knots, n) -> None:
    """Each place has the slope of the interval whose value ``np.interp`` returns."""
    rng = np.random.default_rng(knots + n)
    x, xp, fp = (rng.normal(size=size) for size in (n, knots, knots))
    h = 1e-9
    for first in (x[0], np.nan):  # where NumPy's search goes on from one that it does not find
        x[0] = first
        differences = (np.interp(x + h, xp, fp) - np.interp(x - h, xp, fp)) / (2 * h)
        slopes = ad.grad(lambda x: np.sum(np.interp(x, xp, fp)))(x)
        np.testing.assert_allclose(slopes[1:], differences[1:], rtol=1e-4, atol=1e-4)
