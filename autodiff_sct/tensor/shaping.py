"""The operators of a tensor, and its methods that move elements, reduce axes or scan, as plain NumPy on ``self``."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Operators", "Reducing", "Shaping", "split"]

# NumPy's type hints do not know that its functions take whatever has ``__array_function__``.
# mypy: disable-error-code="call-overload, type-var"


class Operators:
    """Operators with MindSpore's promotion, which `Tensor.__array_ufunc__` applies."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return np.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return np.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return np.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return np.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return np.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return np.true_divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return np.true_divide(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return np.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return np.floor_divide(other, self)

    def __mod__(self, other: Any) -> Any:
        return np.remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        return np.remainder(other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __pow__(self, other: Any) -> Any:
        return np.power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return np.power(other, self)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    def __and__(self, other: Any) -> Any:
        return np.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Any:
        return np.bitwise_and(other, self)

    def __or__(self, other: Any) -> Any:
        return np.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Any:
        return np.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Any:
        return np.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return np.bitwise_xor(other, self)

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return np.positive(self)

    def __abs__(self) -> Any:
        return np.abs(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    # `==` with None is asked of optional arguments, and is no elementwise question.
    def __eq__(self, other: Any) -> Any:
        return False if other is None else np.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return True if other is None else np.not_equal(self, other)

    def __lt__(self, other: Any) -> Any:
        return np.less(self, other)

    def __le__(self, other: Any) -> Any:
        return np.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return np.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return np.greater_equal(self, other)

    # In place as NumPy does it: an array is written, a result without axes is bound anew.
    def __iadd__(self, other: Any) -> Any:
        return np.add(self, other, out=self) if self.ndim else np.add(self, other)

    def __isub__(self, other: Any) -> Any:
        return np.subtract(self, other, out=self) if self.ndim else np.subtract(self, other)

    def __imul__(self, other: Any) -> Any:
        return np.multiply(self, other, out=self) if self.ndim else np.multiply(self, other)

    def __itruediv__(self, other: Any) -> Any:
        return np.true_divide(self, other, out=self) if self.ndim else np.true_divide(self, other)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        raise NotImplementedError


# NumPy's type hints do not know that its functions take whatever has ``__array_function__``.
# mypy: disable-error-code="arg-type, call-overload, index, type-var"


class Shaping(Operators):
    """Methods that move elements and keep their values."""

    __slots__ = ()

    @property
    def T(self) -> Any:
        """The tensor with its axes reversed."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        """The tensor with its last two axes exchanged."""
        return np.swapaxes(self, -1, -2)

    def reshape(self, *shape: Any) -> Any:
        """The elements in another shape, given as integers or as one tuple."""
        return np.reshape(self, shape[0]) if len(shape) == 1 else np.reshape(self, shape)

    def view(self, *shape: Any) -> Any:
        """The same as `reshape`."""
        return np.reshape(self, shape[0]) if len(shape) == 1 else np.reshape(self, shape)

    def view_as(self, other: Any) -> Any:
        """The elements in the shape of `other`."""
        return np.reshape(self, other.shape)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order, given as integers or as one tuple; reversed where none is given."""
        if len(axes) == 0:
            return np.transpose(self)
        return np.transpose(self, axes[0]) if len(axes) == 1 else np.transpose(self, axes)

    def permute(self, *axes: Any) -> Any:
        """The axes in another order, given as integers or as one tuple."""
        return np.transpose(self, axes[0]) if len(axes) == 1 else np.transpose(self, axes)

    def swapaxes(self, axis0: int, axis1: int) -> Any:
        """The tensor with two axes exchanged."""
        return np.swapaxes(self, axis0, axis1)

    def squeeze(self, axis: Any = None) -> Any:
        """The tensor without axes of length 1: all of them, or `axis`."""
        return np.squeeze(self, axis)

    def expand_dims(self, axis: int) -> Any:
        """The tensor with an axis of length 1 put in at `axis`."""
        return np.expand_dims(self, axis)

    def unsqueeze(self, dim: int) -> Any:
        """The tensor with an axis of length 1 put in at `dim`."""
        return np.expand_dims(self, dim)

    def ravel(self) -> Any:
        """The elements along one axis."""
        return np.reshape(self, -1)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """A copy with the axes from `start_dim` to `end_dim` joined into one."""
        if start_dim == 0 and end_dim == -1:
            return np.copy(np.reshape(self, -1))
        last = end_dim + self.ndim if end_dim < 0 else end_dim
        shape = self.shape
        return np.copy(np.reshape(self, (*shape[:start_dim], -1, *shape[last + 1 :])))

    def broadcast_to(self, shape: Any) -> Any:
        """The tensor repeated to `shape` by NumPy's broadcasting."""
        return np.broadcast_to(self, shape)

    def expand_as(self, other: Any) -> Any:
        """The tensor repeated to the shape of `other`."""
        return np.broadcast_to(self, other.shape)

    def tile(self, *reps: Any) -> Any:
        """The tensor repeated as a whole along each axis."""
        return np.tile(self, reps[0]) if len(reps) == 1 else np.tile(self, reps)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Each element repeated."""
        return np.repeat(self, repeats, axis)

    def split(self, split_size_or_sections: Any, axis: int = 0) -> Any:
        """Pieces of one length, or of the lengths that a sequence gives."""
        return split(self, split_size_or_sections, axis)

    def chunk(self, chunks: int, axis: int = 0) -> Any:
        """Up to `chunks` pieces of one length, the last one shorter."""
        return split(self, -(-self.shape[axis] // chunks), axis)

    def take(self, indices: Any, axis: Any = None) -> Any:
        """The elements at `indices`."""
        return np.take(self, indices, axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """The diagonal of two axes."""
        return np.diagonal(self, offset, axis1, axis2)

    def flip(self, dims: Any = None) -> Any:
        """The tensor with axes reversed."""
        return np.flip(self, dims)

    def copy(self) -> Any:
        """A tensor of its own with the same elements."""
        return np.copy(self)

    def clone(self) -> Any:
        """A tensor of its own with the same elements."""
        return np.copy(self)

    def expand(self, *shape: Any) -> Any:
        """The tensor repeated to a shape, given as integers or as one tuple."""
        return np.broadcast_to(self, shape[0] if len(shape) == 1 else shape)

    def gather(self, input_indices: Any, axis: int) -> Any:
        """The entries along an axis at indices."""
        return np.take(self, input_indices, axis)

    def index_select(self, axis: int, index: Any) -> Any:
        """The entries along an axis at indices."""
        return np.take(self, index, axis)

    def masked_select(self, mask: Any) -> Any:
        """The elements where the mask is true, along one axis."""
        return self[mask]

    def moveaxis(self, source: Any, destination: Any) -> Any:
        """The tensor with axes moved to other places."""
        return np.moveaxis(self, source, destination)

    def narrow(self, axis: int, start: int, length: int) -> Any:
        """The entries from `start` on along an axis, `length` of them."""
        return np.take(self, np.arange(start, start + length), axis)

    def repeat_interleave(self, repeats: Any, dim: Any = None) -> Any:
        """Each element repeated."""
        return np.repeat(self, repeats, dim)

    def roll(self, shifts: Any, dims: Any = None) -> Any:
        """The elements moved around along axes."""
        return np.roll(self, shifts, dims)

    def sort(self, axis: int = -1, descending: bool = False) -> Any:
        """The elements in order along an axis, and where they were."""
        order = np.argsort(-self if descending else self, axis, kind="stable")
        return np.take_along_axis(self, order, axis), order

    def t(self) -> Any:
        """The transpose of a matrix."""
        return np.transpose(self)

    def topk(self, k: int, dim: int = -1) -> Any:
        """The `k` largest elements along an axis, and where they are."""
        order = np.take(np.argsort(-self, dim, kind="stable"), np.arange(k), dim)
        return np.take_along_axis(self, order, dim), order

    def tril(self, diagonal: int = 0) -> Any:
        """The lower triangle, zeros elsewhere."""
        return np.tril(self, diagonal)

    def triu(self, diagonal: int = 0) -> Any:
        """The upper triangle, zeros elsewhere."""
        return np.triu(self, diagonal)


def split(x: Any, split_size_or_sections: Any, axis: int = 0) -> Any:
    """Pieces of `x` of one length, or of the lengths that a sequence gives."""
    if isinstance(split_size_or_sections, int):
        cuts = list(range(split_size_or_sections, x.shape[axis], split_size_or_sections))
    else:
        cuts = [sum(split_size_or_sections[: k + 1]) for k in range(len(split_size_or_sections) - 1)]
    return tuple(np.split(x, cuts, axis))


# NumPy's type hints do not know that its functions take whatever has ``__array_function__``.
# mypy: disable-error-code="arg-type, call-overload, index, type-var"


class Reducing(Shaping):
    """Methods that reduce axes or scan along them."""

    __slots__ = ()

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """The sum over an axis, several, or all."""
        if dtype is not None:
            return np.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return np.sum(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keep_dims: bool = False, keepdims: bool = False) -> Any:
        """The mean over an axis, several, or all."""
        return np.mean(self, axis=axis, keepdims=keep_dims or keepdims)

    def prod(self, axis: Any = None, keep_dims: bool = False, keepdims: bool = False) -> Any:
        """The product over an axis, several, or all."""
        return np.prod(self, axis=axis, keepdims=keep_dims or keepdims)

    def std(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The standard deviation, biased unless `ddof` is 1."""
        return np.std(self, axis=axis, ddof=ddof, keepdims=keepdims)

    def var(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The variance, biased unless `ddof` is 1."""
        return np.var(self, axis=axis, ddof=ddof, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest element; ties share the derivative evenly, along one axis the first has it."""
        if isinstance(axis, int):
            return first(self, np.argmax, axis, keepdims)
        return np.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The smallest element; ties share the derivative evenly, along one axis the first has it."""
        if isinstance(axis, int):
            return first(self, np.argmin, axis, keepdims)
        return np.min(self, axis=axis, keepdims=keepdims)

    def amax(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest element; ties share the derivative evenly."""
        return np.max(self, axis=axis, keepdims=keepdims)

    def amin(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The smallest element; ties share the derivative evenly."""
        return np.min(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The index of the largest element."""
        return np.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The index of the smallest element."""
        return np.argmin(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, keep_dims: bool = False) -> Any:
        """True if all elements are true."""
        return np.all(self, axis=axis, keepdims=keep_dims)

    def any(self, axis: Any = None, keep_dims: bool = False) -> Any:
        """True if any element is true."""
        return np.any(self, axis=axis, keepdims=keep_dims)

    def cumsum(self, axis: Any = None) -> Any:
        """Sums of the elements so far."""
        return np.cumsum(self, axis=axis)

    def cumprod(self, axis: Any = None) -> Any:
        """Products of the elements so far."""
        return np.cumprod(self, axis=axis)

    def norm(self, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
        """A norm of vectors or matrices, as ``np.linalg.norm``."""
        return np.linalg.norm(self, ord, dim, keepdim)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return np.trace(self)

    def nonzero(self) -> Any:
        """Indices of the elements that differ from 0, one element a row."""
        return np.stack(np.nonzero(self), axis=-1)


def first(x: Any, search: Any, axis: int, keepdims: bool) -> Any:
    """The elements that `search`, ``np.argmax`` or ``np.argmin``, finds along an axis."""
    found = np.take_along_axis(x, search(x, axis=axis, keepdims=True), axis)
    return found if keepdims else np.squeeze(found, axis)
