"""Comparison, selection and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .creation import arange, full

__all__ = [
    "argsort",
    "clamp",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "equal",
    "gather",
    "gather_elements",
    "gather_nd",
    "greater",
    "greater_equal",
    "index_select",
    "isclose",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "masked_fill",
    "masked_select",
    "maximum",
    "minimum",
    "nonzero",
    "not_equal",
    "one_hot",
    "scatter_nd",
    "select",
    "sort",
    "tensor_scatter_add",
    "tensor_scatter_update",
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


def logical_xor(input: Any, other: Any) -> Any:
    """True where exactly one of two is true."""
    return np.logical_xor(input, other)


def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """True where two tensors are equal within tolerances."""
    return np.isclose(input, other, rtol, atol, equal_nan)


def argsort(input: Any, axis: int = -1, descending: bool = False) -> Any:
    """Positions of the elements in order along an axis."""
    return np.argsort(-input if descending else input, axis, kind="stable")


def clip_by_norm(x: Any, clip_norm: Any, axis: Any = None) -> Any:
    """The tensor, scaled down where its Euclidean norm along axes (all) is above a bound."""
    total = np.sqrt(np.sum(x * x, axis=axis, keepdims=True))
    return x * clip_norm / np.maximum(total, clip_norm)


def clip_by_global_norm(x: Any, clip_norm: Any = 1.0, use_norm: Any = None) -> Any:
    """Tensors, scaled down together where the root of the sum of all their squares is above a bound."""
    total = np.sqrt(sum([np.sum(item * item) for item in x])) if use_norm is None else use_norm
    return tuple([item * clip_norm / np.maximum(total, clip_norm) for item in x])


def index_select(input: Any, axis: int, index: Any) -> Any:
    """The entries along an axis at indices."""
    return np.take(input, index, axis)


def masked_select(input: Any, mask: Any) -> Any:
    """The elements where the mask is true, along one axis."""
    return input[mask]


def nonzero(input: Any) -> Any:
    """Indices of the elements that differ from 0, one element a row."""
    return np.stack(np.nonzero(input), axis=-1)


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros with `updates` added at the places that the last axis of `indices` holds."""
    y = np.zeros_like(updates, shape=shape)
    np.add.at(y, tuple(indices[..., k] for k in range(indices.shape[-1])), updates)
    return y


def tensor_scatter_add(input_x: Any, indices: Any, updates: Any) -> Any:
    """The tensor with `updates` added at the places that the last axis of `indices` holds."""
    y = np.copy(input_x)
    np.add.at(y, tuple(indices[..., k] for k in range(indices.shape[-1])), updates)
    return y


def tensor_scatter_update(input_x: Any, indices: Any, updates: Any) -> Any:
    """The tensor with `updates` at the places that the last axis of `indices` holds."""
    y = np.copy(input_x)
    y[tuple(indices[..., k] for k in range(indices.shape[-1]))] = updates
    return y
