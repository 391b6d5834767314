"""Products of vectors with three components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedSyntax

__all__ = ["cross"]


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """``np.cross`` of vectors with three components.

    Raises
    ------
    UnsupportedSyntax
        If the vectors have two, whose product is a number: a program is compiled before it meets its vectors.
    """
    places = (axisa, axisb) if axis is None else (axis, axis)
    if any(np.ndim(x) == 0 or np.shape(x)[place] != 3 for x, place in zip((a, b), places)):
        raise UnsupportedSyntax(
            "np.cross of vectors of two components cannot be followed",
            "write `a[0] * b[1] - a[1] * b[0]`",
            code="setting",
        )
    return np.cross(a, b, axisa, axisb, axisc, axis)
