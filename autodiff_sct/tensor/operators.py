"""The operators of a tensor, as plain NumPy on ``self``."""

# NumPy's type hints do not know that its functions take whatever has ``__array_function__``.
# mypy: disable-error-code="call-overload, type-var"

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Operators"]


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
