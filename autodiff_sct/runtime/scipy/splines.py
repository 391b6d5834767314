"""Piecewise polynomials of ``scipy.interpolate`` that a differentiated program makes.

`made` is SciPy's object, which computes the values.  The functions here compute the same in NumPy from coefficients
and knots, and the derivatives are theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, linalg

from ...errors import NotDifferentiable

__all__ = ["Polynomial", "Table", "akima", "cubic", "cyclic", "increasing", "monotone", "smooth"]


class Polynomial:
    """A piecewise polynomial: the coefficients `c` of falling degree between the knots `x`, as those of ``PPoly``."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, made: Any, c: Any, x: Any, axis: Any, periodic: Any) -> None:
        self.made = made
        self.c = c
        self.x = x
        self.axis = axis
        self.periodic = periodic

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        return polynomials_at(self.made, self.c, self.x, self.axis, self.periodic, x, nu)

    def derivative(self, nu: Any = 1) -> Any:
        return Polynomial(derived(self.made, nu), lowered(self.c, nu), self.x, self.axis, self.periodic)

    def integrate(self, a: Any, b: Any) -> Any:
        return integral(self.made, self.c, self.x, self.axis, a, b)


def derived(made: Any, nu: Any) -> Any:
    """SciPy's spline that is the derivative of another."""
    return made.derivative(nu)


def polynomials_at(made: Any, c: Any, x: Any, axis: int, periodic: Any, places: Any, nu: int) -> Any:
    """The derivative of order `nu` of a piecewise polynomial, at places."""
    return polynomials(c, x, axis, periodic, places, nu)


def polynomials(c: Any, knots: Any, axis: int, periodic: Any, x: Any, nu: int) -> Any:
    if periodic:
        x = knots[0] + (x - knots[0]) % (knots[-1] - knots[0])
    k = np.clip(np.searchsorted(knots, x, "right") - 1, 0, knots.size - 2)
    t = along(x - knots[k], c.ndim - 2)
    y = falling(c.shape[0] - 1, nu) * c[0, k]
    for j in range(1, c.shape[0] - nu):
        y = y * t + falling(c.shape[0] - 1 - j, nu) * c[j, k]
    return placed(y, axis, np.ndim(x))


def lowered(c: Any, nu: int) -> Any:
    """The coefficients of the derivative of order `nu`."""
    degree = c.shape[0] - 1
    return np.stack([falling(degree - j, nu) * c[j] for j in range(degree + 1 - nu)])


def falling(power: int, order: int) -> int:
    """The factor of ``x**(power - order)`` in the derivative of some order of ``x**power``."""
    factor = 1
    for j in range(order):
        factor = factor * (power - j)
    return factor


def along(x: Any, more: int) -> Any:
    """An array with `more` axes behind its own."""
    return np.reshape(x, (*np.shape(x), *[1] * more))


def placed(y: Any, axis: int, count: int) -> Any:
    """Values with the axes of the places, which are `count`, where the values that are interpolated have one `axis`."""
    return y if axis == 0 else np.moveaxis(y, tuple(range(count)), tuple(range(axis, axis + count)))


def integral(made: Any, c: Any, knots: Any, axis: int, a: Any, b: Any) -> Any:
    """The integral of a piecewise polynomial."""
    return area(c, knots, axis, a, b)


def area(c: Any, knots: Any, axis: int, a: Any, b: Any) -> Any:
    width = along(np.diff(knots), c.ndim - 2)
    whole = np.stack([c[j] / (c.shape[0] - j) for j in range(c.shape[0])])
    areas = whole[0]
    for j in range(1, c.shape[0]):
        areas = areas * width + whole[j]
    start = np.cumsum(areas * width, axis=0)
    start = np.concatenate([np.zeros_like(start[:1]), start[:-1]])
    whole = np.concatenate([whole, start[None]])
    return polynomials(whole, knots, axis, False, b, 0) - polynomials(whole, knots, axis, False, a, 0)


