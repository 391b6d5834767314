"""B-splines of ``scipy.interpolate`` that a differentiated program makes: sums of basis functions, by one or more axes.

`made` is SciPy's object, which computes the values.  The functions here compute the same in NumPy from coefficients
and knots, by de Boor's recurrence, and the derivatives are theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .splines import along, derived, placed

__all__ = ["Basis", "Sheet", "coefficients", "knots_of"]


class Basis:
    """A B-spline of one variable with knots `t`, coefficients `c` and degree `k`."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, made: Any, t: Any, c: Any, k: Any, axis: Any) -> None:
        self.made = made
        self.t = t
        self.c = c
        self.k = k
        self.axis = axis

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        return spline_at(self.made, self.t, self.c, self.k, self.axis, x, nu)

    def derivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = t[1:-1], differences(t, c, k), k - 1
        return Basis(derived(self.made, nu), t, c, k, self.axis)

    def integrate(self, a: Any, b: Any) -> Any:
        return area(self.made, self.t, self.c, self.k, self.axis, a, b)

    def integral(self, a: Any, b: Any) -> Any:
        return area(self.made, self.t, self.c, self.k, self.axis, a, b)


class Sheet:
    """``RectBivariateSpline(x, y, z)``."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, made: Any, tx: Any, ty: Any, c: Any, kx: Any, ky: Any) -> None:
        self.made = made
        self.tx = tx
        self.ty = ty
        self.c = c
        self.kx = kx
        self.ky = ky

    def __call__(self, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
        return sheet_at(self.made, self.tx, self.ty, self.c, self.kx, self.ky, x, y, dx, dy, grid)

    def ev(self, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
        return sheet_at(self.made, self.tx, self.ty, self.c, self.kx, self.ky, xi, yi, dx, dy, False)


def spline_at(made: Any, t: Any, c: Any, k: int, axis: int, x: Any, nu: int) -> Any:
    """The derivative of order `nu` of a B-spline, at places."""
    return basis_sum(t, c, k, axis, x, nu)


def basis_sum(t: Any, c: Any, k: int, axis: int, x: Any, nu: int) -> Any:
    i = interval(t, k, x)
    terms = along(weights(t, k, i, x, nu), c.ndim - 1) * c[i + behind(k, x) - k]
    return placed(np.sum(terms, axis=0), axis, np.ndim(x))


def spline_values(t: Any, c: Any, k: int, x: Any, nu: int) -> Any:
    """The same as ``splev`` has it."""
    return basis_sum(t, c, k, 0, x, nu)


def interval(t: Any, k: int, x: Any) -> Any:
    """The last knot before each place, of those between which a spline is defined."""
    return np.clip(np.searchsorted(t, x, "right") - 1, k, len(t) - k - 2)


def behind(k: int, x: Any) -> Any:
    """The numbers from 0 to `k` along an axis before those of an array."""
    return along(np.arange(k + 1), np.ndim(x))


def weights(t: Any, k: int, i: Any, x: Any, nu: int) -> Any:
    """The derivatives of order `nu` of the ``k + 1`` basis functions that are not 0 after the knot `i`."""
    w = np.ones((1, *np.shape(x))) if nu <= k else np.zeros((1, *np.shape(x)))
    for p in range(1, k + 1):
        j = i + 1 + behind(p - 1, x)
        part = w / (t[j] - t[j - p])
        rising, falling = (p * part, -p * part) if p > k - nu else ((x - t[j - p]) * part, (t[j] - x) * part)
        edge = np.zeros_like(part[:1])
        w = np.concatenate([edge, rising]) + np.concatenate([falling, edge])
    return w


def differences(t: Any, c: Any, k: int) -> Any:
    """The coefficients of the derivative of a B-spline, whose knots lack the first and the last."""
    n = len(t) - k - 1
    return along(k / (t[k + 1 : k + n] - t[1:n]), c.ndim - 1) * (c[1:n] - c[: n - 1])


def area(made: Any, t: Any, c: Any, k: int, axis: int, a: Any, b: Any) -> Any:
    """The integral of a B-spline."""
    return area_below(t, c, k, axis, a, b)


def area_below(t: Any, c: Any, k: int, axis: int, a: Any, b: Any) -> Any:
    """The integral by another B-spline, of the next degree."""
    n = len(t) - k - 1
    steps = c[:n] * along((t[k + 1 :] - t[: -k - 1]) / (k + 1), c.ndim - 1)
    whole = np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])
    wide = np.concatenate([t[:1], t, t[-1:]])
    return basis_sum(wide, whole, k + 1, axis, b, 0) - basis_sum(wide, whole, k + 1, axis, a, 0)


def area_inside(t: Any, c: Any, k: int, a: Any, b: Any) -> Any:
    """The integral of a B-spline that is 0 outside of its knots, as ``splint`` has it."""
    low, high = t[k], t[len(t) - k - 1]
    return area_below(t, c[: len(t) - k - 1], k, 0, np.clip(a, low, high), np.clip(b, low, high))


def integrated(made: Any, a: Any, b: Any) -> Any:
    """The integral of a B-spline, as SciPy computes it."""
    value = made.integral(a, b) if hasattr(made, "integral") else made.integrate(a, b)
    return value[()]


# Splines through values


def knots_of(x: Any, k: int, natural: bool) -> Any:
    """The knots of a spline through values at `x`, as ``make_interp_spline`` chooses them."""
    if k % 2 == 0:
        inner = (0.5 * (x[1:] + x[:-1]))[k // 2 : len(x) - 1 - k // 2]
    elif k == 1 or natural:
        inner = x[1:-1]
    else:
        inner = x[(k + 1) // 2 : len(x) - (k + 1) // 2]
    return np.concatenate([np.repeat(x[:1], k + 1), inner, np.repeat(x[-1:], k + 1)])


def coefficients(t: Any, k: int, order: int, x: Any, values: Any) -> Any:
    """The coefficients of the spline through `values` at `x`, with a derivative of some order 0 at both ends."""
    i = interval(t, k, x)
    table, start = weights(t, k, i, x, 0), 0
    if order > 0:
        ends, start = weights(t, k, i, x, order), 1
        table = np.concatenate([ends[:, :1], table, ends[:, -1:]], axis=1)
        i = np.concatenate([i[:1], i, i[-1:]])
        zeros = np.zeros_like(values[:1])
        values = np.concatenate([zeros, values, zeros])
    columns = i - k + np.arange(k + 1)[:, None]
    reach = k + start
    bands = np.zeros((2 * reach + 1, table.shape[1]))
    bands[reach + np.arange(table.shape[1]) - columns, columns] = table
    return np.reshape(linalg.solve_banded((reach, reach), bands, values), values.shape)


def padded(t: Any, k: int, x: Any, values: Any) -> Any:
    """The coefficients of the spline through `values` as ``splrep`` has them, with zeros behind."""
    return np.concatenate([coefficients(t, k, 0, x, values), np.zeros(k + 1)])


def on_grid(t0: Any, t1: Any, k0: int, k1: int, x0: Any, x1: Any, values: Any) -> Any:
    """The coefficients of a spline of two variables through values on a grid."""
    return coefficients(t1, k1, 0, x1, coefficients(t0, k0, 0, x0, values).T).T


def sheet_at(
    made: Any, tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any, dx: int, dy: int, grid: bool
) -> Any:
    """A derivative of a spline of two variables, at places."""
    return products(tx, ty, c, kx, ky, x, y, dx, dy, grid)


def products(tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any, dx: int, dy: int, grid: bool) -> Any:
    """Sums of products of basis functions; outside of the grid they are what they are at its edge."""
    x, y = np.clip(x, tx[kx], tx[-kx - 1]), np.clip(y, ty[ky], ty[-ky - 1])
    if grid:
        x, y = np.reshape(x, (-1, 1)), np.reshape(y, (1, -1))
    i, j = interval(tx, kx, x), interval(ty, ky, y)
    wx, wy = weights(tx, kx, i, x, dx), weights(ty, ky, j, y, dy)
    return np.sum(wx[:, None] * wy * c[(i + behind(kx, x) - kx)[:, None], j + behind(ky, y) - ky], axis=(0, 1))
