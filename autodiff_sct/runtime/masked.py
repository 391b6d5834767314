"""Masked arrays that a program makes: the numbers and the mask, of which only the numbers have a derivative.

Each function does what ``numpy.ma`` does to what is not masked.  Under the mask the numbers are those of the first
operand, and no derivative comes from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NotDifferentiable

__all__ = ["Masked"]

TINY = float(np.finfo(float).tiny)
# Functions that ``numpy.ma`` masks the results of where the operand is outside their domain.
WITH_DOMAIN = (
    *(np.sqrt, np.log, np.log2, np.log10, np.tan, np.arcsin, np.arccos, np.arccosh, np.arctanh),
    *(np.floor_divide, np.remainder, np.fmod),
)


class Masked:
    """An array, whose elements are left out where `mask` is true."""

    stands_for = "a masked array"
    __array_priority__ = 15

    def __init__(self, data: Any, mask: Any, fill_value: Any = 1e20) -> None:
        self.data_of = data
        self.mask_of = mask
        self.fill_value = fill_value

    @property
    def data(self) -> Any:
        return self.data_of

    @property
    def mask(self) -> Any:
        return self.mask_of

    @property
    def shape(self) -> Any:
        return self.data_of.shape

    @property
    def size(self) -> Any:
        return self.data_of.size

    @property
    def ndim(self) -> Any:
        return self.data_of.ndim

    @property
    def dtype(self) -> Any:
        return self.data_of.dtype

    @property
    def T(self) -> Any:
        return Masked(self.data_of.T, self.mask_of.T)

    def __len__(self) -> Any:
        return len(self.data_of)

    def copy(self) -> Any:
        return Masked(self.data_of.copy(), self.mask_of.copy())

    def reshape(self, *shape: Any) -> Any:
        return Masked(self.data_of.reshape(*shape), self.mask_of.reshape(*shape))

    def ravel(self) -> Any:
        return Masked(self.data_of.ravel(), self.mask_of.ravel())

    def __getitem__(self, key: Any) -> Any:
        return part_of(self.data_of[key], self.mask_of[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if value is np.ma.masked:
            self.mask_of[key] = True
        elif isinstance(value, Masked):
            self.data_of[key] = value.data_of
            self.mask_of[key] = value.mask_of
        else:
            self.data_of[key] = value
            self.mask_of[key] = False

    # Operators

    def __array_ufunc__(self, fn: Any, method: Any, *inputs: Any) -> Any:
        return of_ufunc(fn, *inputs)

    def __neg__(self) -> Any:
        return elementwise(np.negative, self)

    def __abs__(self) -> Any:
        return elementwise(np.absolute, self)

    def __add__(self, other: Any) -> Any:
        return elementwise(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return elementwise(np.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return elementwise(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return elementwise(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return elementwise(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return elementwise(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return quotient(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return quotient(other, self)

    def __pow__(self, other: Any) -> Any:
        return finite(elementwise(np.power, self, other))

    # What is left

    def filled(self, fill_value: Any = None) -> Any:
        return np.where(self.mask_of, self.fill_value if fill_value is None else fill_value, self.data_of)

    def compressed(self) -> Any:
        return self.data_of[~self.mask_of]

    def count(self, axis: Any = None, keepdims: Any = False) -> Any:
        return np.sum(~self.mask_of, axis, keepdims=keepdims)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        found = np.sum(self.filled(0.0), axis, keepdims=keepdims)
        return left(found, self.count(axis, keepdims) == 0, axis is None and not keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        found = np.prod(self.filled(1.0), axis, keepdims=keepdims)
        return left(found, self.count(axis, keepdims) == 0, axis is None and not keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        count = self.count(axis, keepdims)
        found = np.sum(self.filled(0.0), axis, keepdims=keepdims) * 1.0 / np.maximum(count, 1)
        return left(found, count == 0, axis is None and not keepdims)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        count = self.count(axis, keepdims) - ddof
        centre = np.sum(self.filled(0.0), axis, keepdims=True) * 1.0 / np.maximum(self.count(axis, True), 1)
        square = np.where(self.mask_of, 0.0, self.filled(0.0) - centre) ** 2
        found = np.sum(square, axis, keepdims=keepdims) / np.maximum(count, 1)
        return left(found, count <= 0, axis is None and not keepdims)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        return np.sqrt(self.var(axis, ddof=ddof, keepdims=keepdims))

    def max(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        found = np.max(self.filled(-np.inf), axis, keepdims=keepdims)
        return left(found, self.count(axis, keepdims) == 0, axis is None and not keepdims)

    def min(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        found = np.min(self.filled(np.inf), axis, keepdims=keepdims)
        return left(found, self.count(axis, keepdims) == 0, axis is None and not keepdims)


def numbers_of(value: Any, fill: Any) -> Any:
    """The numbers of an operand, with `fill` where they are masked."""
    return value.filled(fill) if isinstance(value, Masked) else value


def data_of(value: Any) -> Any:
    return value.data_of if isinstance(value, Masked) else value


def mask_of(value: Any) -> Any:
    return value.mask_of if isinstance(value, Masked) else False


def mask_of_all(found: Any, *inputs: Any) -> Any:
    mask = np.zeros(found.shape, bool)
    for value in inputs:
        mask = mask | mask_of(value)
    return mask


def elementwise(fn: Any, *inputs: Any) -> Any:
    """An operator, computed of 1 where an operand is masked; there the first one stays."""
    found = fn(*[numbers_of(value, 1.0) for value in inputs])
    mask = mask_of_all(found, *inputs)
    return Masked(np.where(mask, data_of(inputs[0]), found), mask)


def quotient(first: Any, second: Any) -> Any:
    """A quotient, which is masked where it is about to overflow."""
    above, below = numbers_of(first, 1.0), numbers_of(second, 1.0)
    large = np.absolute(above) * TINY >= np.absolute(below)
    mask = mask_of_all(large, first, second) | large
    found = above / np.where(mask, 1.0, below)
    return finite(Masked(np.where(mask, data_of(first), found), mask))


def of_ufunc(fn: Any, *inputs: Any) -> Any:
    """A function of NumPy's, which computes with what is under a mask, too."""
    if fn is np.true_divide:
        return quotient(*inputs)
    found = fn(*[data_of(value) for value in inputs])
    made = Masked(found, mask_of_all(found, *inputs))
    return finite(made) if fn in WITH_DOMAIN else made


