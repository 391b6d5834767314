"""Arithmetic and products."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "abs",
    "add",
    "addcmul",
    "addmm",
    "addn",
    "bias_add",
    "cross",
    "dense",
    "det",
    "div",
    "dot",
    "einsum",
    "floor_div",
    "floor_mod",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "hypot",
    "inner",
    "inverse",
    "kron",
    "lerp",
    "logaddexp",
    "matmul",
    "mul",
    "mv",
    "neg",
    "outer",
    "pow",
    "reciprocal",
    "rsqrt",
    "sub",
    "tensor_dot",
    "trace",
    "trapz",
    "xlogy",
]


def add(input: Any, other: Any) -> Any:
    """The sum of two tensors."""
    return input + other


def sub(input: Any, other: Any) -> Any:
    """The difference of two tensors."""
    return input - other


def mul(input: Any, other: Any) -> Any:
    """The product of two tensors, element by element."""
    return input * other


def div(input: Any, other: Any, rounding_mode: str | None = None) -> Any:
    """The quotient of two tensors, rounded down (``'floor'``) or towards 0 (``'trunc'``) where wanted."""
    if rounding_mode == "floor":
        return np.floor_divide(input, other)
    return input / other if rounding_mode is None else np.trunc(input / other)


def floor_div(x: Any, y: Any) -> Any:
    """The quotient, rounded down."""
    return x // y


def floor_mod(x: Any, y: Any) -> Any:
    """The remainder, of the sign of `y`."""
    return x % y


def pow(input: Any, exponent: Any) -> Any:
    """The power."""
    return input**exponent


def neg(input: Any) -> Any:
    """The negative."""
    return -input


def abs(input: Any) -> Any:
    """The absolute value; its derivative at 0 is 0."""
    return np.abs(input)


def reciprocal(input: Any) -> Any:
    """One over each element."""
    return 1 / input


def rsqrt(input: Any) -> Any:
    """One over the square root."""
    return 1 / np.sqrt(input)


def addn(x: Any) -> Any:
    """The sum of a tuple or list of tensors."""
    total = x[0]
    for term in x[1:]:
        total = total + term
    return total


def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return input + value * tensor1 * tensor2


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return input + weight * (end - input)


def matmul(input: Any, other: Any) -> Any:
    """The matrix product."""
    return np.matmul(input, other)


def dot(input: Any, other: Any) -> Any:
    """The dot product."""
    return np.dot(input, other)


def outer(input: Any, vec2: Any) -> Any:
    """The product of each element of one vector with each of another."""
    return np.outer(input, vec2)


def tensor_dot(x1: Any, x2: Any, axes: Any) -> Any:
    """The sum of products over axes of both."""
    return np.tensordot(x1, x2, axes)


def einsum(equation: str, *operands: Any) -> Any:
    """Einstein's sum."""
    return np.einsum(equation, *operands)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * mat1 @ mat2``."""
    return beta * input + alpha * np.matmul(mat1, mat2)


def bias_add(input_x: Any, bias: Any) -> Any:
    """The tensor with a bias added along its second axis."""
    return input_x + np.reshape(bias, (-1,) + (1,) * (input_x.ndim - 2))


def cross(input: Any, other: Any, dim: int = -1) -> Any:
    """The vector product along an axis of length 3."""
    return np.cross(input, other, axis=dim)


def dense(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``."""
    y = np.matmul(input, weight.T)
    return y if bias is None else y + bias


def det(input: Any) -> Any:
    """The determinant of each matrix."""
    return np.linalg.det(input)


def fmax(input: Any, other: Any) -> Any:
    """The larger of two, of which one may be NaN."""
    return np.fmax(input, other)


def fmin(input: Any, other: Any) -> Any:
    """The smaller of two, of which one may be NaN."""
    return np.fmin(input, other)


def fmod(input: Any, other: Any) -> Any:
    """The remainder, of the sign of `input`."""
    return np.fmod(input, other)


def frac(x: Any) -> Any:
    """The fractional part, of the sign of `x`."""
    return x - np.trunc(x)


def hypot(input: Any, other: Any) -> Any:
    """The root of the sum of two squares."""
    return np.hypot(input, other)


def inner(input: Any, other: Any) -> Any:
    """The sum of products along the last axes."""
    return np.inner(input, other)


def inverse(input: Any) -> Any:
    """The inverse of each matrix."""
    return np.linalg.inv(input)


def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""
    return np.kron(input, other)


def logaddexp(input: Any, other: Any) -> Any:
    """The logarithm of the sum of two exponentials."""
    return np.logaddexp(input, other)


def mv(mat: Any, vec: Any) -> Any:
    """The product of a matrix and a vector."""
    return np.matmul(mat, vec)


def trace(input: Any) -> Any:
    """The sum of the diagonal of a matrix."""
    return np.trace(input)


def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral by the trapezoidal rule along an axis."""
    return np.trapezoid(y, x, dx, dim)


def xlogy(input: Any, other: Any) -> Any:
    """``input * log(other)``, 0 where `input` is 0."""
    return np.where(input == 0, 0, input * np.log(np.where(input == 0, 1, other)))
