"""Making tensors, random ones too, and putting values into parameters.

What makes a tensor goes through NumPy's ``like`` functions with `ORIGIN`: it is a tensor outside compiled code and an
array inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.process_state import generator
from ..tensor import Parameter, Tensor, from_numpy

__all__ = [
    "arange",
    "assign",
    "assign_add",
    "assign_sub",
    "cast",
    "dropout",
    "eye",
    "fill",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "normal",
    "ones",
    "ones_like",
    "rand",
    "randint",
    "randn",
    "standard_normal",
    "uniform",
    "zeros",
    "zeros_like",
]

ORIGIN = Tensor(0.0)


def zeros(size: Any, dtype: Any = None) -> Any:
    """Zeros, float32 unless told otherwise."""
    return np.zeros_like(ORIGIN, dtype=dtype, shape=size)


def ones(shape: Any, dtype: Any = None) -> Any:
    """Ones, float32 unless told otherwise."""
    return np.ones_like(ORIGIN, dtype=dtype, shape=shape)


def full(size: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One number everywhere, float32 unless told otherwise."""
    return np.ones_like(ORIGIN, dtype=dtype, shape=size) * fill_value


def fill(type: Any, shape: Any, value: Any) -> Any:
    """One number everywhere."""
    return np.ones_like(ORIGIN, dtype=type, shape=shape) * value


def zeros_like(input: Any, dtype: Any = None) -> Any:
    """Zeros of the shape of a tensor."""
    return np.zeros_like(input, dtype=dtype)


def ones_like(input: Any, dtype: Any = None) -> Any:
    """Ones of the shape of a tensor."""
    return np.ones_like(input, dtype=dtype)


def full_like(input: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One number everywhere in the shape of a tensor."""
    return np.full_like(input, fill_value, dtype=dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers at equal steps, up to and without `end`; int64, or float32 where one is a float."""
    first, last = (0, start) if end is None else (start, end)
    if dtype is None and isinstance(first + last + step, float):
        dtype = np.float32
    return np.arange(first, last, step, dtype=dtype, like=ORIGIN)


def linspace(start: Any, end: Any, steps: int) -> Any:
    """`steps` numbers at equal distances, `end` included; float32."""
    return start + (end - start) * np.arange(0, steps, dtype=np.float32, like=ORIGIN) / (steps - 1 if steps > 1 else 1)


def eye(n: int, m: int | None = None, dtype: Any = None) -> Any:
    """The identity matrix."""
    return np.eye(n, m, dtype=np.float32 if dtype is None else dtype, like=ORIGIN)


def meshgrid(*inputs: Any, indexing: Any = "xy") -> Any:
    """Coordinates on a grid."""
    return tuple(np.meshgrid(*inputs, indexing=indexing))


def cast(input: Any, dtype: Any) -> Any:
    """The elements in another dtype."""
    return input.astype(dtype)


def assign(variable: Parameter, value: Any) -> Parameter:
    """Replace a parameter's value."""
    return variable.set_data(value)


def assign_add(variable: Parameter, value: Any) -> Parameter:
    """Add to a parameter's value."""
    return variable.set_data(variable + value)


def assign_sub(variable: Parameter, value: Any) -> Parameter:
    """Subtract from a parameter's value."""
    return variable.set_data(variable - value)


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
