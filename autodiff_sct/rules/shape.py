"""Rules for functions that move, repeat, join or drop elements without computing on them.

All are linear, so each is stated by its transpose: what was moved is moved back, what was repeated is summed, what was
joined is parted again, and what was dropped gets zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime import gather_adjoint
from ..runtime.memory import writable
from .table import broadcasting, forward, linear, reverse, static

broadcasting(np.broadcast_to, np.broadcast_arrays)


@static
def upto(count: int) -> tuple[int, ...]:
    """The numbers below `count`, for a comprehension that is written out number by number."""
    return tuple(range(count))


# Same elements, other axes


def in_order(d, a, order):
    """`d` in the shape of `a`, from whose elements it was made in an order that does not depend on their memory."""
    if order not in ("C", "F") and np.ndim(a) > 1:
        raise NoRule("the order 'A' or 'K' depends on the memory of the array: use 'C' or 'F'")
    return np.reshape(d, np.shape(a), order="F") if order == "F" else np.reshape(d, np.shape(a))


@linear(np.reshape)
def reshape(y, d, a, shape, order="C"):
    return in_order(d, a, order)


@linear(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def ravel(y, d, a, order="C"):
    return in_order(d, a, order)


@linear(writable)
def same_view(y, d, view):
    return d


@linear(np.transpose)
def transpose(y, d, a, axes=None):
    return d.T if axes is None else np.transpose(d, inverse_permutation(axes))


@static
def inverse_permutation(axes: Any) -> tuple[int, ...]:
    """The axes that undo a transposition to `axes`, which is a number for ``x.transpose(0)``."""
    axes = (axes,) if np.ndim(axes) == 0 else axes
    return tuple(sorted(range(len(axes)), key=lambda k: axes[k] % len(axes)))


@linear(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(y, d, x):
    return np.swapaxes(d, -1, -2)


@linear(np.swapaxes, np.ndarray.swapaxes)
def swapaxes(y, d, a, axis1, axis2):
    return np.swapaxes(d, axis1, axis2)


@linear(np.moveaxis)
def moveaxis(y, d, a, source, destination):
    return np.moveaxis(d, destination, source)


@linear(np.rollaxis)
def rollaxis(y, d, a, axis, start=0):
    return np.moveaxis(d, rolled_place(axis, start, d.ndim), axis)


@static
def rolled_place(axis: int, start: int, ndim: int) -> int:
    """The place to which ``rollaxis`` moves `axis`."""
    axis, start = axis % ndim, start + ndim if start < 0 else start
    return start - 1 if axis < start else start


@linear(np.expand_dims)
def expand_dims(y, d, a, axis):
    return np.reshape(d, np.shape(a)) if isinstance(axis, list) else np.squeeze(d, axis)


@linear(np.squeeze, np.ndarray.squeeze)
def squeeze(y, d, a, axis=None):
    return np.reshape(d, np.shape(a)) if axis is None else np.expand_dims(d, axis)


@linear(np.flip)
def flip(y, d, m, axis=None):
    return np.flip(d, axis)


@linear(np.fliplr)
def fliplr(y, d, m):
    return np.fliplr(d)


@linear(np.flipud)
def flipud(y, d, m):
    return np.flipud(d)


@linear(np.rot90)
def rot90(y, d, m, k=1, axes=(0, 1)):
    return np.rot90(d, -k, axes)


@linear(np.roll)
def roll(y, d, a, shift, axis=None):
    back = [-step for step in shift] if isinstance(shift, (tuple, list)) else -shift
    return np.roll(d, back) if axis is None else np.roll(d, back, axis)


# Copies.  The engine casts an entry to the dtype of its input, which is all that the transpose of a cast does.


@linear(np.ndarray.astype)
def astype(y, d, a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    return d


if hasattr(np, "astype"):

    @linear(np.astype)
    def astype_function(y, d, x, dtype):
        return d


@linear(np.copy)
def copy(y, d, a, order="K"):
    return d


@linear(np.ndarray.copy)
def copied(y, d, a, order="C"):
    return d


@linear(np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.asarray_chkfinite)
def asarray(y, d, a, dtype=None):
    return rows(d, a)


@linear(np.array)
def array(y, d, object, dtype=None, *, order="K"):
    return rows(d, object)


def array_of_floats(y, d, object, dtype=None, *, order="K"):
    """The reverse of ``np.array`` of a list of Python's floats: their cotangents are Python's, too."""
    return d.tolist()


def asarray_of_floats(y, d, a, dtype=None):
    return d.tolist()


def rows(d, value):
    """The cotangent of what ``np.array`` was made from: of an array, a number, or a list nested four deep."""
    return [cells(d[k], value[k]) for k in range(len(value))] if isinstance(value, (list, tuple)) else d


def cells(d, value):
    return [deep_cells(d[k], value[k]) for k in range(len(value))] if isinstance(value, (list, tuple)) else d


def deep_cells(d, value):
    return [deepest(d[k], value[k]) for k in range(len(value))] if isinstance(value, (list, tuple)) else d


def deepest(d, value):
    return [leaf(d[k], value[k]) for k in range(len(value))] if isinstance(value, (list, tuple)) else d


def leaf(d, value):
    if isinstance(value, (list, tuple)):
        raise NoRule("np.array of lists nested more than four deep: build it by np.stack or np.reshape")
    return d


@linear(np.ndarray.item)
def item(y, d, a, *args):
    if len(args) == 0:
        return d
    if len(args) > 1:
        return gather_adjoint(d, a, args)
    if isinstance(args[0], tuple):
        return gather_adjoint(d, a, args[0])
    return gather_adjoint(d, a, np.unravel_index(args[0] % a.size, a.shape))


# Repetition: the adjoint sums over the copies.


@linear(np.broadcast_to)
def broadcast_to(y, d, array, shape):
    return d


@reverse(np.broadcast_arrays)
def broadcast_arrays(y, d, *args):
    return tuple(d)


@forward(np.broadcast_arrays)
def push_broadcast_arrays(y, d, *args):
    return (*[np.broadcast_arrays(*alone(d, k, args)) for k in upto(len(args))],)


def alone(d, k, arrays):
    """The tangents of all `arrays` where only the one at `k` has a tangent, `d`."""
    return [d if j == k else np.zeros_like(arrays[j]) for j in upto(len(arrays))]


@reverse(np.ix_)
def ix_(y, d, *args):
    return tuple(None if d[k] is None else np.ravel(d[k]) for k in upto(len(args)))


@forward(np.ix_)
def push_ix_(y, d, *args):
    return (*[np.ix_(*alone(d, k, args)) for k in upto(len(args))],)


@reverse(np.meshgrid)
def meshgrid(y, d, *xi, sparse=False, indexing="xy"):
    return tuple(
        None if d[k] is None else np.reshape(np.sum(d[k], mesh_axes(k, len(xi), indexing)), np.shape(xi[k]))
        for k in upto(len(xi))
    )


@forward(np.meshgrid)
def push_meshgrid(y, d, *xi, sparse=False, indexing="xy"):
    return (*[np.meshgrid(*alone(d, k, xi), sparse=sparse, indexing=indexing) for k in upto(len(xi))],)


@static
def mesh_axes(k: int, count: int, indexing: str) -> tuple[int, ...]:
    """The axes of the `k`-th of `count` coordinate arrays along which it is constant."""
    own = 1 - k if indexing == "xy" and k < 2 <= count else k
    return tuple(axis for axis in range(count) if axis != own)


@linear(np.tile)
def tile(y, d, A, reps):
    parts = np.reshape(d, tiled_shape(np.shape(A), reps))
    return np.reshape(np.sum(parts, tuple(range(0, 2 * y.ndim, 2))), np.shape(A))


@static
def tiled_shape(shape: tuple[int, ...], reps: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a tiled array with each axis split into (which copy, where in it)."""
    counts = tuple(reps) if isinstance(reps, (tuple, list, np.ndarray)) else (reps,)
    ndim = max(len(counts), len(shape))
    counts, sizes = (1,) * (ndim - len(counts)) + counts, (1,) * (ndim - len(shape)) + tuple(shape)
    return tuple([n for pair in zip(counts, sizes) for n in pair])


