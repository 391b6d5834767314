"""Derivatives of the incomplete gamma and beta functions with respect to their shapes.

Each is the integral of a derivative of the density: of the density times a polynomial of logarithms.  In the logarithm
of the place, or of the odds, the integrand is smooth and falls off from its largest value on both sides.  It is taken
over the tail in which it only falls (both together are zero), by a Gauss rule on panels that double from where that
starts: for shapes near zero, the tail is thousands long and bends at its start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

__all__ = ["betainc_moved", "gammainc_moved"]

POINTS, SHARES = np.polynomial.legendre.leggauss(20)
EDGES = np.append(0.0, 2.0 ** np.arange(-17, 1))
NODES = (EDGES[:-1, None] + np.diff(EDGES)[:, None] * (POINTS + 1) / 2).ravel()
WEIGHTS = (np.diff(EDGES)[:, None] * SHARES / 2).ravel()


def gammainc_moved(order: int, a: Any, x: Any) -> Any:
    """The derivative of ``gammainc(a, x)`` with respect to `a`, of order 1 or 2."""
    dtype = single_or_double(a, x)
    shape, place = (np.asarray(v, float)[..., None] for v in np.broadcast_arrays(a, x))
    inside = (place > 0) & (place < np.inf)
    place = np.where(inside, place, 1.0)
    below = place <= shape
    start = np.log(place)
    left = start - np.sqrt(90 / shape) - 45 / shape  # from here on the density is less than 1e-18 of its largest
    right = np.log(place + 1.2 * np.sqrt(90 * shape) + 60)
    length = np.where(below, left, right) - start
    u = start + length * NODES
    log = u - special.digamma(shape)
    factor = log if order == 1 else log * log - special.zeta(2, shape)
    total = np.sum(WEIGHTS * factor * np.exp(shape * u - np.exp(u) - special.gammaln(shape)), -1)
    return np.where(inside, -length * total[..., None], 0.0)[..., 0].astype(dtype)[()]


def betainc_moved(first: int, second: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``betainc(a, b, x)`` of orders `first` and `second` for `a` and `b`, which add up to 1 or 2."""
    dtype = single_or_double(a, b, x)
    a, b, x = (np.asarray(v, float)[..., None] for v in np.broadcast_arrays(a, b, x))
    inside = (x > 0) & (x < 1)
    x = np.where(inside, x, 0.5)
    start = np.log(x) - np.log1p(-x)
    spread = np.sqrt(90 / a + 90 / b)
    length = np.where(x * (a + b) <= a, -spread - 45 / a, spread + 45 / b)
    odds = start + length * NODES
    logs = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
    whole = special.digamma(a + b)
    slopes = logs[0] - special.digamma(a) + whole, logs[1] - special.digamma(b) + whole
    if first + second == 1:
        factor = slopes[second]
    else:
        bent = [special.zeta(2, v) for v, order in ((a, first), (b, second)) if order == 2]
        factor = slopes[second > 0] * slopes[second > 1] + special.zeta(2, a + b) - sum(bent)
    total = np.sum(WEIGHTS * factor * np.exp(a * logs[0] + b * logs[1] - special.betaln(a, b)), -1)
    return np.where(inside, -length * total[..., None], 0.0)[..., 0].astype(dtype)[()]


def single_or_double(*values: Any) -> Any:
    """The dtype that functions of SciPy have of these arguments."""
    dtype = np.result_type(*values)
    return dtype if dtype == np.float32 else np.dtype(float)
