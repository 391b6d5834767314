"""Functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "logit",
    "nan_to_num",
    "rad2deg",
    "round",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]


def exp(input: Any) -> Any:
    """The exponential."""
    return np.exp(input)


def expm1(input: Any) -> Any:
    """The exponential minus 1, exact near 0."""
    return np.expm1(input)


def log(input: Any) -> Any:
    """The natural logarithm."""
    return np.log(input)


def log2(input: Any) -> Any:
    """The logarithm to base 2."""
    return np.log2(input)


def log10(input: Any) -> Any:
    """The logarithm to base 10."""
    return np.log10(input)


def log1p(input: Any) -> Any:
    """The logarithm of 1 plus each element, exact near 0."""
    return np.log1p(input)


def sqrt(x: Any) -> Any:
    """The square root."""
    return np.sqrt(x)


def square(input: Any) -> Any:
    """The square."""
    return np.square(input)


def sin(input: Any) -> Any:
    """The sine."""
    return np.sin(input)


def cos(input: Any) -> Any:
    """The cosine."""
    return np.cos(input)


def tan(input: Any) -> Any:
    """The tangent."""
    return np.tan(input)


def asin(input: Any) -> Any:
    """The inverse sine."""
    return np.arcsin(input)


def acos(input: Any) -> Any:
    """The inverse cosine."""
    return np.arccos(input)


def atan(input: Any) -> Any:
    """The inverse tangent."""
    return np.arctan(input)


def atan2(input: Any, other: Any) -> Any:
    """The angle of the point (other, input)."""
    return np.arctan2(input, other)


def sinh(input: Any) -> Any:
    """The hyperbolic sine."""
    return np.sinh(input)


def cosh(input: Any) -> Any:
    """The hyperbolic cosine."""
    return np.cosh(input)


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(input)


def asinh(input: Any) -> Any:
    """The inverse hyperbolic sine."""
    return np.arcsinh(input)


def acosh(input: Any) -> Any:
    """The inverse hyperbolic cosine."""
    return np.arccosh(input)


def atanh(input: Any) -> Any:
    """The inverse hyperbolic tangent."""
    return np.arctanh(input)


def floor(input: Any) -> Any:
    """The largest integer below."""
    return np.floor(input)


def ceil(input: Any) -> Any:
    """The smallest integer above."""
    return np.ceil(input)


def round(input: Any) -> Any:
    """The nearest integer, the even one at ties."""
    return np.round(input)


def trunc(input: Any) -> Any:
    """The integer part."""
    return np.trunc(input)


def sign(input: Any) -> Any:
    """-1, 0 or 1."""
    return np.sign(input)


def isnan(input: Any) -> Any:
    """True for elements that are not a number."""
    return np.isnan(input)


def isinf(input: Any) -> Any:
    """True for infinite elements."""
    return np.isinf(input)


def isfinite(input: Any) -> Any:
    """True for finite elements."""
    return np.isfinite(input)


def deg2rad(x: Any) -> Any:
    """Degrees as radians."""
    return np.deg2rad(x)


def exp2(input: Any) -> Any:
    """2 to the power of each element."""
    return np.exp2(input)


def logit(input: Any, eps: float | None = None) -> Any:
    """``log(x / (1 - x))``, the elements held within ``eps`` and ``1 - eps`` where it is given."""
    x = input if eps is None else np.clip(input, eps, 1 - eps)
    return np.log(x) - np.log1p(-x)


def nan_to_num(input: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Numbers in the place of NaN and infinities."""
    return np.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


def rad2deg(x: Any) -> Any:
    """Radians as degrees."""
    return np.rad2deg(x)


def sinc(input: Any) -> Any:
    """``sin(pi * x) / (pi * x)``, 1 at 0."""
    return np.sinc(input)
