"""Checks that raise what an operation raises where shapes do not fit, without its result."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_broadcast"]


def check_broadcast(*arrays: Any) -> None:
    """Raise what ``a + b + ...`` raises where the shapes of arrays do not fit.

    Raises
    ------
    ValueError
        In NumPy's words.

    >>> check_broadcast(np.ones((2, 3)), np.ones(4))
    Traceback (most recent call last):
    ValueError: operands could not be broadcast together with shapes (2,3) (4,)...
    """
    shape = arrays[0].shape
    for other in arrays[1:]:
        if shape != other.shape:
            try:
                shape = np.broadcast_shapes(shape, other.shape)
            except ValueError:
                np.add(np.broadcast_to(False, shape), np.broadcast_to(False, other.shape))
