"""Reductions and scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api import stop_gradient

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "cosine_similarity",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "l2_normalize",
    "logsumexp",
    "max",
    "mean",
    "min",
    "nansum",
    "norm",
    "prod",
    "reduce_sum",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]


def sum(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum over an axis, several, or all."""
    return np.sum(input, axis=dim, keepdims=keepdim)


def reduce_sum(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The sum over an axis, several, or all; an empty tuple stands for all."""
    return np.sum(x, axis=None if axis == () else axis, keepdims=keep_dims)


def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The mean over an axis, several, or all; an empty tuple stands for all."""
    return np.mean(x, axis=None if axis == () else axis, keepdims=keep_dims)


def prod(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The product over an axis, several, or all."""
    return np.prod(input, axis=None if axis == () else axis, keepdims=keep_dims)


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The standard deviation, biased unless `ddof` is 1."""
    return np.std(input, axis=axis, ddof=ddof, keepdims=keepdims)


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The variance, biased unless `ddof` is 1."""
    return np.var(input, axis=axis, ddof=ddof, keepdims=keepdims)


def amax(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element; ties share the derivative evenly."""
    return np.max(input, axis=None if axis == () else axis, keepdims=keepdims)


def amin(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element; ties share the derivative evenly."""
    return np.min(input, axis=None if axis == () else axis, keepdims=keepdims)


def max(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest elements along an axis and where they are, the first at ties; without an axis, as `amax`."""
    if axis is None:
        return np.max(input, keepdims=keepdims), np.argmax(input, keepdims=keepdims)
    return picked(input, np.argmax(input, axis=axis, keepdims=True), axis, keepdims)


def min(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest elements along an axis and where they are, the first at ties; without an axis, as `amin`."""
    if axis is None:
        return np.min(input, keepdims=keepdims), np.argmin(input, keepdims=keepdims)
    return picked(input, np.argmin(input, axis=axis, keepdims=True), axis, keepdims)


def picked(input: Any, places: Any, axis: int, keepdims: bool) -> Any:
    """The elements at `places`, one along the axis, and the places."""
    values = np.take_along_axis(input, places, axis)
    return (values, places) if keepdims else (np.squeeze(values, axis), np.squeeze(places, axis))


def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The index of the largest element."""
    return np.argmax(input, axis=dim, keepdims=keepdim)


def argmin(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The index of the smallest element."""
    return np.argmin(input, axis=axis, keepdims=keepdims)


def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """True if all elements are true."""
    return np.all(input, axis=None if axis == () else axis, keepdims=keep_dims)


def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """True if any element is true."""
    return np.any(input, axis=None if axis == () else axis, keepdims=keep_dims)


def cumsum(x: Any, axis: int) -> Any:
    """Sums of the elements so far."""
    return np.cumsum(x, axis=axis)


def cumprod(input: Any, dim: int) -> Any:
    """Products of the elements so far."""
    return np.cumprod(input, axis=dim)


def logsumexp(input: Any, axis: Any, keep_dims: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    top = stop_gradient(np.max(input, axis=axis, keepdims=True))
    total = np.log(np.sum(np.exp(input - top), axis=axis, keepdims=True)) + top
    return total if keep_dims else np.squeeze(total, axis)


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """A norm of vectors or matrices, as ``np.linalg.norm``."""
    return np.linalg.norm(A, ord, dim, keepdim)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; norms are at least `eps`."""
    lengths = np.maximum(np.linalg.norm(x1, axis=dim), eps) * np.maximum(np.linalg.norm(x2, axis=dim), eps)
    return np.sum(x1 * x2, axis=dim) / lengths


def count_nonzero(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The number of elements that differ from 0."""
    return np.count_nonzero(x, axis=axis, keepdims=keep_dims)


def l2_normalize(x: Any, axis: Any = 0, epsilon: float = 1e-4) -> Any:
    """Elements divided by the Euclidean norm along an axis, whose square is at least `epsilon`."""
    return x / np.sqrt(np.maximum(np.sum(x * x, axis=axis, keepdims=True), epsilon))


def nansum(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum over an axis, several, or all, without those that are NaN."""
    return np.nansum(input, axis=axis, keepdims=keepdims)


def std_mean(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The standard deviation and the mean."""
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


def var_mean(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The variance and the mean."""
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)