@linear(np.repeat, np.ndarray.repeat)
def repeat(y, d, a, repeats, axis=None):
    if axis is None:
        return np.reshape(repeated(d, np.ravel(a), repeats, 0), np.shape(a))
    return repeated(d, a, repeats, axis % a.ndim)


def repeated(d, a, repeats, axis):
    """The adjoint of repetition along `axis`."""
    if isinstance(repeats, (int, np.integer)):
        return np.sum(np.reshape(d, np.shape(a)[: axis + 1] + (repeats,) + np.shape(a)[axis + 1 :]), axis + 1)
    return gather_adjoint(d, a, along(np.repeat(np.arange(a.shape[axis]), repeats), axis, a.ndim))


@static
def along(index: Any, axis: int, ndim: int) -> tuple[Any, ...]:
    """The index that applies `index` to one axis and keeps the others."""
    return (slice(None),) * (axis % ndim) + (index,)


@linear(np.resize)
def resize(y, d, a, new_shape):
    source = np.reshape(np.arange(y.size) % np.size(a), np.shape(y))
    return np.reshape(gather_adjoint(d, np.ravel(a), source), np.shape(a))


@linear(np.atleast_1d)
def atleast_1d(y, d, *arys):
    return least(d, arys)


@linear(np.atleast_2d)
def atleast_2d(y, d, *arys):
    return least(d, arys)


