"""Derivatives of the determinant, which is a polynomial, at every matrix: of any rank, and of any order.

The determinant of a regular matrix times its inverse is right for the first derivative.  The second, by that formula,
is a difference of terms that are as large as the inverse, so that nothing is left of it near a singular matrix.

Cotangents of matrices from those of their Cholesky factors, block by block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import thresholds

__all__ = ["cholesky_pullback", "cofactors"]


def cofactors(a: Any, *directions: Any) -> np.ndarray:
    """The derivatives of ``np.linalg.det`` by each element of a matrix: the transpose of its adjugate.

    Parameters
    ----------
    a : array
        Of shape (..., n, n), real or complex, of any rank.
    directions : arrays
        Of that shape. The cofactors are differentiated in these directions, one after the other.

    Returns
    -------
    array
        Of that shape: what is linear in each direction, and does not depend on their order.

    >>> cofactors(np.array([[1.0, 2.0], [2.0, 4.0]])).round(9)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    found = np.result_type(a, *directions)
    matrices, *along = (np.asarray(x, found if found.kind in "fc" else float) for x in (a, *directions))
    result, singular = by_inverse(matrices, along)
    for k in map(tuple, np.argwhere(singular)):
        result[k] = by_decomposition(matrices[k], [v[k] for v in along])
    return result


def by_inverse(a: np.ndarray, along: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The cofactors of regular matrices, and which of the matrices are singular or nearly so."""
    if a.size == 0:
        return np.zeros_like(a), np.zeros(a.shape[:-2], bool)
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.empty_like(a), np.ones(a.shape[:-2], bool)
    with np.errstate(all="ignore"):
        size = np.linalg.norm(a, 1, (-2, -1))
        singular = size * np.linalg.norm(inverse, 1, (-2, -1)) > np.finfo(a.dtype).eps ** -0.25
        return of_regular(np.linalg.det(a), inverse, along), singular & np.isfinite(size)


def of_regular(determinant: np.ndarray, inverse: np.ndarray, along: list[np.ndarray]) -> np.ndarray:
    """The cofactors in directions, from Taylor polynomials with one variable for each direction.

    A coefficient belongs to a set of directions.  Those of the inverse ``x`` and of the determinant are ::

        x[set] = -sum(inverse @ v @ x[set - v] for v in set)
        det[set] = sum(det[set - v - part] * trace(x[part] @ v) for part in subsets(set - v))     for one v of the set
    """
    every = range(1 << len(along))
    inverses, determinants = [inverse], [determinant]
    for chosen in every[1:]:
        inside = [k for k in range(len(along)) if chosen >> k & 1]
        inverses.append(-sum(inverse @ along[k] @ inverses[chosen ^ 1 << k] for k in inside))
        first, rest = along[inside[0]], chosen ^ 1 << inside[0]
        parts = [part for part in every if part & rest == part]
        determinants.append(sum(determinants[rest ^ p] * np.einsum("...ij,...ji", inverses[p], first) for p in parts))
    total = sum(determinants[every[-1] ^ part][..., None, None] * inverses[part] for part in every)
    return np.swapaxes(total, -2, -1).copy()


def by_decomposition(a: np.ndarray, along: list[np.ndarray]) -> np.ndarray:
    """The cofactors of a matrix that may be singular.

    They are a polynomial in a number that is added to each small singular value, of a degree no higher than there are
    such values.  The mean of a polynomial over as many roots of unity as it has coefficients is its value at zero.
    """
    u, s, vh = np.linalg.svd(a)
    small = s <= np.finfo(a.dtype).eps ** 0.25 * s[0]
    radius = s[~small][-1] if s[0] > 0 else 1.0
    inside = [np.conj(u.T) @ v @ np.conj(vh.T) for v in along]
    turn = np.linalg.det(u) * np.linalg.det(vh)
    count = np.count_nonzero(small) + 1
    total: Any = 0.0
    for k in range(count):
        values = s + small * radius * np.exp(2j * np.pi * k / count)
        total = total + of_regular(np.prod(values), np.diag(1 / values), inside)
    mean = total / count if np.iscomplexobj(a) else np.real(total) / count
    return (turn * (np.conj(u) @ mean @ np.conj(vh))).astype(a.dtype)


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
