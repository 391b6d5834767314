"""Least squares, singular values, inverses and powers of sparse matrices, by functions that have derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import NotDifferentiable
from .sparse import (
    Matrix,
    distinct,
    elements_of_array,
    exponential,
    height,
    made_of,
    product,
    solved,
    steps_of,
    width,
)

__all__ = [
    "check_columns",
    "check_rank",
    "doubled",
    "exponential_of",
    "full",
    "inverse",
    "least_squares",
    "left_vectors",
    "lengths",
    "power_of",
    "right_vectors",
    "stacked",
]


def least_squares(made: Any, data: Any, rows: Any, cols: Any, b: Any, damp: Any) -> Any:
    """The solution of linear least squares, beside the residual: ``r + A @ x = b`` and ``A.T @ r = damp**2 * x``."""
    m, n = height(made), width(made)
    above, below = np.arange(m), m + np.arange(n)
    elements = np.concatenate([np.ones(m), data, data, -(damp**2) * np.ones(n)])
    i, j = np.concatenate([above, rows, m + cols, below]), np.concatenate([above, m + cols, rows, below])
    whole = made_of(elements, i, j, m + n, m + n)
    return solved(("spsolve", ()), whole, elements, i, j, np.concatenate([b, np.zeros(n)]))[m:]


def check_rank(made: Any, damp: Any) -> None:
    """Raise for a system of fewer rows than columns, of which the shortest solution is another one."""
    if made.shape[0] < made.shape[1] and damp == 0:
        raise NotDifferentiable(
            "least squares of a sparse matrix with fewer rows than columns have no derivative here", "pass damp"
        )


def check_columns(b: Any) -> None:
    """Raise for a right side of one column, of which SciPy makes a vector."""
    if b.shape[1] == 1:
        raise NotDifferentiable("spsolve with a right side of one column has a vector as result", "pass `b[:, 0]`")


def doubled(made: Any, data: Any, rows: Any, cols: Any) -> Any:
    """The symmetric matrix with a matrix and its transpose beside the diagonal, whose spectrum has singular values."""
    m, n = height(made), width(made)
    elements = np.concatenate([data, data])
    i, j = np.concatenate([rows, m + cols]), np.concatenate([m + cols, rows])
    return made_of(elements, i, j, m + n, m + n), elements, i, j


def stacked(left: Any, right: Any) -> Any:
    """The eigenvectors of the doubled matrix."""
    return np.concatenate([left, right.T]) / math.sqrt(2)


def left_vectors(vectors: Any, right: Any) -> Any:
    return vectors[: vectors.shape[0] - right.shape[1]] * math.sqrt(2)


def right_vectors(vectors: Any, right: Any) -> Any:
    return (vectors[vectors.shape[0] - right.shape[1] :] * math.sqrt(2)).T


# Norms of lines, and matrices with all elements


def lengths(made: Any, data: Any, rows: Any, cols: Any, axis: Any) -> Any:
    """``scipy.sparse.linalg.norm(made, axis=axis)``."""
    index, above, beside = distinct(rows, cols)
    elements = np.bincount(index, data, above.size)
    lines, count = (above, height(made)) if axis == 1 else (beside, width(made))
    return np.sqrt(np.bincount(lines, elements**2, count))


def full(made: Any, elements: Any, like: Any) -> Any:
    """A matrix all of whose elements are in an array."""
    data, rows, cols = elements_of_array(elements)
    return Matrix(made, data, rows, cols, like.star)


def inverse(matrix: Any) -> Any:
    """The elements of ``scipy.sparse.linalg.inv(matrix)``."""
    one = np.eye(height(matrix.made))
    return np.stack(
        [solved(("spsolve", ()), matrix.made, matrix.data_of, matrix.rows, matrix.cols, row) for row in one], 1
    )


def exponential_of(matrix: Any) -> Any:
    """The elements of ``scipy.sparse.linalg.expm(matrix)``."""
    one, steps = np.eye(height(matrix.made)), steps_of(matrix.made)
    return exponential(matrix.made, matrix.data_of, matrix.rows, matrix.cols, one, steps)


def power_of(matrix: Any, power: Any) -> Any:
    """The elements of ``scipy.sparse.linalg.matrix_power(matrix, power)``."""
    elements = np.eye(height(matrix.made))
    for _ in range(power):
        elements = product(matrix.made, matrix.data_of, matrix.rows, matrix.cols, elements)
    return elements