@linear(np.atleast_3d)
def atleast_3d(y, d, *arys):
    return least(d, arys)


def least(d, arrays):
    """The adjoint of added axes, for one array or several."""
    if len(arrays) == 1:
        return np.reshape(d, np.shape(arrays[0]))
    return tuple(None if d[k] is None else np.reshape(d[k], np.shape(arrays[k])) for k in upto(len(arrays)))


@forward(np.atleast_1d)
def push_atleast_1d(y, d, *arys):
    return (*[np.atleast_1d(*alone(d, k, arys)) for k in upto(len(arys))],)


@forward(np.atleast_2d)
def push_atleast_2d(y, d, *arys):
    return (*[np.atleast_2d(*alone(d, k, arys)) for k in upto(len(arys))],)


@forward(np.atleast_3d)
def push_atleast_3d(y, d, *arys):
    return (*[np.atleast_3d(*alone(d, k, arys)) for k in upto(len(arys))],)


# Joining: each part gets its section of the cotangent.


@linear(np.concatenate)
def concatenate(y, d, arrays, axis=0):
    if isinstance(arrays, np.ndarray):
        return np.reshape(d, arrays.shape) if axis is None else np.stack(np.split(d, len(arrays), axis))
    if axis is None:
        return sections(d, arrays, [np.size(a) for a in arrays], 0)
    return sections(d, arrays, [np.shape(a)[axis] for a in arrays], axis)


@linear(np.vstack)
def vstack(y, d, tup):
    if isinstance(tup, np.ndarray):
        return np.reshape(d, tup.shape)
    return sections(d, tup, [1 if np.ndim(a) < 2 else np.shape(a)[0] for a in tup], 0)


@linear(np.hstack)
def hstack(y, d, tup):
    axis = 0 if d.ndim == 1 else 1
    if isinstance(tup, np.ndarray):
        return d if tup.ndim == 1 else concatenate(y, d, tup, axis)
    return sections(d, tup, [1 if np.ndim(a) == 0 else np.shape(a)[axis] for a in tup], axis)


@linear(np.dstack)
def dstack(y, d, tup):
    return sections(d, tup, [1 if np.ndim(a) < 3 else np.shape(a)[2] for a in tup], 2)


@linear(np.column_stack)
def column_stack(y, d, tup):
    return sections(d, tup, [1 if np.ndim(a) < 2 else np.shape(a)[1] for a in tup], 1)


