"""Rules for padding, inserting and deleting.

Where each element went is found by doing the same to the elements' positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime import gather_adjoint, unpad
from .shape import along
from .table import forward, linear, reverse, static


@reverse(np.pad)
def pad(y, d, array, pad_width, mode="constant", *, constant_values=0):
    if mode in ("constant", "empty"):
        inner = d[core(pad_width, d.ndim)]
        return inner, None, None, outside(d, inner, constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise NoRule("np.pad is differentiable in the modes constant, edge, reflect, symmetric and wrap")
    return unpad(d, pad_width, mode)


@linear(unpad)
def unpad_rule(y, d, cotangent, pad_width, mode):
    return np.pad(d, pad_width, mode)


@forward(np.pad)
def push_pad(y, d, array, pad_width, mode="constant", *, constant_values=0):
    return np.pad(d, pad_width, mode), None, None, np.pad(np.zeros_like(array), pad_width, constant_values=d)


def outside(d, inner, constant_values):
    """The cotangent of the number that the padding is filled with."""
    if np.ndim(constant_values) > 0:
        raise NoRule("np.pad is differentiable with one number as constant_values: pad each side by itself")
    return np.sum(d) - np.sum(inner)


@static
def pad_widths(pad_width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """``pad_width`` as a pair for each axis."""
    pairs = np.broadcast_to(pad_width, (ndim, 2)).tolist()
    return tuple((before, after) for before, after in pairs)


@static
def core(pad_width: Any, ndim: int) -> tuple[slice, ...]:
    """The index of the part of a padded array that is not padding."""
    return tuple(slice(before, -after or None) for before, after in pad_widths(pad_width, ndim))


@linear(np.delete)
def delete(y, d, arr, obj, axis=None):
    if axis is None:
        return np.reshape(put_back(d, np.ravel(arr), obj, 0), np.shape(arr))
    return put_back(d, arr, obj, axis)


def put_back(d, a, obj, axis):
    """`d` at the places along `axis` that ``np.delete(a, obj)`` keeps, zero at the others."""
    kept = np.delete(np.arange(a.shape[axis]), obj)
    return gather_adjoint(d, a, along(kept, axis, a.ndim))


@reverse(np.insert)
def insert(y, d, arr, obj, values, axis=None):
    if axis is None:
        kept, placed = insertion_places(obj, np.size(arr), y.size)
        return np.reshape(d[kept], np.shape(arr)), None, d[placed]
    kept, placed = insertion_places(obj, arr.shape[axis], y.shape[axis])
    new = np.take(d, placed, axis)
    # For one integer place, NumPy takes the rows of `values` to be what goes in one after the other.
    return (
        np.take(d, kept, axis),
        None,
        np.moveaxis(new, axis, 0) if np.ndim(obj) == 0 and not isinstance(obj, slice) else new,
    )


def insertion_places(obj, old, new):
    """The places of the `old` elements and of the inserted ones among the `new`."""
    order = np.argsort(np.insert(np.arange(old), obj, np.arange(old - new, 0)))
    return order[new - old :], order[: new - old]


@forward(np.insert)
def push_insert(y, d, arr, obj, values, axis=None):
    return np.insert(d, obj, np.zeros_like(values), axis), None, np.insert(np.zeros_like(arr), obj, d, axis)
