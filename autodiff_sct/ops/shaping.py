"""Functions that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor.shaping import split

__all__ = [
    "broadcast_to",
    "cat",
    "chunk",
    "column_stack",
    "concat",
    "diag",
    "diagonal",
    "dstack",
    "dtype",
    "expand_dims",
    "flatten",
    "flip",
    "hstack",
    "moveaxis",
    "narrow",
    "numel",
    "pad",
    "permute",
    "rank",
    "ravel",
    "repeat_elements",
    "repeat_interleave",
    "reshape",
    "roll",
    "rot90",
    "shape",
    "size",
    "slice",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "t",
    "tensor_split",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unsqueeze",
    "unstack",
    "vstack",
]


def shape(input: Any) -> tuple[int, ...]:
    """The lengths of the axes."""
    return np.shape(input)


def rank(input_x: Any) -> int:
    """The number of axes."""
    return np.ndim(input_x)


def size(input_x: Any) -> int:
    """The number of elements."""
    return np.size(input_x)


def reshape(input: Any, shape: Any) -> Any:
    """The elements in another shape."""
    return np.reshape(input, shape)


def transpose(input: Any, input_perm: Any) -> Any:
    """The axes in another order."""
    return np.transpose(input, input_perm)


def permute(input: Any, axis: Any) -> Any:
    """The axes in another order."""
    return np.transpose(input, axis)


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two axes exchanged."""
    return np.swapaxes(input, axis0, axis1)


def expand_dims(input_x: Any, axis: int) -> Any:
    """An axis of length 1 put in."""
    return np.expand_dims(input_x, axis)


def unsqueeze(input: Any, dim: int) -> Any:
    """An axis of length 1 put in."""
    return np.expand_dims(input, dim)


def squeeze(input: Any, axis: Any = None) -> Any:
    """Axes of length 1 left out."""
    return np.squeeze(input, axis)


def flatten(input: Any, start_dim: int | None = None, end_dim: int | None = None) -> Any:
    """The axes from `start_dim` (1) to `end_dim` (the last) joined into one."""
    lengths = input.shape
    if start_dim is None:
        start_dim = 1
    if end_dim is None:
        end_dim = -1
    last = end_dim + len(lengths) if end_dim < 0 else end_dim
    return np.reshape(input, (*lengths[:start_dim], -1, *lengths[last + 1 :]))


def broadcast_to(input: Any, shape: Any) -> Any:
    """The tensor repeated to a shape by NumPy's broadcasting."""
    return np.broadcast_to(input, shape)


def tile(input: Any, multiples: Any) -> Any:
    """The tensor repeated as a whole along each axis."""
    return np.tile(input, multiples)


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Any:
    """Each element repeated."""
    return np.repeat(x, rep, axis)


def concat(tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along an axis."""
    return np.concatenate(tensors, axis)


def cat(tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along an axis."""
    return np.concatenate(tensors, axis)


def stack(tensors: Any, axis: int = 0) -> Any:
    """Tensors one after the other along a new axis."""
    return np.stack(tensors, axis)


def unstack(input_x: Any, axis: int = 0) -> Any:
    """The entries along an axis, which is left out.

    How many there are depends on the data, so that it is not differentiated: index the tensor instead.
    """
    return tuple([np.take(input_x, k, axis) for k in range(input_x.shape[axis])])


def flip(input: Any, dims: Any) -> Any:
    """Axes reversed."""
    return np.flip(input, dims)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved around along axes."""
    return np.roll(input, shifts, dims)


def tril(input: Any, diagonal: int = 0) -> Any:
    """The lower triangle, zeros elsewhere."""
    return np.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Any:
    """The upper triangle, zeros elsewhere."""
    return np.triu(input, diagonal)


def diag(input: Any) -> Any:
    """A matrix with this diagonal, or the diagonal of a matrix."""
    return np.diag(input)


def pad(input_x: Any, paddings: Any, mode: Any = "constant", value: float = 0.0) -> Any:
    """Elements put around the tensor: a pair of counts for each axis."""
    if mode == "constant":
        return np.pad(input_x, paddings, constant_values=value)
    return np.pad(input_x, paddings, mode)


def chunk(input: Any, chunks: int, axis: int = 0) -> Any:
    """Up to `chunks` pieces of one length, the last one shorter."""
    return split(input, -(-input.shape[axis] // chunks), axis)


def column_stack(tensors: Any) -> Any:
    """Vectors as the columns of a matrix."""
    return np.column_stack(tensors)


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two axes."""
    return np.diagonal(input, offset, dim1, dim2)


def dstack(tensors: Any) -> Any:
    """Tensors one after the other along the third axis."""
    return np.dstack(tensors)


def dtype(input: Any) -> Any:
    """The dtype of the elements."""
    return input.dtype


def hstack(tensors: Any) -> Any:
    """Tensors one after the other along the second axis, vectors along their only one."""
    return np.hstack(tensors)


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places."""
    return np.moveaxis(x, source, destination)


def narrow(input: Any, axis: int, start: int, length: int) -> Any:
    """The entries from `start` on along an axis, `length` of them."""
    return np.take(input, np.arange(start, start + length), axis)


def numel(input: Any) -> Any:
    """The number of elements."""
    return np.size(input)


def ravel(input: Any) -> Any:
    """The elements along one axis."""
    return np.reshape(input, -1)


def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element repeated."""
    return np.repeat(input, repeats, axis)


def rot90(input: Any, k: int, dims: Any) -> Any:
    """The tensor turned by `k` right angles in the plane of two axes."""
    return np.rot90(input, k, dims)


def slice(input_x: Any, begin: Any, size: Any) -> Any:
    """The part that begins at `begin` and has the lengths `size`, to the end where one is -1."""
    for axis, (first, length) in enumerate(zip(begin, size)):
        length = input_x.shape[axis] - first if length == -1 else length
        input_x = np.take(input_x, np.arange(first, first + length), axis)
    return input_x


def t(input: Any) -> Any:
    """The transpose of a matrix."""
    return np.transpose(input)


def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Pieces of nearly one length, or cut at indices."""
    return tuple(np.array_split(input, indices_or_sections, axis))


def vstack(tensors: Any) -> Any:
    """Tensors one after the other along the first axis, vectors as rows."""
    return np.vstack(tensors)
