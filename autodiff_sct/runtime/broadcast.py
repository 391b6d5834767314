"""Fitting derivatives to the values that they belong to.

The derivative of a value has the value's shape, and its dtype where that is a floating-point one; integers and
booleans have float64 derivatives.  A Python scalar's derivative is a Python scalar, an array's an array, a container's
a container of the same shape (a tuple's is a list, so that it can be added to item by item).
Shapes that do not fit, and seeds that a caller gives, are checked.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ArgumentValueError

__all__ = ["check_broadcast", "common_length", "ones_like", "seed", "spread", "unbroadcast", "zeros_like"]


def unbroadcast(cotangent: Any, like: Any) -> Any:
    """The cotangent of `like`, from that of a result into which `like` was broadcast.

    Parameters
    ----------
    cotangent : scalar or array
        Wider than `like` along axes that are summed here, narrower along axes that are repeated here.
    like : scalar or array
        The value whose cotangent is wanted.

    Returns
    -------
    scalar or array
        Of the shape of `like`, its dtype (float64 for integers; the real part for real `like`) and its Python type.
        May be `cotangent` itself.
    """
    if type(like) is np.ndarray is type(cotangent) and like.shape == cotangent.shape and like.dtype == cotangent.dtype:
        return cotangent
    if type(like) is float is type(cotangent):
        return cotangent
    if isinstance(like, (list, tuple)):
        parts = [cotangent] * len(like) if np.isscalar(cotangent) else cotangent
        return [unbroadcast(part, item) for part, item in zip(parts, like, strict=True)]
    if isinstance(like, dict):
        return {key: unbroadcast(cotangent[key], item) for key, item in like.items()}
    return zeros_like(like) if cotangent is None else cast(fit_shape(np.asarray(cotangent), np.shape(like)), like)


def common_length(*arrays: np.ndarray) -> int:
    """The length of arrays of one axis that meet in an element-wise operation, none of them of length 1.

    Raises
    ------
    ValueError
        They have different lengths; in NumPy's words.
    """
    first = len(arrays[0])
    for other in arrays:
        if len(other) != first:
            shapes = f"{arrays[0].shape} {other.shape}"
            raise ValueError(f"operands could not be broadcast together with shapes {shapes} ")
    return first


def spread(cotangent: Any, like: Any) -> Any:
    """`cotangent` as a fresh, writable array (or a Python scalar) of the shape and dtype of `like`."""
    if isinstance(like, (list, tuple, dict)) and type(cotangent) is float:
        return zeros_like(like)  # the number 0: nothing has been added
    if isinstance(like, (list, tuple)):
        return [spread(part, item) for part, item in zip(cotangent, like, strict=True)]
    if isinstance(like, dict):
        return {key: spread(cotangent[key], item) for key, item in like.items()}
    fitted = unbroadcast(cotangent, like)
    return np.array(fitted) if isinstance(fitted, np.ndarray) else fitted


def fit_shape(cotangent: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum `cotangent` over the axes that `shape` lacks or has as 1, and repeat it along those that it lacks itself."""
    if cotangent.shape == shape:
        return cotangent
    if not shape:
        return np.add.reduce(cotangent, axis=None)
    extra = cotangent.ndim - len(shape)
    if extra > 0:
        cotangent = np.add.reduce(cotangent, axis=tuple(range(extra)))
    summed = tuple(axis for axis in range(-len(shape), 0) if shape[axis] == 1 != width(cotangent, axis))
    if summed:
        cotangent = np.add.reduce(cotangent, axis=summed, keepdims=True)
    # A copy: a broadcast view is read-only and holds each number in several places.
    return cotangent if cotangent.shape == shape else np.array(np.broadcast_to(cotangent, shape))


def width(array: np.ndarray, axis: int) -> int:
    """The size of `array` along a negative `axis`, 1 where it has no such axis."""
    return array.shape[axis] if -axis <= array.ndim else 1


def cast(cotangent: np.ndarray | np.generic, like: Any) -> Any:
    """`cotangent`, of the shape of `like` already, in the dtype and the Python type of a derivative of `like`."""
    dtype = derivative_dtype(like)
    if cotangent.dtype.kind == "c" and dtype.kind != "c":
        cotangent = cotangent.real
    if isinstance(like, np.ndarray):
        return np.asarray(cotangent, dtype=dtype)
    if isinstance(like, np.generic):
        return dtype.type(cotangent)
    if cotangent.ndim:
        kind = type(like).__name__
        raise TypeError(f"a {kind} stands where the derivative needs a number or an array; write np.asarray(...) of it")
    return complex(cotangent) if isinstance(like, complex) else float(cotangent)


def derivative_dtype(like: Any) -> np.dtype[Any]:
    """The dtype of derivatives of `like`: its own if that is real or complex, else float64."""
    if not isinstance(like, (np.ndarray, np.generic)):
        return np.dtype(np.complex128 if isinstance(like, complex) else np.float64)
    return like.dtype if like.dtype.kind in "fc" else np.dtype(np.float64)


def zeros_like(x: Any) -> Any:
    """A fresh zero derivative of `x`; ``0.0`` for what has none (None, strings, functions)."""
    return filled_like(x, 0)


def ones_like(x: Any) -> Any:
    """A fresh derivative of `x` that is one everywhere: the seed of a result."""
    return filled_like(x, 1)


def are_floats(items: Any) -> bool:
    """True if a list holds nothing but Python floats."""
    return bool(items) and operator.countOf(map(type, items), float) == len(items)


def filled_like(x: Any, value: int) -> Any:
    """A derivative of `x` whose every number is `value`; ``0.0`` for what has none."""
    if isinstance(x, np.ndarray):
        return np.full_like(x, value, dtype=derivative_dtype(x), subok=False)
    if isinstance(x, (list, tuple)):
        return [float(value)] * len(x) if are_floats(x) else [filled_like(item, value) for item in x]
    if isinstance(x, np.generic):
        return derivative_dtype(x).type(value) if x.dtype.kind in "fciub" else 0.0
    if isinstance(x, (float, int)):
        return float(value)
    if isinstance(x, complex):
        return complex(value)
    if isinstance(x, dict):
        return {key: filled_like(item, value) for key, item in x.items()}
    return 0.0


def check_broadcast(*arrays: Any) -> None:
    """Raise what ``a + b + ...`` raises where the shapes of arrays do not fit.

    Raises
    ------
    ValueError
        In NumPy's words.

    >>> check_broadcast(np.ones((2, 3)), np.ones(4))
    Traceback (most recent call last):
    ValueError: operands could not be broadcast together with shapes (2,3) (4,)...
    """
    shape = arrays[0].shape
    for other in arrays[1:]:
        if shape != other.shape:
            try:
                shape = np.broadcast_shapes(shape, other.shape)
            except ValueError:
                np.add(np.broadcast_to(False, shape), np.broadcast_to(False, other.shape))


def seed(given: Any, output: Any) -> Any:
    """`given` as a cotangent of `output`: of its shape, and in its dtype.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    if isinstance(output, (list, tuple)):
        return [seed(g, o) for g, o in zip(given, output, strict=True)]
    if np.shape(given) != np.shape(output):
        raise ArgumentValueError(
            f"a seed of shape {np.shape(given)} was given for an output of shape {np.shape(output)}"
        )
    if isinstance(output, np.ndarray):
        return np.asarray(given, dtype=output.dtype if output.dtype.kind in "fc" else None)
    if isinstance(output, np.generic):
        return output.dtype.type(given)
    return complex(given) if isinstance(output, complex) else float(given)
