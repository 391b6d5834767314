"""Products with parts of matrices, added up for many of them, and of vectors with three components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import thresholds
from ..errors import UnsupportedSyntax

__all__ = ["add_outer_products", "add_products", "add_symmetric_products", "cross"]


Part = tuple[int, slice, np.ndarray]  # a column, a range of columns, and a number for each of the range


def add_outer_products(total: np.ndarray, factor: np.ndarray, parts: list[Part]) -> None:
    """``total[:, range] += np.outer(factor[:, k], v)`` for each ``(k, range, v)`` of `parts`.

    One product of matrices does it where the ranges are a good share of all columns.

    >>> total = np.zeros((1, 3))
    >>> add_outer_products(total, np.array([[2.0, 3.0, 5.0]]), [(0, slice(1, 3), np.array([1.0, 10.0]))])
    >>> total
    array([[ 0.,  2., 20.]])
    """
    if are_worth_a_matrix(factor, parts):
        total += factor @ as_rows(factor, parts)
    else:
        for k, columns, v in parts:
            total[:, columns] += np.outer(factor[:, k], v)


def add_products(total: np.ndarray, factor: np.ndarray, parts: list[Part]) -> None:
    """``total[:, k] += factor[:, range] @ v`` for each ``(k, range, v)`` of `parts`.

    >>> total = np.zeros((1, 3))
    >>> add_products(total, np.array([[2.0, 3.0, 5.0]]), [(0, slice(1, 3), np.array([1.0, 10.0]))])
    >>> total
    array([[53.,  0.,  0.]])
    """
    if are_worth_a_matrix(factor, parts):
        total += factor @ as_rows(factor, parts).T
    else:
        for k, columns, v in parts:
            total[:, k] += factor[:, columns] @ v


def add_symmetric_products(total: np.ndarray, factor: np.ndarray, parts: list[Part]) -> None:
    """Both of these, as the adjoint of ``factor.T @ factor`` adds them, with one product.

    >>> total = np.zeros((1, 3))
    >>> add_symmetric_products(total, np.array([[2.0, 3.0, 5.0]]), [(0, slice(1, 3), np.array([1.0, 10.0]))])
    >>> total
    array([[53.,  2., 20.]])
    """
    if are_worth_a_matrix(factor, parts):
        rows = as_rows(factor, parts)
        total += factor @ (rows + rows.T)
    else:
        add_products(total, factor, parts)
        add_outer_products(total, factor, parts)


for added in (add_outer_products, add_products, add_symmetric_products):
    added.changed = (0,)  # type: ignore[attr-defined]


def are_worth_a_matrix(factor: np.ndarray, parts: list[Part]) -> bool:
    """True if a matrix of all the numbers is filled by a fixed share, and its zeros meet no infinity."""
    filled = sum(len(v) for _, _, v in parts)
    share = thresholds.SHARE_OF_A_MATRIX * factor.shape[1] ** 2
    return filled >= share and bool(np.isfinite(factor).all())


def as_rows(factor: np.ndarray, parts: list[Part]) -> np.ndarray:
    """A matrix with the numbers of each part in the row of its column."""
    rows = np.zeros((factor.shape[1], factor.shape[1]))
    for k, columns, v in parts:
        rows[k, columns] += v
    return rows


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """``np.cross`` of vectors with three components.

    Raises
    ------
    UnsupportedSyntax
        If the vectors have two, whose product is a number: a program is compiled before it meets its vectors.
    """
    places = (axisa, axisb) if axis is None else (axis, axis)
    if any(np.ndim(x) == 0 or np.shape(x)[place] != 3 for x, place in zip((a, b), places)):
        raise UnsupportedSyntax(
            "np.cross of vectors of two components cannot be followed",
            "write `a[0] * b[1] - a[1] * b[0]`",
            code="setting",
        )
    return np.cross(a, b, axisa, axisb, axisc, axis)
