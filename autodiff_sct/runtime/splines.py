"""Splines that a differentiated program makes."""

from __future__ import annotations

from typing import Any

__all__ = ["Spline"]


class Spline:
    """``CubicSpline(knots, values, bc_type)``, evaluated where it is called."""

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

    def __init__(self, spline: Any, order: Any) -> None:
        self.spline = spline
        self.order = order

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        return self.spline(x, self.order + nu)
