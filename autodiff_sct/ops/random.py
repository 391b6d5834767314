"""Random numbers, of the generator that `set_seed` starts: constants to derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.process_state import generator
from ..tensor import from_numpy

__all__ = ["dropout", "normal", "rand", "randint", "randn", "standard_normal", "uniform"]


def rand(*size: int, dtype: Any = None) -> Any:
    """Uniform numbers between 0 and 1, float32 unless told otherwise."""
    return drawn(generator().random(size), dtype)


def randn(*size: int, dtype: Any = None) -> Any:
    """Standard normal numbers, float32 unless told otherwise."""
    return drawn(generator().standard_normal(size), dtype)


def standard_normal(shape: Any) -> Any:
    """Standard normal numbers, float32."""
    return drawn(generator().standard_normal(shape), None)


def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Any:
    """Normal numbers, float32."""
    return mean + stddev * drawn(generator().standard_normal(shape), None)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = None) -> Any:
    """Uniform numbers between two bounds, float32 unless told otherwise."""
    return minval + (maxval - minval) * drawn(generator().random(shape), dtype)


def randint(low: int, high: int, size: Any, dtype: Any = None) -> Any:
    """Random integers from `low` up to and without `high`, int64 unless told otherwise."""
    return drawn(generator().integers(low, high, size), np.int64 if dtype is None else dtype)


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: Any = None) -> Any:
    """The elements divided by ``1 - p``, each zero with probability `p`; the input itself outside training."""
    if not training:
        return input
    return np.where(generator().random(input.shape) < p, 0, input / (1 - p))


def drawn(values: Any, dtype: Any) -> Any:
    """Random numbers as a tensor."""
    return from_numpy(values.astype(np.float32 if dtype is None else dtype))
