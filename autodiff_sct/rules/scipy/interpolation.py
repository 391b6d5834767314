"""Splines of ``scipy.interpolate``: by the places where they are evaluated, and by the values that they go through.

A spline through values is linear in them, for knots and conditions at the ends that stay: its matrix is the splines
through the unit vectors.
"""

import numpy as np

from ...runtime.scipy.splines import line_at, spline_at
from .. import scan
from ..table import elementwise, forward, reverse


def evaluated(spline, x, nu):
    """A spline that exists outside, at places."""
    return spline(x, nu)


evaluated.stands_for = "a spline of scipy.interpolate"  # type: ignore[attr-defined]


@elementwise(evaluated)
def of_evaluated(y, d, spline, x, nu):
    return None, d * evaluated(spline, x, nu + 1)


@reverse(spline_at)
def of_spline_at(y, d, condition, knots, values, x, nu):
    return (
        None,
        None,
        np.tensordot(d, spline_at(condition, knots, np.eye(knots.size), x, nu), d.ndim),
        d * spline_at(condition, knots, values, x, nu + 1),
    )


@forward(spline_at)
def push_spline_at(y, d, condition, knots, values, x, nu):
    return None, None, spline_at(condition, knots, d, x, nu), d * spline_at(condition, knots, values, x, nu + 1)


@reverse(line_at)
def of_line_at(y, d, knots, values, x):
    d_x, d_knots, d_values, _, _ = scan.interp(y, d, x, knots, values)
    return d_knots, d_values, d_x


@forward(line_at)
def push_line_at(y, d, knots, values, x):
    t_x, t_knots, t_values, _, _ = scan.push_interp(y, d, x, knots, values)
    return t_knots, t_values, t_x
