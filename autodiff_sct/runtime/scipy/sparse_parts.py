"""Least squares and singular values of sparse matrices, by larger systems and spectra that have derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import NotDifferentiable
from .sparse import height, made_of, solved, width

__all__ = ["check_rank", "doubled", "least_squares", "left_vectors", "right_vectors", "stacked"]


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
