"""Functions of Python's floats in derivatives: real powers, infinite where NumPy's are, and polygamma without SciPy."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ArgumentValueError

__all__ = ["polygamma", "real_power"]


def real_power(base: Any, exp: float) -> Any:
    """``base ** exp`` among the real numbers: of a negative number, Python's own power would be complex.

    >>> real_power(4.0, 0.5), real_power(0.0, -0.5)
    (2.0, inf)

    Raises
    ------
    ArgumentValueError
        If `base` is a Python float whose power is no real number; NumPy's power is NaN there.
    """
    if type(base) is not float:
        return base**exp
    try:
        return math.pow(base, exp)
    except OverflowError:
        return math.copysign(math.inf, math.copysign(1.0, base) ** exp)
    except ValueError:
        if base == 0:
            return math.inf
    raise ArgumentValueError(
        f"a power of a Python float below zero, {base!r} ** {exp + 1:g}, is complex, and so is its derivative: "
        "take the power of `abs(x)`, or of `np.float64(x)`, which is nan there"
    )


# The Bernoulli numbers B_2, B_4, ... of the asymptotic series.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def polygamma(order: int, x: float) -> float:
    """The derivative of order ``order + 1`` of ``lgamma`` at `x`; NaN at its poles.

    The reflection formula and the recurrence lead to a large argument, where the asymptotic series holds
    (Abramowitz and Stegun 6.3.7, 6.4.6, 6.4.11).
    """
    if x <= 0:
        if x == math.floor(x):
            return math.nan
        return (-1.0) ** order * polygamma(order, 1 - x) - math.pi ** (order + 1) * cotangent(order, math.pi * x)
    shifted, sign = 0.0, (-1.0) ** (order + 1)
    while x < 15 + order:
        shifted += sign * math.factorial(order) / x ** (order + 1)
        x += 1.0
    if order == 0:
        return shifted + math.log(x) - 1 / (2 * x) - sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(BERNOULLI, 1))
    total = math.factorial(order - 1) / x**order + math.factorial(order) / (2 * x ** (order + 1))
    for k, b in enumerate(BERNOULLI, 1):
        total += b * math.factorial(2 * k + order - 1) / (math.factorial(2 * k) * x ** (2 * k + order))
    return shifted + sign * total


def cotangent(order: int, x: float) -> float:
    """The derivative of the cotangent of some order, which is a polynomial in the cotangent."""
    polynomial = [0.0, 1.0]
    for _ in range(order):
        slope = [k * c for k, c in enumerate(polynomial)][1:]
        squared = [0.0, 0.0, *slope]
        polynomial = [-(a + b) for a, b in zip([*slope, 0.0, 0.0], squared)]
    cot = math.cos(x) / math.sin(x)
    return sum(c * cot**k for k, c in enumerate(polynomial))
