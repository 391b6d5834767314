"""Levels at which the linear quantile is the quantile by another method."""

from __future__ import annotations

import math

# NumPy's methods by their plotting positions: a = b in Hyndman and Fan, "Sample quantiles" (1996).
PLOTTING_POSITIONS = {"hazen": 1 / 2, "weibull": 0.0, "median_unbiased": 1 / 3, "normal_unbiased": 3 / 8}
METHODS = ("lower", "higher", "nearest", "midpoint", *PLOTTING_POSITIONS)


def place_of(q: float, n: int, method: str) -> float:
    """The place among `n` sorted elements, counted from 0, that the quantile `q` by a method is read from."""
    if method in PLOTTING_POSITIONS:
        a = PLOTTING_POSITIONS[method]
        return n * q + a + q * (1 - 2 * a) - 1
    below, above = math.floor(q * (n - 1)), math.ceil(q * (n - 1))
    places = {"lower": below, "higher": above, "midpoint": (below + above) / 2, "nearest": round(q * (n - 1))}
    return places[method]


def linear_level(q: float, n: int, method: str) -> float:
    """The level at which the linear quantile of `n` elements is the quantile `q` by another method."""
    return min(max(place_of(q, n, method) / max(n - 1, 1), 0.0), 1.0)


def level_rate(q: float, n: int, method: str) -> float:
    """The derivative of `linear_level` by `q`."""
    if method not in PLOTTING_POSITIONS or not 0 < place_of(q, n, method) < n - 1:
        return 0.0
    return (n + 1 - 2 * PLOTTING_POSITIONS[method]) / (n - 1)
