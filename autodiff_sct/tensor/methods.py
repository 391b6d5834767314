"""The methods of a tensor that work element by element, and products, as plain NumPy on ``self``; its ``repr``.

The compiler inlines these texts with an array in the place of ``self``; run eagerly, NumPy's protocols bring each call
back to the tensor.  So nothing here asks whether it holds a tensor or an array.

>>> import numpy as np
>>> print(tensor_repr(np.array([0.5, -2], np.float32), "Float32"))
Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e-01, -2.00000000e+00])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .shaping import Reducing

__all__ = ["TensorMethods", "tensor_repr"]

# NumPy's type hints do not know that its functions take whatever has ``__array_function__``.
# mypy: disable-error-code="arg-type, call-overload, index, type-var"


class TensorMethods(Reducing):
    """Methods that work element by element, and products."""

    __slots__ = ()

    def abs(self) -> Any:
        """The absolute value."""
        return np.abs(self)

    def neg(self) -> Any:
        """The negative."""
        return np.negative(self)

    def exp(self) -> Any:
        """The exponential."""
        return np.exp(self)

    def log(self) -> Any:
        """The natural logarithm."""
        return np.log(self)

    def sqrt(self) -> Any:
        """The square root."""
        return np.sqrt(self)

    def rsqrt(self) -> Any:
        """One over the square root."""
        return 1 / np.sqrt(self)

    def square(self) -> Any:
        """The square."""
        return np.square(self)

    def reciprocal(self) -> Any:
        """One over the element."""
        return 1 / self

    def sin(self) -> Any:
        """The sine."""
        return np.sin(self)

    def cos(self) -> Any:
        """The cosine."""
        return np.cos(self)

    def tan(self) -> Any:
        """The tangent."""
        return np.tan(self)

    def tanh(self) -> Any:
        """The hyperbolic tangent."""
        return np.tanh(self)

    def sigmoid(self) -> Any:
        """The logistic function."""
        return 0.5 * (1 + np.tanh(0.5 * self))

    def relu(self) -> Any:
        """The positive part; its derivative at 0 is 0."""
        return np.where(self > 0, self, 0)

    def softmax(self, axis: int = -1) -> Any:
        """Exponentials that sum to 1 along `axis`."""
        e = np.exp(self - np.max(self, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True)

    def floor(self) -> Any:
        """The largest integer below."""
        return np.floor(self)

    def ceil(self) -> Any:
        """The smallest integer above."""
        return np.ceil(self)

    def round(self, decimals: int = 0) -> Any:
        """The element rounded to even at ties."""
        return np.round(self, decimals)

    def sign(self) -> Any:
        """-1, 0 or 1."""
        return np.sign(self)

    def isnan(self) -> Any:
        """True for elements that are not a number."""
        return np.isnan(self)

    def isinf(self) -> Any:
        """True for infinite elements."""
        return np.isinf(self)

    def isfinite(self) -> Any:
        """True for finite elements."""
        return np.isfinite(self)

    def add(self, other: Any) -> Any:
        """The sum with `other`."""
        return np.add(self, other)

    def sub(self, other: Any) -> Any:
        """The difference from `other`."""
        return np.subtract(self, other)

    def mul(self, other: Any) -> Any:
        """The product with `other`, element by element."""
        return np.multiply(self, other)

    def div(self, other: Any) -> Any:
        """The quotient by `other`."""
        return np.true_divide(self, other)

    def pow(self, exponent: Any) -> Any:
        """The power."""
        return np.power(self, exponent)

    def maximum(self, other: Any) -> Any:
        """The larger of two; ties share the derivative evenly."""
        return np.maximum(self, other)

    def minimum(self, other: Any) -> Any:
        """The smaller of two; ties share the derivative evenly."""
        return np.minimum(self, other)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """The elements held within bounds."""
        return np.clip(self, min, max)

    def clamp(self, min: Any = None, max: Any = None) -> Any:
        """The elements held within bounds."""
        return np.clip(self, min, max)

    def masked_fill(self, mask: Any, value: Any) -> Any:
        """The tensor with `value` where `mask` is true."""
        return np.where(mask, value, self)

    def where(self, condition: Any, y: Any) -> Any:
        """The tensor with `y` where `condition` is false."""
        return np.where(condition, self, y)

    def matmul(self, other: Any) -> Any:
        """The matrix product."""
        return np.matmul(self, other)

    def mm(self, other: Any) -> Any:
        """The matrix product."""
        return np.matmul(self, other)

    def bmm(self, other: Any) -> Any:
        """The matrix product of each pair in a batch."""
        return np.matmul(self, other)

    def dot(self, other: Any) -> Any:
        """The dot product."""
        return np.dot(self, other)

    def log2(self) -> Any:
        """The logarithm to base 2."""
        return np.log2(self)

    def log10(self) -> Any:
        """The logarithm to base 10."""
        return np.log10(self)

    def log1p(self) -> Any:
        """The logarithm of 1 plus the element."""
        return np.log1p(self)

    def expm1(self) -> Any:
        """The exponential minus 1."""
        return np.expm1(self)

    def sinh(self) -> Any:
        """The hyperbolic sine."""
        return np.sinh(self)

    def cosh(self) -> Any:
        """The hyperbolic cosine."""
        return np.cosh(self)

    def asin(self) -> Any:
        """The inverse sine."""
        return np.arcsin(self)

    def acos(self) -> Any:
        """The inverse cosine."""
        return np.arccos(self)

    def atan(self) -> Any:
        """The inverse tangent."""
        return np.arctan(self)

    def logical_not(self) -> Any:
        """True where the tensor is not."""
        return np.logical_not(self)

    def eq(self, other: Any) -> Any:
        """True where the tensor is equal."""
        return np.equal(self, other)

    def ne(self, other: Any) -> Any:
        """True where the tensor is different."""
        return np.not_equal(self, other)

    def gt(self, other: Any) -> Any:
        """True where the tensor is greater."""
        return np.greater(self, other)

    def ge(self, other: Any) -> Any:
        """True where the tensor is greater or equal."""
        return np.greater_equal(self, other)

    def lt(self, other: Any) -> Any:
        """True where the tensor is less."""
        return np.less(self, other)

    def le(self, other: Any) -> Any:
        """True where the tensor is less or equal."""
        return np.less_equal(self, other)

    def logical_and(self, other: Any) -> Any:
        """True where the tensor is true and the other, too."""
        return np.logical_and(self, other)

    def logical_or(self, other: Any) -> Any:
        """True where the tensor is true or the other is."""
        return np.logical_or(self, other)

    def atan2(self, other: Any) -> Any:
        """The angle of the point (other, self)."""
        return np.arctan2(self, other)

    def outer(self, vec2: Any) -> Any:
        """The product of each element with each of another vector."""
        return np.outer(self, vec2)

    def inner(self, other: Any) -> Any:
        """The sum of products along the last axes."""
        return np.inner(self, other)

    def select(self, condition: Any, y: Any) -> Any:
        """The tensor with `y` where `condition` is false."""
        return np.where(condition, self, y)

    def addcmul(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
        """``self + value * tensor1 * tensor2``."""
        return self + value * tensor1 * tensor2

    multiply = mul
    subtract = sub
    divide = true_divide = div
    negative = neg
    absolute = abs


# Longer axes are shown by their first and last three elements.
LONGEST, SHOWN = 6, 3


def tensor_repr(array: np.ndarray, dtype: str) -> str:
    """The text ``Tensor(shape=[2], dtype=Float32, value= ...)`` of an array."""
    gap = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={gap}{values_text(array)})"


def values_text(array: np.ndarray) -> str:
    """The elements: a scalar as it is, else rows in brackets."""
    if array.ndim == 0:
        value = array.item()
        return f"{value:g}" if isinstance(value, float) else str(value)
    return rows_text(array, 1)


def rows_text(array: np.ndarray, depth: int) -> str:
    """The elements of an array of one axis or more, rows under each other."""
    if array.ndim == 1:
        texts = [element_text(value) for value in shortened(array)]
        between = ", "
    else:
        texts = [rows_text(row, depth + 1) for row in shortened(array)]
        between = "," + "\n" * (array.ndim - 1) + " " * depth
    if len(array) <= LONGEST:
        return f"[{between.join(texts)}]"
    head, tail = between.join(texts[:SHOWN]), between.join(texts[SHOWN:])
    gap = " ... " if array.ndim == 1 else between.replace(",", "") + "..." + between.replace(",", "")
    return f"[{head}{gap}{tail}]"


def shortened(array: np.ndarray) -> list[Any]:
    """The entries along the first axis that are shown."""
    if len(array) <= LONGEST:
        return list(array)
    return [*array[:SHOWN], *array[-SHOWN:]]


def element_text(value: Any) -> str:
    """One element; floats have the fixed width that lines columns up."""
    if value.dtype.kind == "f":
        return f"{value: .4e}" if value.dtype.itemsize == 2 else f"{value: .8e}"
    return str(value.item())