def cubic(knots: Any, values: Any, slopes: Any) -> Any:
    """The coefficients of cubic polynomials with the given values and slopes at the knots."""
    h = along(np.diff(knots), values.ndim - 1)
    m = np.diff(values, axis=0) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * m) / h
    return np.stack([bend / h, (m - slopes[:-1]) / h - bend, slopes[:-1], values[:-1]])


class Table:
    """``interp1d(x, y, kind, fill_value=...)`` without a spline; `fill` is found outside, None continues lines."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, made: Any, kind: Any, fill: Any, axis: Any, x: Any, y: Any) -> None:
        self.made = made
        self.kind = kind
        self.fill = fill
        self.axis = axis
        self.x = x
        self.y = y

    def __call__(self, x: Any) -> Any:
        return looked_up(self.made, self.kind, self.fill, self.axis, self.x, self.y, x)


def looked_up(made: Any, kind: str, fill: Any, axis: int, knots: Any, values: Any, x: Any) -> Any:
    """The values of a table at places: on lines between its knots, or those at knots beside."""
    return table_at(kind, fill, axis, knots, values, x)


def table_at(kind: str, fill: Any, axis: int, knots: Any, values: Any, x: Any) -> Any:
    if kind == "linear":
        k = np.clip(np.searchsorted(knots, x) - 1, 0, len(knots) - 2)
        t = along((x - knots[k]) / (knots[k + 1] - knots[k]), values.ndim - 1)
        y = values[k] + t * (values[k + 1] - values[k])
    else:
        y = values[beside(kind, knots, x)]
    if fill is not None:
        y = np.where(along(x < knots[0], values.ndim - 1), fill[0], y)
        y = np.where(along(x > knots[-1], values.ndim - 1), fill[1], y)
    return placed(y, axis, np.ndim(x))


def beside(kind: str, knots: Any, x: Any) -> Any:
    """The indices of the knots whose values a table has at places."""
    if kind == "previous":
        return np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 1)
    if kind == "next":
        return np.clip(np.searchsorted(knots, x), 0, len(knots) - 1)
    return np.searchsorted(0.5 * (knots[1:] + knots[:-1]), x, "left" if kind == "nearest" else "right")


# Slopes at the knots


def smooth(first: Any, last: Any, knots: Any, values: Any) -> Any:
    """The slopes of ``CubicSpline``, whose second derivatives are continuous.

    A condition at an end is the order and the value of a derivative; order 0 stands for none at the next knot.
    """
    h = along(np.diff(knots), values.ndim - 1)
    m = np.diff(values, axis=0) / h
    if len(knots) == 3 and first[0] == 0 and last[0] == 0:
        middle = (h[1] * m[0] + h[0] * m[1]) / (h[0] + h[1])
        return np.stack([2 * m[0] - middle, middle, 2 * m[1] - middle])
    h = np.diff(knots)
    a0, b0, right0 = at_edge(first[0], first[1], 1, h, m)
    a1, b1, right1 = at_edge(last[0], last[1], -1, h[::-1], m[::-1])
    bands = [
        np.concatenate([np.zeros(1), b0, h[:-1]]),
        np.concatenate([a0, 2 * (h[:-1] + h[1:]), a1]),
        np.concatenate([h[1:], b1, np.zeros(1)]),
    ]
    h = along(h, values.ndim - 1)
    inner = 3 * (h[1:] * m[:-1] + h[:-1] * m[1:])
    edge = (1, *values.shape[1:])
    return linalg.solve_banded(
        (1, 1), np.stack(bands), np.concatenate([np.reshape(right0, edge), inner, np.reshape(right1, edge)])
    )


def at_edge(order: int, value: Any, side: int, h: Any, m: Any) -> Any:
    """The equation for the slope at an end: its factor, that of the slope beside it, and the right side."""
    if order == 0 and len(h) == 1:
        return np.ones(1), np.zeros(1), m[0]
    if order == 0:
        wide = h[0] + h[1]
        return h[1:2], h[:1] + h[1:2], ((h[0] + 2 * wide) * h[1] * m[0] + h[0] ** 2 * m[1]) / wide
    if order == 1:
        return np.ones(1), np.zeros(1), value + np.zeros_like(m[0])
    return 2 * h[:1], h[:1], 3 * h[0] * m[0] - side * 0.5 * value * h[0] ** 2


def cyclic(knots: Any, values: Any) -> Any:
    """The slopes of a ``CubicSpline`` that is periodic."""
    h = np.diff(knots)
    m = np.diff(values, axis=0) / along(h, values.ndim - 1)
    before, ahead = np.roll(h, 1), along(h, values.ndim - 1)
    matrix = np.diag(2 * (before + h)) + np.roll(np.diag(h), -1, 1) + np.roll(np.diag(before), 1, 1)
    right = 3 * (ahead * np.roll(m, 1, 0) + np.roll(ahead, 1, 0) * m)
    slopes = np.linalg.solve(matrix, right)
    return np.concatenate([slopes, slopes[:1]])


def monotone(knots: Any, values: Any) -> Any:
    """The slopes of ``PchipInterpolator``: weighted harmonic means, 0 at extremes."""
    h = along(np.diff(knots), values.ndim - 1)
    m = np.diff(values, axis=0) / h
    if len(knots) == 2:
        return np.concatenate([m, m])
    flat = m[1:] * m[:-1] <= 0
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    before, behind = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    inner = np.where(flat, 0.0, (w1 + w2) / (w1 / before + w2 / behind))
    first, last = at_end(h[0], h[1], m[0], m[1]), at_end(h[-1], h[-2], m[-1], m[-2])
    return np.concatenate([first[None], inner, last[None]])


def at_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """A slope at an end, by three points, which keeps the shape."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(steep, 3 * m0, d))


