"""Splines of ``scipy.interpolate`` that exist outside a program, by the places where they are evaluated."""

from ..table import elementwise


def evaluated(spline, x, nu):
    """A spline that exists outside, at places."""
    return spline(x, nu)


evaluated.stands_for = "a spline of scipy.interpolate"  # type: ignore[attr-defined]


@elementwise(evaluated)
def of_evaluated(y, d, spline, x, nu):
    return None, d * evaluated(spline, x, nu + 1)
