"""Splines that a differentiated program makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ...errors import NotDifferentiable

__all__ = ["Interpolant", "Line", "Piecewise", "Spline", "increasing"]


class Spline:
    """``CubicSpline(knots, values, bc_type)``, evaluated where it is called."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, condition: Any, knots: Any, values: Any) -> None:
        self.condition = condition
        self.knots = knots
        self.values = values

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        return spline_at(self.condition, self.knots, self.values, x, nu)

    def derivative(self, nu: Any = 1) -> Any:
        return Derivative(self, nu)


class Interpolant:
    """A spline of some degree through all values, by the function of SciPy that makes it."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, maker: Any, knots: Any, values: Any) -> None:
        self.maker = maker
        self.knots = knots
        self.values = values

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        if nu != 0 and self.maker[0] != "make_interp_spline":
            raise NotDifferentiable("the slopes of this spline have no derivative", "use make_interp_spline(x, y)")
        return spline_at(self.maker, self.knots, self.values, x, nu)


class Piecewise:
    """A cubic polynomial between any two knots, with `slopes` at the knots that follow from the values."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, made: Any, knots: Any, values: Any, slopes: Any) -> None:
        self.made = made
        self.knots = knots
        self.values = values
        self.slopes = slopes

    def __call__(self, x: Any) -> Any:
        return hermite(self.made, self.knots, self.values, self.slopes, x)


def hermite(made: Any, knots: Any, values: Any, slopes: Any, x: Any) -> Any:
    """The polynomials at places."""
    k = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
    width = knots[k + 1] - knots[k]
    t = (x - knots[k]) / width
    first = (1 + 2 * t) * (1 - t) ** 2 * values[k] + t * (1 - t) ** 2 * width * slopes[k]
    return first + t**2 * (3 - 2 * t) * values[k + 1] + t**2 * (t - 1) * width * slopes[k + 1]


def monotone(knots: Any, values: Any) -> Any:
    """The slopes of ``PchipInterpolator``: weighted harmonic means, 0 at extremes."""
    h = np.diff(knots)
    m = np.diff(values) / h
    if len(knots) == 2:
        return np.concatenate([m, m])
    flat = m[1:] * m[:-1] <= 0
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    before, behind = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    inner = np.where(flat, 0.0, (w1 + w2) / (w1 / before + w2 / behind))
    first, last = at_end(h[0], h[1], m[0], m[1]), at_end(h[-1], h[-2], m[-1], m[-2])
    return np.concatenate([np.reshape(first, 1), inner, np.reshape(last, 1)])


def at_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """A slope at an end, by three points, which keeps the shape."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(steep, 3 * m0, d))


def akima(knots: Any, values: Any) -> Any:
    """The slopes of ``Akima1DInterpolator``."""
    inner = np.diff(values) / np.diff(knots)
    before, behind = 2 * inner[0] - inner[1], 2 * inner[-1] - inner[-2]
    ahead = [2 * before - inner[0], before]
    after = [behind, 2 * behind - inner[-1]]
    m = np.concatenate([np.array(ahead), inner, np.array(after)])
    change = np.abs(np.diff(m))
    f1, f2 = change[2:], change[:-2]
    bent = f1 + f2 > 1e-9 * np.max(f1 + f2)
    total = np.where(bent, f1 + f2, 1.0)
    return np.where(bent, m[1:-2] + f2 / total * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


class Derivative:
    """A derivative of a spline."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, spline: Any, order: Any) -> None:
        self.spline = spline
        self.order = order

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        return self.spline(x, self.order + nu)


class Line:
    """``interp1d(knots, values)``, evaluated where it is called."""

    stands_for = "an interpolation of scipy.interpolate"

    def __init__(self, knots: Any, values: Any) -> None:
        self.knots = knots
        self.values = values

    def __call__(self, x: Any) -> Any:
        return line_at(self.knots, self.values, x)


def increasing(knots: Any) -> None:
    """Raise unless knots increase: SciPy sorts others, and their derivatives would have to be sorted, too."""
    if np.any(np.diff(knots) <= 0):
        raise NotDifferentiable("the knots of an interpolation do not increase", "sort them, and the values with them")


# Operations that have a rule


def spline_at(condition: Any, knots: Any, values: Any, x: Any, nu: Any) -> Any:
    """The spline ``CubicSpline(knots, values, bc_type=condition)`` at places, or one of a degree."""
    if isinstance(condition, tuple):
        return interpolate.make_interp_spline(knots, values, condition[1])(x, nu)
    return interpolate.CubicSpline(knots, values, bc_type=condition)(x, nu)


spline_at.stands_for = "a spline of scipy.interpolate"  # type: ignore[attr-defined]


def line_at(knots: Any, values: Any, x: Any) -> Any:
    """``interp1d(knots, values)`` at places."""
    return interpolate.interp1d(knots, values)(x)


line_at.stands_for = "scipy.interpolate.interp1d"  # type: ignore[attr-defined]