def akima(knots: Any, values: Any) -> Any:
    """The slopes of ``Akima1DInterpolator``."""
    inner = np.diff(values, axis=0) / along(np.diff(knots), values.ndim - 1)
    before, behind = 2 * inner[0] - inner[1], 2 * inner[-1] - inner[-2]
    m = np.concatenate([np.stack([2 * before - inner[0], before]), inner, np.stack([behind, 2 * behind - inner[-1]])])
    change = np.abs(np.diff(m, axis=0))
    f1, f2 = change[2:], change[:-2]
    bent = f1 + f2 > 1e-9 * np.max(f1 + f2)
    total = np.where(bent, f1 + f2, 1.0)
    return np.where(bent, m[1:-2] + f2 / total * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


def increasing(knots: Any) -> None:
    """Raise unless knots increase: SciPy sorts others, and their derivatives would have to be sorted, too."""
    if np.any(np.diff(knots) <= 0):
        raise NotDifferentiable(
            "the knots of an interpolation do not increase", "sort them, and the values with them", code="setting"
        )


def barycentric(xi: Any, yi: Any, weights: Any, x: Any) -> Any:
    """The values of SciPy's `BarycentricInterpolator` of points, their values and their weights, at the places `x`."""
    made = object.__new__(interpolate.BarycentricInterpolator)
    made.xi, made.yi, made.wi, made.r, made.dtype = xi, yi, weights, yi.shape[1], yi.dtype
    return made._evaluate(x)


def lagrange(xi: Any, yi: Any, x: Any) -> Any:
    """The polynomial through points, as sums of products that are smooth at the points, too (Lagrange's form)."""
    total = 0.0
    for j in range(len(xi)):
        basis = np.ones_like(x)
        for k in range(len(xi)):
            if k != j:
                basis = basis * ((x - xi[k]) / (xi[j] - xi[k]))
        total = total + basis[:, None] * yi[j]
    return total
