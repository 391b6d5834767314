"""Cotangents of matrices from those of their factors, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import thresholds

__all__ = ["cholesky_pullback"]


def cholesky_pullback(factor: Any, cotangent: Any) -> np.ndarray:
    """The cotangent of a symmetric matrix from that of its Cholesky factor, both in lower triangles.

    Parameters
    ----------
    factor, cotangent : array
        Of shape (n, n), real, of one dtype. What stands above the diagonals is not read.

    Returns
    -------
    array
        Of that shape, zero above the diagonal. An element below it stands for its mirror image, too.

    Notes
    -----
    The blocked algorithm of I. Murray, "Differentiation of the Cholesky decomposition" (2016), which takes as many
    operations as two factorisations do. A block on the diagonal is reversed with its inverse.

    >>> cholesky_pullback(np.array([[2.0]]), np.array([[1.0]]))
    array([[0.25]])
    """
    result = np.tril(cotangent)
    size, width = len(factor), thresholds.WIDTH_OF_A_BLOCK
    for start in range((size - 1) // width * width, -1, -width):
        block, below = slice(start, start + width), slice(start + width, None)
        inverse = np.linalg.inv(factor[block, block])
        d_below = result[below, block] = result[below, block] @ inverse
        result[below, :start] -= d_below @ factor[block, :start]
        diagonal = factor[block, block].T @ (result[block, block] - np.tril(d_below.T @ factor[below, block]))
        weights = np.tri(len(inverse), dtype=result.dtype)
        np.fill_diagonal(weights, 0.5)
        both = inverse.T @ (diagonal * weights) @ inverse
        both += both.T
        result[block, :start] -= d_below.T @ factor[below, :start] + both @ factor[block, :start]
        result[block, block] = both * weights
    return result
