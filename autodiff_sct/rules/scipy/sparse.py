"""Sparse matrices of ``scipy.sparse``: products with them and systems, by their elements and by what stands beside.

A matrix is given twice: as SciPy has `made` it, which computes, and as ``data`` at ``(rows, cols)``, through which the
derivatives pass.  Elements at the same place are added up.
"""

from typing import Any

import numpy as np

from ...runtime.scipy.sparse import built, dense, diagonal_of, made_of, product, solved, spectrum, summed, turned
from ..shape import upto
from ..table import forward, nondifferentiable, reverse, static

# What SciPy computes with the matrix that it has made


nondifferentiable(turned, built, made_of)


@reverse(product)
def of_product(y, d, made, data, rows, cols, x):
    return None, at_places(d, x, rows, cols), None, None, product(turned(made), data, cols, rows, d)


@forward(product)
def push_product(y, d, made, data, rows, cols, x):
    return None, product(built(d, rows, cols, made), d, rows, cols, x), None, None, product(made, data, rows, cols, d)


def at_places(a, b, rows, cols):
    """The elements of ``a @ b.T`` at some places."""
    found = a[rows] * b[cols]
    return found if a.ndim == 1 else np.sum(found, 1)


@reverse(dense)
def of_dense(y, d, made, data, rows, cols):
    return None, d[rows, cols]


@forward(dense)
def push_dense(y, d, made, data, rows, cols):
    return None, dense(built(d, rows, cols, made), d, rows, cols)


@reverse(diagonal_of)
def of_diagonal(y, d, made, data, rows, cols):
    return None, np.where(rows == cols, d[np.minimum(rows, d.size - 1)], 0).astype(d.dtype)


@forward(diagonal_of)
def push_diagonal(y, d, made, data, rows, cols):
    return None, diagonal_of(built(d, rows, cols, made), d, rows, cols)


@reverse(summed)
def of_summed(y, d, made, data, rows, cols, axis):
    return None, d if axis is None else d[cols] if axis in (0, -2) else d[rows]


@forward(summed)
def push_summed(y, d, made, data, rows, cols, axis):
    return None, summed(built(d, rows, cols, made), d, rows, cols, axis)


# Systems


@reverse(solved)
def of_solved(y, d, how, made, data, rows, cols, b):
    d_b = solved(turned_method(how), made if how[0] == "lu" else turned(made), data, cols, rows, d)
    return None, None, None if data is None else -at_places(d_b, y, rows, cols), None, None, d_b


@forward(solved)
def push_solved(y, d, how, made, data, rows, cols, b):
    if data is None:
        return None, None, None, None, None, solved(how, made, data, rows, cols, d)
    change = product(made_of(d, rows, cols, b.shape[0], b.shape[0]), d, rows, cols, y)
    return None, None, -solved(how, made, data, rows, cols, change), None, None, solved(how, made, data, rows, cols, d)


@static
def turned_method(how):
    """The method for the system with the transpose."""
    return ("lu", "N" if how[1] == "T" else "T") if how[0] == "lu" else how


# Spectra.  An eigenvector moves by the solution of a system that is bordered by the vector itself.


@reverse(spectrum)
def of_spectrum(y, d, made, data, rows, cols):
    left = np.zeros_like(y[1])
    if d[1] is not None:
        left = left + np.stack([-of_border(y, k, made, data, rows, cols, d[1][:, k]) for k in upto(y[0].size)], 1)
    if d[0] is not None:
        left = left + d[0] * y[1]
    both = at_places(left, y[1], rows, cols) + at_places(y[1], left, rows, cols)
    return None, both / 2


@forward(spectrum)
def push_spectrum(y, d, made, data, rows, cols):
    change = product(built(d, rows, cols, made), d, rows, cols, y[1])
    moved = [-of_border(y, k, made, data, rows, cols, change[:, k]) for k in upto(y[0].size)]
    return None, (np.sum(y[1] * change, 0), np.stack(moved, 1)), None, None


def of_border(y, k, made, data, rows, cols, b):
    """The solution of ``(made - y[0][k]) @ x = b`` orthogonal to the eigenvector, for the part of `b` that is."""
    n, v = b.size, y[1][:, k]
    line = np.arange(n)
    elements = np.concatenate([data, -y[0][k] * np.ones(n), v, v])
    i, j = np.concatenate([rows, line, line, line * 0 + n]), np.concatenate([cols, line, line * 0 + n, line])
    whole = made_of(elements, i, j, n + 1, n + 1)
    return solved(("spsolve", ()), whole, elements, i, j, np.concatenate([b, np.zeros(1)]))[:n]


FUNCTIONS: tuple[Any, ...] = (product, dense, diagonal_of, summed, solved, spectrum)
for fn in FUNCTIONS:
    fn.stands_for = "a function of a sparse matrix"
