"""The methods of a tensor that reduce axes or scan along them, as plain NumPy on ``self``."""

# NumPy's type hints do not know that its functions take whatever has ``__array_function__``.
# mypy: disable-error-code="arg-type, call-overload, index, type-var"

from __future__ import annotations

from typing import Any

import numpy as np

from .shaping import Shaping

__all__ = ["Reducing"]


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
