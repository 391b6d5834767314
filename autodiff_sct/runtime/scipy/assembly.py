"""Sparse matrices that a program assembles element by element, as ``lil_matrix`` and ``dok_matrix``.

What is stored is kept in lists, one array for each store.  The matrix is made of them where it is converted: its
elements are those that stand in the end, of which those that were added to others are added up in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .sparse import Matrix, dense

__all__ = ["Assembly", "Cell"]


class Assembly:
    """The stores into a matrix, in their order; `added` marks elements that add to what is there before."""

    stands_for = "a sparse matrix that is being assembled"
    __array_ufunc__ = None

    def __init__(self, form: Any, lines: Any, columns: Any, values: Any, rows: Any, cols: Any, star: Any) -> None:
        self.form = form
        self.lines = lines
        self.columns = columns
        self.values = [values]
        self.rows = [rows]
        self.cols = [cols]
        self.added = [np.ones(rows.shape, bool)]
        self.star = star

    @property
    def shape(self) -> Any:
        return (self.lines, self.columns)

    @property
    def T(self) -> Any:
        return self.tocsr().T

    def __getitem__(self, key: Any) -> Any:
        return Cell(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(value, Cell):  # a cell is what `S[i, j] += v` has stored already
            self.store(key, value, False)

    def store(self, key: Any, value: Any, adds: Any) -> None:
        rows, cols = cells(self.lines, self.columns, key)
        self.values.append(np.ravel(np.broadcast_to(value, rows.shape)))
        self.rows.append(np.ravel(rows))
        self.cols.append(np.ravel(cols))
        self.added.append(np.full(rows.size, adds))

    def setdiag(self, values: Any, k: Any = 0) -> None:
        count = min(self.lines + min(k, 0), self.columns - max(k, 0))
        line = np.arange(count)
        self.store((line + max(-k, 0), line + max(k, 0)), values, False)

    def asformat(self, format: Any) -> Any:
        kept, rows, cols = standing(self.rows, self.cols, self.added)
        data = np.concatenate(self.values)[kept]
        made = assembled(data, rows, cols, (self.lines, self.columns), self.form, format)
        return Matrix(made.made, data, rows, cols, self.star)

    def tocsr(self, copy: Any = False) -> Any:
        return self.asformat("csr")

    def tocsc(self, copy: Any = False) -> Any:
        return self.asformat("csc")

    def tocoo(self, copy: Any = False) -> Any:
        return self.asformat("coo")

    def toarray(self) -> Any:
        made = self.tocsr()
        return dense(made.made, made.data_of, made.rows, made.cols)

    def dot(self, x: Any) -> Any:
        return self.tocsr() @ x

    def __matmul__(self, x: Any) -> Any:
        return self.tocsr() @ x

    def __mul__(self, x: Any) -> Any:
        return self.tocsr() * x

    def __rmul__(self, x: Any) -> Any:
        return x * self.tocsr()

    def __add__(self, other: Any) -> Any:
        return self.tocsr() + other

    def __sub__(self, other: Any) -> Any:
        return self.tocsr() - other

    def sum(self, axis: Any = None) -> Any:
        return self.tocsr().sum(axis)


class Cell:
    """``S[i, j]`` of a matrix that is being assembled: its number, and what is added to it."""

    stands_for = "an element of a sparse matrix that is being assembled"
    __array_ufunc__ = None

    def __init__(self, assembly: Any, key: Any) -> None:
        self.assembly = assembly
        self.key = key

    def number(self) -> Any:
        return self.assembly.tocsr()[self.key]

    def __iadd__(self, value: Any) -> Any:
        self.assembly.store(self.key, value, True)
        return self

    def __isub__(self, value: Any) -> Any:
        self.assembly.store(self.key, -value, True)
        return self

    def __add__(self, value: Any) -> Any:
        return self.number() + value

    def __radd__(self, value: Any) -> Any:
        return value + self.number()

    def __sub__(self, value: Any) -> Any:
        return self.number() - value

    def __rsub__(self, value: Any) -> Any:
        return value - self.number()

    def __mul__(self, value: Any) -> Any:
        return self.number() * value

    def __rmul__(self, value: Any) -> Any:
        return value * self.number()

    def __truediv__(self, value: Any) -> Any:
        return self.number() / value


def cells(lines: Any, columns: Any, key: Any) -> Any:
    """The rows and the columns of the elements that a key of a matrix means, in the shape of what is stored there."""
    shape = (lines, columns)
    return np.broadcast_to(np.arange(lines)[:, None], shape)[key], np.broadcast_to(np.arange(columns), shape)[key]


def standing(rows: Any, cols: Any, added: Any) -> Any:
    """The elements that stand in the end, and their rows and columns: not those that are replaced later."""
    store = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    row, col, adds = (np.concatenate(parts) for parts in (rows, cols, added))
    places = row.astype(np.int64) * (int(np.max(col, initial=0)) + 1) + col
    order = np.lexsort((np.arange(places.size), places))
    if order.size == 0:
        return order, row, col
    place, store_of = places[order], store[order]
    first = np.append(True, place[1:] != place[:-1])
    last = np.append((store_of[1:] != store_of[:-1]) | first[1:], True)  # of one store, the last element of a place
    last |= store_of == 0  # what there was before, whose elements add up
    replaces = np.where(last & ~adds[order], np.arange(order.size), -1)
    since = np.maximum.reduceat(replaces, np.flatnonzero(first))[np.cumsum(first) - 1]
    kept = last & (np.arange(order.size) >= since)
    found = np.sort(order[kept])
    return found, row[found], col[found]


def assembled(data: Any, rows: Any, cols: Any, shape: Any, form: Any, format: Any) -> Any:
    """The matrix, in which numbers are added up in the order in which the program adds them."""
    width = int(shape[1])
    places, index = np.unique(rows.astype(np.int64) * width + cols, return_inverse=True)
    total = np.zeros(places.size)
    np.add.at(total, index, data)
    stored = total != 0
    made = sparse.coo_array((total[stored], (places[stored] // width, places[stored] % width)), shape=shape)
    return (made if form.endswith("array") else sparse.coo_matrix(made)).asformat(format)
