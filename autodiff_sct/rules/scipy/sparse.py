"""Sparse matrices of ``scipy.sparse``: products with them and systems, by their elements and by what stands beside.

A matrix is given twice: as SciPy has `made` it, which computes, and as ``data`` at ``(rows, cols)``, through which the
derivatives pass.  Elements at the same place are added up.
"""

from typing import Any

import numpy as np
from scipy import sparse

from ...runtime.scipy.sparse import built, dense, product, solved, summed, turned
from ..table import forward, nondifferentiable, reverse, static

# What SciPy computes with the matrix that it has made


nondifferentiable(turned, built)


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
    change = product(built_for(how, d, rows, cols, b), d, rows, cols, y)
    return None, None, -solved(how, made, data, rows, cols, change), None, None, solved(how, made, data, rows, cols, d)


def built_for(how, data, rows, cols, b):
    """The tangent of the matrix of a system."""
    return sparse.csc_array((data, (rows, cols)), shape=(b.shape[0], b.shape[0]))


nondifferentiable(built_for)


@static
def turned_method(how):
    """The method for the system with the transpose."""
    return ("lu", "N" if how[1] == "T" else "T") if how[0] == "lu" else how


FUNCTIONS: tuple[Any, ...] = (product, dense, summed, solved)
for fn in FUNCTIONS:
    fn.stands_for = "a function of a sparse matrix"