def sections(d, arrays, sizes, axis):
    """The sections of `d` along `axis`, of the given sizes, in the shapes of `arrays`."""
    if len(arrays) <= 4:
        stops = [added_up(sizes[: k + 1]) for k in range(len(arrays) - 1)]
        bounds = [None, *stops, None]
        return like_parts([section(d, bounds[k], bounds[k + 1], axis) for k in range(len(arrays))], arrays)
    ends = np.cumsum(sizes)
    return like_parts([section(d, ends[k] - sizes[k], ends[k], axis) for k in range(len(arrays))], arrays)


def added_up(sizes):
    """The sum of a few numbers, written out."""
    total = sizes[0]
    for size in sizes[1:]:
        total = total + size
    return total


def section(d, start, stop, axis):
    if axis == 0 or d.ndim == 1:
        return d[start:stop]
    if axis == 1:
        return d[:, start:stop]
    if axis == -1:
        return d[..., start:stop]
    return d[along(slice(start, stop), axis, d.ndim)]


def like_parts(parts, arrays):
    """`parts` without the axes that joining added to `arrays`."""
    parts = [like_part(p, a) for p, a in zip(parts, arrays)]
    return np.stack(parts) if isinstance(arrays, np.ndarray) else parts


def like_part(part, a):
    return part if part.ndim == np.ndim(a) else np.reshape(part, np.shape(a))


@linear(np.stack)
def stack(y, d, arrays, axis=0):
    parts = d if axis == 0 else np.moveaxis(d, axis, 0)
    return parts if isinstance(arrays, np.ndarray) else [parts[k] for k in range(len(arrays))]


@linear(np.block)
def block(y, d, arrays):
    if not isinstance(arrays, list):
        return d
    if not isinstance(arrays[0], list):
        return sections(d, arrays, [1 if np.ndim(a) == 0 else np.shape(a)[-1] for a in arrays], -1)
    if isinstance(arrays[0][0], list):
        raise NoRule("np.block of lists nested more than two deep: nest np.concatenate instead")
    heights = [1 if np.ndim(row[0]) < 2 else np.shape(row[0])[-2] for row in arrays]
    return [block_row(d, row, sum(heights[:k]), sum(heights[: k + 1])) for k, row in enumerate(arrays)]


def block_row(d, row, start, stop):
    return sections(d[..., start:stop, :], row, [1 if np.ndim(a) == 0 else np.shape(a)[-1] for a in row], -1)


@reverse(np.append)
def append(y, d, arr, values, axis=None):
    count = np.size(arr) if axis is None else np.shape(arr)[axis]
    first, last = section(d, 0, count, axis or 0), section(d, count, None, axis or 0)
    return like_part(first, arr), like_part(last, values)


@forward(np.append)
def push_append(y, d, arr, values, axis=None):
    return np.append(d, np.zeros_like(values), axis), np.append(np.zeros_like(arr), d, axis)


# Parting: the sections are joined again.


@linear(np.split, np.array_split)
def split(y, d, ary, indices_or_sections, axis=0):
    return np.concatenate(with_zeros(d, y), axis)


@linear(np.vsplit)
def vsplit(y, d, ary, indices_or_sections):
    return np.concatenate(with_zeros(d, y), 0)


@linear(np.hsplit)
def hsplit(y, d, ary, indices_or_sections):
    return np.concatenate(with_zeros(d, y), 0 if ary.ndim == 1 else 1)


@linear(np.dsplit)
def dsplit(y, d, ary, indices_or_sections):
    return np.concatenate(with_zeros(d, y), 2)


def with_zeros(d, y):
    """The cotangents of several results, with zeros for those that nothing depends on."""
    return [np.zeros_like(y[k]) if d[k] is None else d[k] for k in range(len(y))]


if hasattr(np, "unstack"):

    @linear(np.unstack)
    def unstack(y, d, x, *, axis=0):
        return np.stack(with_zeros(d, y), axis)
