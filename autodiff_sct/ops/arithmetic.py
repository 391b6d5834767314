"""Arithmetic and products."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "abs",
    "add",
    "addcmul",
    "addn",
    "div",
    "dot",
    "einsum",
    "floor_div",
    "floor_mod",
    "lerp",
    "matmul",
    "mul",
    "neg",
    "outer",
    "pow",
    "reciprocal",
    "rsqrt",
    "sub",
    "tensor_dot",
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
