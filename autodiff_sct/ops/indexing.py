"""Picking elements by index or by order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .creation import arange, full

__all__ = [
    "gather",
    "gather_elements",
    "gather_nd",
    "one_hot",
    "sort",
    "topk",
]


def gather(input_params: Any, input_indices: Any, axis: int) -> Any:
    """The entries along an axis at indices."""
    return np.take(input_params, input_indices, axis)


def gather_elements(input: Any, dim: int, index: Any) -> Any:
    """For each place the element along an axis that an index names."""
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
    """For each index a row that is `on_value` there and `off_value` elsewhere."""
    rows = np.equal(np.expand_dims(indices, -1), arange(depth))
    return np.moveaxis(np.where(rows, full((), on_value), full((), off_value)), -1, axis)
