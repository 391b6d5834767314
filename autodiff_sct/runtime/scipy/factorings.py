"""Factorisations of ``scipy.linalg`` whose derivatives are those of others: SciPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ...errors import NotDifferentiable

__all__ = ["check_hessenberg", "check_rq", "check_schur", "part_of_spectrum", "part_of_values", "rq_of_rows"]

# Parts of spectra


def part_of_values(a: Any, b: Any, first: int, stop: Any, lower: bool) -> Any:
    """Some of the eigenvalues."""
    return linalg.eigvalsh(a, b, lower=lower)[first:stop]


def part_of_spectrum(reference: Any, a: Any, b: Any, first: int, stop: Any, lower: bool) -> Any:
    """``eigh(a, b, subset_by_index=[first, stop - 1])``; the signs of the vectors are those of the `reference`."""
    values, vectors = linalg.eigh(a, b, lower=lower)
    return values[first:stop], vectors_like(reference, vectors[:, first:stop])


def vectors_like(reference: Any, vectors: Any) -> Any:
    """Columns with the signs of others."""
    return vectors * np.where(np.sum(vectors * reference, 0) < 0, -1.0, 1.0)


def tridiagonal(d: Any, e: Any) -> Any:
    """The lower triangle of a symmetric matrix with three diagonals."""
    return np.diag(d) + np.diag(e, -1)


def from_bands(bands: Any, lower: bool) -> Any:
    """One triangle of a symmetric matrix, from its bands as SciPy stores them."""
    last, n = bands.shape[0] - 1, bands.shape[1]
    whole = np.zeros((n, n), bands.dtype)
    for k in range(last + 1):
        whole = whole + (np.diag(bands[k, : n - k], -k) if lower else np.diag(bands[last - k, k:], k))
    return whole


def values_of_pair(reference: Any, a: Any, b: Any) -> Any:
    """``eigvals(a, b)`` in the order of the `reference`."""
    values = np.linalg.eigvals(np.linalg.solve(b, a))
    return values[nearest(reference, values)]


def nearest(reference: Any, values: Any) -> Any:
    """The places of the values that are nearest to others."""
    return np.argmin(np.abs(reference[:, None] - values), 1)


# Orthogonal similarities


def schur_of(triangle: Any, basis: Any, a: Any) -> Any:
    """``schur(a)``: the basis of SciPy's at this matrix, moved with the eigenvectors.

    A block of two rows has equal elements on its diagonal, which a rotation of its two vectors keeps.
    """
    pairs = np.diag(triangle, -1) != 0
    first, second = np.append(pairs, False), np.append(False, pairs)
    values, vectors = np.linalg.eig(a)
    vectors = vectors[:, nearest(eigenvalues_of(triangle), values)]
    q = np.linalg.qr(np.where(second, np.imag(vectors), np.real(vectors)))[0]
    q = q @ blocks_of(q, basis, first, second)
    t = q.T @ a @ q
    gaps, sums = np.diag(t)[:-1] - np.diag(t)[1:], np.diag(t, 1) + np.diag(t, -1)
    angles = np.where(pairs, -np.arctan(gaps / np.where(pairs, sums, 1.0)) / 2, 0.0)
    cosines = np.cos(np.append(angles, 0.0) + np.append(0.0, angles))
    turn = np.diag(cosines) - np.diag(np.sin(angles), 1) + np.diag(np.sin(angles), -1)
    return np.triu(turn.T @ t @ turn, -1), q @ turn


def eigenvalues_of(triangle: Any) -> Any:
    """The eigenvalues of a triangle with blocks, from the top to the bottom."""
    product = np.diag(triangle, 1) * np.diag(triangle, -1)
    height = np.sqrt(np.maximum(-product, 0.0))
    return np.diag(triangle) + 1j * (np.append(height, 0.0) - np.append(0.0, height))


def blocks_of(q: Any, basis: Any, first: Any, second: Any) -> Any:
    """The signs and turns of the vectors of each block that make of `q` the `basis`."""
    number = np.cumsum(~second)
    return np.where(number[:, None] == number, q.T @ basis, 0.0)


def check_schur(triangle: Any) -> None:
    """Raise for what has no derivative: equal eigenvalues, and pairs whose vectors may be turned."""
    values = eigenvalues_of(triangle)
    gaps = np.abs(values[:, None] - values) + np.diag(np.full(len(values), np.inf))
    turned = np.diag(triangle, 1) + np.diag(triangle, -1)
    free = (np.diag(triangle, -1) != 0) & (np.abs(turned) <= 1e-12 * np.abs(np.diag(triangle, -1)))
    if np.min(gaps, initial=np.inf) <= 1e-13 * np.max(np.abs(values), initial=0.0) or np.any(free):
        raise NotDifferentiable(
            "the basis of scipy.linalg.schur is not unique for this matrix",
            "use eigvals(a), or a function of the matrix: expm, sqrtm, logm",
        )


def hessenberg_of(a: Any) -> Any:
    """``hessenberg(a, calc_q=True)`` by reflections, each of which clears one column below the subdiagonal."""
    n = len(a)
    q = np.eye(n)
    for k in range(n - 2):
        x = a[k + 1 :, k]
        ahead = np.linalg.norm(x) * np.where(x[0] < 0, -1.0, 1.0)
        v = np.concatenate([np.zeros(k + 1), x[:1] + ahead, x[1:]])
        v = v / np.linalg.norm(v)
        a = a - 2 * np.outer(v, v @ a)
        a = a - 2 * np.outer(a @ v, v)
        q = q - 2 * np.outer(q @ v, v)
    return np.triu(a, -1), q


def hessenberg_alone(a: Any) -> Any:
    return hessenberg_of(a)[0]


def check_hessenberg(a: Any) -> None:
    """Raise where a column is clear already: there the signs that SciPy takes jump."""
    n = len(a)
    for k in range(n - 2):
        x = a[k + 1 :, k]
        if not np.any(x[1:]):
            raise NotDifferentiable(
                f"column {k} of this matrix is one of a Hessenberg matrix already, and the signs of the result jump",
                "use functions of the matrix that do not depend on signs",
            )
        v = np.append(x[0] + np.copysign(np.linalg.norm(x), x[0]), x[1:])
        v = v / np.linalg.norm(v)
        a = a.copy()
        a[k + 1 :] -= 2 * np.outer(v, v @ a[k + 1 :])
        a[:, k + 1 :] -= 2 * np.outer(a[:, k + 1 :] @ v, v)


# Functions of a matrix


def function_of(fn: Any, a: Any) -> Any:
    """``funm(a, fn)`` by eigenvectors."""
    values, vectors = np.linalg.eig(a)
    return np.real(vectors * fn(values) @ np.linalg.inv(vectors))


def sign_of(a: Any) -> Any:
    """``signm(a)``."""
    return a @ np.linalg.inv(linalg.sqrtm(a @ a))


# Banded Cholesky factors


def banded_factor(bands: Any, lower: bool) -> Any:
    """``cholesky_banded(bands, lower=lower)``, column by column."""
    below = bands if lower else other_side(bands, False)
    last, n = below.shape[0] - 1, below.shape[1]
    columns = np.concatenate([below.T, np.ones((last, last + 1), below.dtype)])
    factor = np.zeros((n, last + 1), below.dtype)
    for j in range(n):
        column = columns[j] / np.sqrt(columns[j, 0])
        factor[j] = column
        for k in range(1, last + 1):
            columns[j + k, : last + 1 - k] -= column[k] * column[k:]
    found = factor.T if lower else other_side(factor.T, True)
    beside = np.arange(last + 1)[:, None] + np.arange(n)
    return np.where(beside < n if lower else beside >= last, found, bands)  # what stands outside of the matrix stays


def other_side(bands: Any, lower: bool) -> Any:
    """The bands of the transpose of a triangle, whose diagonal is the first line of `bands` if it is the lower one."""
    last, n = bands.shape[0] - 1, bands.shape[1]
    lines = []
    for k in range(last, -1, -1):
        by = k if lower else last - k
        gap = np.zeros(by, bands.dtype)
        lines.append(np.concatenate([gap, bands[k, : n - by]]) if lower else np.concatenate([bands[k, by:], gap]))
    return np.stack(lines)


def solved_by_banded(factor: Any, lower: bool, b: Any) -> Any:
    """``cho_solve_banded((factor, lower), b)``."""
    below = factor if lower else other_side(factor, False)
    last = below.shape[0] - 1
    forward = linalg.solve_banded((last, 0), below, b)
    return linalg.solve_banded((0, last), other_side(below, True), forward)


def rq_of_rows(reference: Any, a: Any) -> Any:
    """``rq(a, mode="economic")``, by the factors of the rows in the other order; the signs are those of `reference`."""
    q, r = np.linalg.qr(a[::-1].T)
    upper, rows = r.T[::-1, ::-1], q.T[::-1]
    signs = np.where(np.diag(upper) * np.diag(reference) < 0, -1.0, 1.0)
    return upper * signs, rows * signs[:, None]


def check_rq(a: Any, mode: str) -> None:
    """Raise for what has no derivative: a basis of more rows than the matrix has, or factors that are not unique."""
    height, width = a.shape
    if height > width or mode == "full" and height < width:
        raise NotDifferentiable(
            "scipy.linalg.rq has a derivative for matrices with no more rows than columns", "use mode='economic'"
        )
