"""Comparison, selection and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .creation import arange, full

__all__ = [
    "clamp",
    "clip_by_value",
    "equal",
    "gather",
    "gather_elements",
    "gather_nd",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "masked_fill",
    "maximum",
    "minimum",
    "not_equal",
    "one_hot",
    "select",
    "sort",
    "topk",
    "where",
]


def equal(input: Any, other: Any) -> Any:
    """True where two tensors are equal."""
    return np.equal(input, other)


def not_equal(input: Any, other: Any) -> Any:
    """True where two tensors differ."""
    return np.not_equal(input, other)


def greater(input: Any, other: Any) -> Any:
    """True where `input` is greater."""
    return np.greater(input, other)


def greater_equal(input: Any, other: Any) -> Any:
    """True where `input` is greater or equal."""
    return np.greater_equal(input, other)


def less(input: Any, other: Any) -> Any:
    """True where `input` is less."""
    return np.less(input, other)


def less_equal(input: Any, other: Any) -> Any:
    """True where `input` is less or equal."""
    return np.less_equal(input, other)


def logical_and(input: Any, other: Any) -> Any:
    """True where both are true."""
    return np.logical_and(input, other)


def logical_or(input: Any, other: Any) -> Any:
    """True where either is true."""
    return np.logical_or(input, other)


def logical_not(input: Any) -> Any:
    """True where `input` is false."""
    return np.logical_not(input)


def maximum(input: Any, other: Any) -> Any:
    """The larger of two; ties share the derivative evenly."""
    return np.maximum(input, other)


def minimum(input: Any, other: Any) -> Any:
    """The smaller of two; ties share the derivative evenly."""
    return np.minimum(input, other)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """The elements held within bounds."""
    return np.clip(input, min, max)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """The elements held within bounds."""
    return np.clip(x, clip_value_min, clip_value_max)


def where(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, else `other`."""
    return np.where(condition, input, other)


def select(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, else `other`."""
    return np.where(condition, input, other)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`value` where the mask is true, else `input`."""
    return np.where(mask, value, input)


def gather(input_params: Any, input_indices: Any, axis: int) -> Any:
    """The entries along an axis at indices."""
    return np.take(input_params, input_indices, axis)


def gather_elements(input: Any, dim: int, index: Any) -> Any:
    """The elements along an axis that an index of places names."""
    return np.take_along_axis(input, index, dim)


def gather_nd(input_x: Any, indices: Any) -> Any:
    """The entries whose places the last axis of `indices` holds."""
    return input_x[tuple(indices[..., k] for k in range(indices.shape[-1]))]


def sort(input_x: Any, axis: int | None = None, descending: bool = False) -> Any:
    """The elements in order along an axis (the last), and where they were."""
    if axis is None:
        axis = -1
    order = np.argsort(-input_x if descending else input_x, axis, kind="stable")
    return np.take_along_axis(input_x, order, axis), order


def topk(input: Any, k: int, dim: int | None = None) -> Any:
    """The `k` largest elements along an axis (the last), and where they are."""
    if dim is None:
        dim = -1
    order = np.take(np.argsort(-input, dim, kind="stable"), np.arange(k), dim)
    return np.take_along_axis(input, order, dim), order


def one_hot(indices: Any, depth: int, on_value: Any = 1.0, off_value: Any = 0.0, axis: int = -1) -> Any:
    """Rows for indices: `on_value` at the index and `off_value` elsewhere."""
    rows = np.equal(np.expand_dims(indices, -1), arange(depth))
    return np.moveaxis(np.where(rows, full((), on_value), full((), off_value)), -1, axis)
