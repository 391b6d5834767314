"""Rules for reading elements by index, by mask or by place in a matrix; all of them are linear in what they read.

The adjoint of a read adds the cotangent at the places that were read: several times where one was read several times.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from ..runtime import diagonal_adjoint, gather_adjoint, stored, zeros_like
from ..runtime.scatter import strided_places
from .elementwise import is_literal
from .shape import along
from .table import broadcasting, forward, linear, reverse, static

broadcasting(np.select, gather_adjoint, diagonal_adjoint)

# Indices


@linear(operator.getitem)
def getitem(y, d, x, index):
    return gather_adjoint(d, x, index)


@reverse(gather_adjoint)
def gather_adjoint_rule(y, d, cotangent, x, index):
    return d[index], 0.0 if isinstance(x, np.ndarray) else zeros_like(x)


@forward(gather_adjoint)
def push_gather_adjoint(y, d, cotangent, x, index):
    return gather_adjoint(d, x, index), 0.0


@linear(stored)
def stored_rule(y, d, shadow, index):
    lasting = stored(np.ones_like(shadow), index)
    return gather_adjoint(d * lasting, shadow, index)


@linear(np.take, np.ndarray.take)
def take(y, d, a, indices, axis=None, *, mode="raise"):
    if axis is None:
        return np.reshape(gather_adjoint(d, np.ravel(a), within(indices, np.size(a), mode)), np.shape(a))
    return gather_adjoint(d, a, along(within(indices, a.shape[axis], mode), axis, a.ndim))


def within(indices, size, mode):
    """`indices` as ordinary ones, in the way that `mode` says."""
    if mode == "raise":
        return indices
    return np.asarray(indices) % size if mode == "wrap" else np.clip(indices, 0, size - 1)


@linear(np.take_along_axis)
def take_along_axis(y, d, arr, indices, axis=-1):
    if axis is None:
        return np.reshape(gather_adjoint(d, np.ravel(arr), indices), arr.shape)
    return gather_adjoint(d, arr, places_along(indices, arr.shape, axis % arr.ndim))


def places_along(indices, shape, axis):
    """The full index that ``take_along_axis`` reads at: `indices` on one axis, every position on the others."""
    every = np.ix_(*[np.arange(n) for n in shape])
    return every[:axis] + (indices,) + every[axis + 1 :]


def places_flat(index, shape):
    """The index into an array that one number stands for in ``a.flat``, also one that counts from the end."""
    size = math.prod(shape)
    index = np.asarray(index)
    return np.unravel_index(np.where(index < 0, index + size, index), shape)


# Masks and choices


@reverse(np.compress)
def compress(y, d, condition, a, axis=None):
    return None, picked_adjoint(d, a, np.flatnonzero(condition), axis)


@forward(np.compress)
def push_compress(y, d, condition, a, axis=None):
    return None, np.compress(condition, d, axis)


@reverse(np.extract)
def extract(y, d, condition, arr):
    return None, picked_adjoint(d, arr, np.flatnonzero(condition), None)


@forward(np.extract)
def push_extract(y, d, condition, arr):
    return None, np.extract(condition, d)


def picked_adjoint(d, a, places, axis):
    """The adjoint of picking `places` along `axis`, or from all elements."""
    if axis is None:
        return np.reshape(gather_adjoint(d, np.ravel(a), places), np.shape(a))
    return gather_adjoint(d, a, along(places, axis, a.ndim))


@reverse(np.choose)
def choose(y, d, a, choices, *, mode="raise"):
    number = within(np.array(a) if isinstance(a, (list, tuple)) else a, len(choices), mode)
    if isinstance(choices, np.ndarray):
        return None, np.stack([np.where(number == k, d, 0.0) for k in range(len(choices))])
    return None, [np.where(number == k, d, 0.0) for k in range(len(choices))]


@forward(np.choose)
def push_choose(y, d, a, choices, *, mode="raise"):
    if isinstance(choices, (list, tuple)):  # `d` is that of one item
        number = within(np.array(a) if isinstance(a, (list, tuple)) else a, len(choices), mode)
        return None, [np.where(number == k, d, 0.0) for k in range(len(choices))]
    return None, np.choose(a, d, mode=mode)


@reverse(np.select)
def select(y, d, condlist, choicelist, default=0):
    first = first_true(condlist)
    parts = [np.where(first == k, d, 0.0) for k in range(len(choicelist))]
    return None, parts, np.where(first == len(choicelist), d, 0.0)


@forward(np.select)
def push_select(y, d, condlist, choicelist, default=0):
    first = first_true(condlist)
    if isinstance(choicelist, (list, tuple)):  # `d` is that of one item
        parts = [np.where(first == k, d, 0.0) for k in range(len(choicelist))]
    else:
        parts = np.select(condlist, d)
    return None, parts, np.where(first == len(choicelist), d, 0.0)


def first_true(condlist):
    """The number of the first condition that holds, or of all where none does."""
    return np.select(condlist, list(range(len(condlist))), len(condlist))


# Diagonals and triangles


@linear(np.diagonal, np.ndarray.diagonal)
def diagonal(y, d, a, offset=0, axis1=0, axis2=1):
    if a.ndim == 2 and is_square(a) and is_literal(offset) and offset == 0 and axis1 % 2 != axis2 % 2:
        return np.diag(d)
    return on_diagonal(d, a, offset, axis1, axis2)


@linear(np.linalg.diagonal)
def linalg_diagonal(y, d, x, *, offset=0):
    return on_diagonal(d, x, offset, -2, -1)


@linear(np.trace, np.ndarray.trace)
def trace(y, d, a, offset=0, axis1=0, axis2=1, dtype=None):
    return on_diagonal(d if a.ndim == 2 else d[..., None], a, offset, axis1, axis2)


@linear(np.linalg.trace)
def linalg_trace(y, d, x, *, offset=0, dtype=None):
    return on_diagonal(d if x.ndim == 2 else d[..., None], x, offset, -2, -1)


def on_diagonal(d, a, offset, axis1, axis2):
    """An array like `a` with `d` on its diagonals and zero elsewhere."""
    if a.ndim == 2 and axis1 % 2 == 0:
        return diagonal_adjoint(d, a) if is_literal(offset) and offset == 0 else diagonal_adjoint(d, a, offset)
    last = np.moveaxis(a, (axis1, axis2), (-2, -1))
    return np.moveaxis(gather_adjoint(d, last, (..., *diagonal_places(last.shape, offset))), (-2, -1), (axis1, axis2))


@reverse(diagonal_adjoint)
def diagonal_adjoint_rule(y, d, cotangent, x, offset=0):
    return np.diag(d, offset) if np.ndim(cotangent) else np.trace(d, offset), 0.0


@forward(diagonal_adjoint)
def push_diagonal_adjoint(y, d, cotangent, x, offset=0):
    return diagonal_adjoint(d, x, offset), 0.0


def diagonal_places(shape, offset):
    """The rows and the columns of a diagonal."""
    place = np.arange(max(0, min(shape[-2] + min(offset, 0), shape[-1] - max(offset, 0))))
    return place - min(offset, 0), place + max(offset, 0)


@linear(np.diag)
def diag(y, d, v, k=0):
    if v.ndim == 2 and is_square(v) and is_literal(k) and k == 0:
        return np.diag(d)
    return np.diagonal(d, k) if v.ndim == 1 else on_diagonal(d, v, k, 0, 1)


@static
def is_square(a) -> bool:
    """True if a matrix has as many rows as columns; a compiler says no where it cannot know."""
    return bool(a.shape[0] == a.shape[1])


@linear(np.diagflat)
def diagflat(y, d, v, k=0):
    return np.reshape(np.diagonal(d, k), np.shape(v))


@linear(np.tril)
def tril(y, d, m, k=0):
    return np.tril(d, k)


@linear(np.triu)
def triu(y, d, m, k=0):
    return np.triu(d, k)


# Windows


@linear(sliding_window_view)
def sliding_windows(y, d, x, window_shape, axis=None):
    places = sliding_window_view(np.reshape(np.arange(x.size), x.shape), window_shape, axis)
    return np.reshape(gather_adjoint(d, np.ravel(x), places), x.shape)


@reverse(as_strided)
def strided(y, d, x, shape=None, strides=None, subok=False, writeable=True):
    return np.reshape(gather_adjoint(d, np.ravel(x), strided_places(x, shape, strides)), x.shape)


@forward(as_strided)
def strided_forward(y, d, x, shape=None, strides=None, subok=False, writeable=True):
    return np.ravel(d)[strided_places(x, shape, strides)]
