"""Powers of Python's floats in derivatives: among the real numbers, and infinite where NumPy's are."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ArgumentValueError

__all__ = ["real_power"]


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