def of_own_function(fn: Any, value: Any) -> Any:
    """A function of ``numpy.ma``, as ``np.ma.log``."""
    found = elementwise(fn, value if isinstance(value, Masked) else Masked(value, np.zeros(value.shape, bool)))
    return finite(found) if fn in WITH_DOMAIN else found


def finite(found: Any) -> Any:
    """A result that is masked where it is not finite, too."""
    return Masked(found.data_of, found.mask_of | ~np.isfinite(found.data_of))


def left(found: Any, gone: Any, is_number: Any) -> Any:
    """A reduction, which is masked where nothing was left."""
    if is_number:
        check_left(gone)
        return found
    return Masked(found, gone)


def part_of(data: Any, mask: Any) -> Any:
    """A part of a masked array, or one element."""
    if np.ndim(data) > 0:
        return Masked(data, mask)
    check_left(mask)
    return data


def check_left(gone: Any) -> None:
    """Raise where a number is masked."""
    if gone:
        raise NotDifferentiable(
            "a number that is masked has no derivative", "see to it that something is left: `m.count() > 0`"
        )


# What makes masked arrays


def masked_array(data: Any, mask: Any, fill_value: Any = 1e20) -> Any:
    if isinstance(data, Masked):
        return Masked(data.data_of, data.mask_of | mask, fill_value)
    return Masked(data, mask if np.ndim(mask) > 0 else np.full(data.shape, mask), fill_value)


def masked_where(condition: Any, a: Any, copy: Any = True) -> Any:
    data = data_of(a)
    return Masked(data.copy() if copy else data, mask_of_all(data, a) | condition)


def masked_invalid(a: Any, copy: Any = True) -> Any:
    return masked_where(~np.isfinite(data_of(a)), a, copy)


def masked_greater(x: Any, value: Any, copy: Any = True) -> Any:
    return masked_where(data_of(x) > value, x, copy)


def masked_greater_equal(x: Any, value: Any, copy: Any = True) -> Any:
    return masked_where(data_of(x) >= value, x, copy)


def masked_less(x: Any, value: Any, copy: Any = True) -> Any:
    return masked_where(data_of(x) < value, x, copy)


def masked_less_equal(x: Any, value: Any, copy: Any = True) -> Any:
    return masked_where(data_of(x) <= value, x, copy)


def masked_inside(x: Any, v1: Any, v2: Any, copy: Any = True) -> Any:
    low, high = np.minimum(v1, v2), np.maximum(v1, v2)
    return masked_where((data_of(x) >= low) & (data_of(x) <= high), x, copy)


def masked_outside(x: Any, v1: Any, v2: Any, copy: Any = True) -> Any:
    low, high = np.minimum(v1, v2), np.maximum(v1, v2)
    return masked_where((data_of(x) < low) | (data_of(x) > high), x, copy)


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """``np.ma.average``."""
    if weights is None:
        return a.mean(axis)
    share = Masked(np.zeros(a.shape) + weights, a.mask_of)
    return of_ufunc(np.multiply, a, share).sum(axis) / share.sum(axis)
