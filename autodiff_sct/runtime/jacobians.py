"""Jacobians of functions inside differentiated programs: loops over unit vectors, which the compiler inlines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["columns", "rows"]


def rows(
    pull: Callable[..., Any], y: np.ndarray, before: tuple[Any, ...], after: tuple[Any, ...], inputs: tuple[Any, ...]
) -> tuple[np.ndarray, ...]:
    """The derivative of the array `y` by each input.

    `pull` maps vectors for all outputs to the tuple of the gradients by the inputs; `before` and `after` are zeros for
    the outputs on either side of `y`.
    """
    tables = tuple([np.zeros((y.size, *np.shape(x)), dtype_of(x)) for x in inputs])
    for number in range(y.size):
        unit = np.zeros(y.size, y.dtype)
        unit[number] = 1
        for table, gradient in zip(tables, pull(*before, unit.reshape(y.shape), *after)):
            table[number] = gradient
    return tuple([table.reshape((*y.shape, *np.shape(x))) for table, x in zip(tables, inputs)])


def columns(
    push: Callable[..., Any], x: np.ndarray, before: tuple[Any, ...], after: tuple[Any, ...], outputs: tuple[Any, ...]
) -> tuple[np.ndarray, ...]:
    """The derivative of each output by the array `x`.

    `push` maps vectors for all inputs to the tuple of the tangents of the outputs; `before` and `after` are zeros for
    the inputs on either side of `x`.
    """
    tables = tuple([np.zeros((*np.shape(y), x.size), dtype_of(y)) for y in outputs])
    for number in range(x.size):
        unit = np.zeros(x.size, x.dtype)
        unit[number] = 1
        for table, tangent in zip(tables, push(*before, unit.reshape(x.shape), *after)):
            table[..., number] = tangent
    return tuple([table.reshape((*np.shape(y), *x.shape)) for table, y in zip(tables, outputs)])


def dtype_of(x: Any) -> Any:
    """The dtype of an array or a number."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype
    return np.complex128 if isinstance(x, complex) else np.float64
