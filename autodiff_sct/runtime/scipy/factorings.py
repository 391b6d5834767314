"""Factorisations of ``scipy.linalg`` whose derivatives are those of others: SciPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ...errors import NotDifferentiable

__all__ = ["check_rq", "part_of_spectrum", "part_of_values", "rq_of_rows"]


def part_of_values(a: Any, first: int, last: int, lower: bool) -> Any:
    """Some of the eigenvalues."""
    return linalg.eigvalsh(a, lower=lower)[first : last + 1]


def part_of_spectrum(reference: Any, a: Any, first: int, last: int, lower: bool) -> Any:
    """``eigh(a, subset_by_index=[first, last])``; the signs of the vectors are those of the `reference`."""
    values, vectors = linalg.eigh(a, lower=lower)
    return values[first : last + 1], vectors_like(reference, vectors[:, first : last + 1])


def vectors_like(reference: Any, vectors: Any) -> Any:
    """Columns with the signs of others."""
    return vectors * np.where(np.sum(vectors * reference, 0) < 0, -1.0, 1.0)


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
