"""Colours of columns: those of one colour have no row in common, so that one direction serves them all."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

__all__ = ["coloured"]


def coloured(pattern: csr_array) -> np.ndarray:
    """Return a colour for each column, numbered from 0.

    In a band, columns that are as far from each other as the widest row may share a colour.  Where that takes more than
    twice as many colours as the fullest row has entries, each column in turn gets the first colour that no column has
    with which it shares a row (greedy colouring at distance 2: A. R. Curtis, M. J. D. Powell and J. K. Reid, "On the
    estimation of sparse Jacobian matrices", IMA Journal of Applied Mathematics 13 (1974)).
    """
    rows = np.diff(pattern.indptr)
    if not pattern.nnz:
        return np.zeros(pattern.shape[1], int)
    filled = rows > 0
    starts = pattern.indptr[:-1][filled]
    widest = np.max(
        np.maximum.reduceat(pattern.indices, starts) - np.minimum.reduceat(pattern.indices, starts), initial=0
    )
    if widest + 1 <= 2 * np.max(rows):
        return np.arange(pattern.shape[1]) % (widest + 1)
    return greedy(pattern)


def greedy(pattern: csr_array) -> np.ndarray:
    """Return the first colour for each column that none of its neighbours has."""
    columns = pattern.tocsc()
    colours = np.full(pattern.shape[1], -1)
    for j in range(pattern.shape[1]):
        taken = set()
        for i in columns.indices[columns.indptr[j] : columns.indptr[j + 1]]:
            taken.update(colours[pattern.indices[pattern.indptr[i] : pattern.indptr[i + 1]]].tolist())
        colour = 0
        while colour in taken:
            colour += 1
        colours[j] = colour
    return colours
