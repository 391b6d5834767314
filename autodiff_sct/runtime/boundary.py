"""Seeds that a caller gives: checked against the output that they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentValueError

__all__ = ["seed"]


def seed(given: Any, output: Any) -> Any:
    """`given` as a cotangent of `output`: of its shape, and in its dtype.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    if isinstance(output, (list, tuple)):
        return [seed(g, o) for g, o in zip(given, output, strict=True)]
    if np.shape(given) != np.shape(output):
        raise ArgumentValueError(
            f"a seed of shape {np.shape(given)} was given for an output of shape {np.shape(output)}"
        )
    if isinstance(output, np.ndarray):
        return np.asarray(given, dtype=output.dtype if output.dtype.kind in "fc" else None)
    if isinstance(output, np.generic):
        return output.dtype.type(given)
    return complex(given) if isinstance(output, complex) else float(given)
