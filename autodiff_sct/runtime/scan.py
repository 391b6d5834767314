"""Products, recurrences and stencils along an axis, in the forms that their derivatives need."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np

__all__ = ["diff_adjoint", "products_of_others", "recurrence", "running_products_adjoint", "shift", "stencil_adjoint"]


def shift(x: Any, by: int, axis: int = -1, fill: float = 0) -> np.ndarray:
    """`x` moved along `axis` by `by` places, up or down; `fill` where nothing moved to.

    >>> shift(np.array([1.0, 2.0, 3.0]), 1)
    array([0., 1., 2.])
    """
    x = np.asarray(x)
    moved = np.full_like(x, fill)
    lead, size = (slice(None),) * (axis % x.ndim), x.shape[axis]
    up, down = min(max(by, 0), size), min(max(-by, 0), size)
    moved[(*lead, slice(up, size - down))] = x[(*lead, slice(down, size - up))]
    return moved


def recurrence(a: Any, b: Any, axis: int = -1, backward: bool = False) -> np.ndarray:
    """The solution of ``s[k] = a[k] * s[k - 1] + b[k]`` along `axis`, from ``s[0] = b[0]``.

    Parameters
    ----------
    a, b : array
        Of one shape.  The first of `a` is not used.
    backward : bool
        Solve ``s[k] = a[k] * s[k + 1] + b[k]`` instead, from the end.

    Returns
    -------
    array
        Of the shape of `b`.  A logarithmic number of vectorised steps, without any division.

    >>> recurrence(np.array([5.0, 2.0, 0.0, 2.0]), np.ones(4))
    array([1., 3., 1., 3.])
    """
    if backward:
        return np.flip(recurrence(np.flip(a, axis), np.flip(b, axis), axis), axis)
    s = np.array(np.moveaxis(b, axis, 0), np.result_type(a, b))
    factor = np.array(np.moveaxis(a, axis, 0), s.dtype)
    step = 1
    # After each round s[k] holds the terms of the last `step` places, and factor[k] the product of their coefficients.
    while step < len(s):
        s[step:] += factor[step:] * s[:-step].copy()
        factor[step:] *= factor[:-step].copy()
        step *= 2
    return np.moveaxis(s, 0, axis)


def running_products_adjoint(d: Any, a: Any, axis: int = -1, products: Any = None) -> np.ndarray:
    """The cotangent of `a` from `d`, that of ``np.cumprod(a, axis)``.

    Parameters
    ----------
    d, a : array
        Of one shape.
    axis : int
        The axis of the running products.
    products : array, optional
        The running products themselves, where they are known.

    Returns
    -------
    array
        Of that shape.  From each element on, the sum of the products times `d`, divided by the element, where no
        product is too small or too large for that; recurrences otherwise, which a zero does not spoil.

    >>> running_products_adjoint(np.ones(3), np.array([2.0, 0.0, 3.0]))
    array([1., 8., 0.])
    """
    if products is None:
        products = np.cumprod(a, axis)
    if is_moderate(products):
        parts = d * products
        sums = parts[::-1].cumsum()[::-1] if a.ndim == 1 else np.flip(np.cumsum(np.flip(parts, axis), axis), axis)
        found = sums / a
        if np.isfinite(found).all():
            return found
    before = np.cumprod(shift(a, 1, axis, 1), axis)
    return before * recurrence(shift(a, -1, axis), d, axis, backward=True)


def is_moderate(y: np.ndarray) -> bool:
    """True if the digits of numbers are all there, and still would be in quotients of them."""
    if not y.size or y.dtype.kind not in "fc":
        return False
    sizes, (least, most) = np.abs(y), moderate_sizes(y.dtype)
    return bool(least < sizes.min() and sizes.max() < most)


@lru_cache
def moderate_sizes(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The roots of the smallest and of the largest number of a dtype."""
    limits = np.finfo(dtype)
    return float(limits.tiny) ** 0.5, float(limits.max) ** 0.5


def products_of_others(a: Any, axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """The product of all *other* elements along `axis` for each element: the derivative of ``np.prod(a, axis)``.

    >>> products_of_others(np.array([2.0, 0.0, 3.0]))
    array([0., 6., 0.])
    """
    a = np.asarray(a)
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    ends = tuple(range(-len(axes), 0))
    moved = np.moveaxis(a, axes, ends)
    lanes = moved.reshape(*moved.shape[: a.ndim - len(axes)], -1) if a.size else moved
    if not (a.size and axes):
        return np.ones_like(a)
    before = np.cumprod(shift(lanes, 1, -1, 1), -1)
    after = np.flip(np.cumprod(np.flip(shift(lanes, -1, -1, 1), -1), -1), -1)
    return np.moveaxis((before * after).reshape(moved.shape), ends, axes)


def diff_adjoint(cotangent: Any, n: int = 1, axis: int = -1) -> np.ndarray:
    """The transpose of ``a -> np.diff(a, n, axis)``.

    >>> diff_adjoint(np.array([1.0, 3.0]))
    array([-1., -2.,  3.])
    """
    d = np.asarray(cotangent)
    lead = (slice(None),) * (axis % d.ndim)
    for _ in range(n):
        longer = np.zeros((*d.shape[: len(lead)], d.shape[axis] + 1, *d.shape[len(lead) + 1 :]), d.dtype)
        longer[(*lead, slice(1, None))] = d
        longer[(*lead, slice(-1))] -= d
        d = longer
    return d


def stencil_adjoint(cotangent: Any, h: Any, axis: int, edge_order: Literal[1, 2] = 1) -> np.ndarray:
    """The transpose of ``f -> np.gradient(f, h, axis=axis, edge_order=edge_order)``.

    >>> stencil_adjoint(np.array([1.0, 0.0, 0.0]), 0.5, 0)
    array([-2.,  2.,  0.])
    """
    d = np.moveaxis(np.asarray(cotangent), axis, 0)
    result, size = np.zeros_like(d), len(d)
    if np.ndim(h) == 0:
        half = d[1:-1] / d.dtype.type(2 * h)
        result[2:] += half
        result[:-2] -= half
    else:
        steps = np.diff(np.asarray(h, d.dtype))
        before, after = steps[:-1], steps[1:]
        left, right = after / (before * (before + after)), before / (after * (before + after))
        for k, weights in enumerate((-left, left - right, right)):
            result[k : size - 2 + k] += (d[1:-1].T * weights).T
    # The first and the last row read the samples that are next to them.
    near = min(size, 3)
    for row, places in ((0, slice(near)), (-1, slice(size - near, size))):
        ends = h if np.ndim(h) == 0 else np.asarray(h)[places]
        weights = np.gradient(np.eye(near), ends, axis=0, edge_order=edge_order)[row]
        result[places] += np.multiply.outer(weights.astype(d.dtype), d[row])
    return np.moveaxis(result, 0, axis)
