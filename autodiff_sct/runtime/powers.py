"""Powers of numbers of which only the run tells whether they are Python's or NumPy's."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["real_power"]


def real_power(base: Any, exp: float) -> Any:
    """``base ** exp`` among the real numbers: of a negative number, Python's own power would be complex.

    Raises
    ------
    ValueError
        If `base` is a Python float whose power is no real number; NumPy's power is NaN there.
    """
    return math.pow(base, exp) if type(base) is float else base**exp
