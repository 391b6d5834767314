"""Splines that a differentiated program makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NotDifferentiable

__all__ = ["Line", "Spline", "increasing"]


class Spline:
    """``CubicSpline(knots, values, bc_type)``, evaluated where it is called."""

    stands_for = "a spline of scipy.interpolate"

    def __init__(self, condition: Any, knots: Any, values: Any) -> None:
        self.condition = condition
        self.knots = knots
        self.values = values

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        from ..rules.scipy.interpolation import spline_at

        return spline_at(self.condition, self.knots, self.values, x, nu)

    def derivative(self, nu: Any = 1) -> Any:
        return Derivative(self, nu)


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
        from ..rules.scipy.interpolation import line_at

        return line_at(self.knots, self.values, x)


def increasing(knots: Any) -> None:
    """Raise unless knots increase: SciPy sorts others, and their derivatives would have to be sorted, too."""
    if np.any(np.diff(knots) <= 0):
        raise NotDifferentiable("the knots of an interpolation do not increase", "sort them, and the values with them")
