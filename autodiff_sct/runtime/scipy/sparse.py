"""Sparse matrices that a differentiated program makes: SciPy's own, and its elements with their places."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...errors import ArgumentValueError, NotDifferentiable
from .numpy_matrix import NumPyMatrix

__all__ = ["Factors", "Matrix"]


class Matrix:
    """``made``, whose elements are ``data`` at ``(rows, cols)``; `star` if ``*`` multiplies matrices."""

    stands_for = "a sparse matrix"
    __array_ufunc__ = None
    with_derivative = ("data", "data_of")
    of_program = (
        "made",
        "data",
    )  # fields that no derivative program inside is given: `made` is the matrix itself there

    def __init__(self, made: Any, data: Any, rows: Any, cols: Any, star: Any) -> None:
        self.made = made
        self.data_of = data
        self.rows = rows
        self.cols = cols
        self.star = star

    @property
    def T(self) -> Any:
        return Matrix(turned(self.made), self.data_of, self.cols, self.rows, self.star)

    @staticmethod
    def rebuild(matrix: Any, data_of: Any) -> Any:
        """A gradient: a matrix with other elements at the same places."""
        made = built(data_of, matrix.rows, matrix.cols, matrix)
        return Matrix(made.made, data_of, matrix.rows, matrix.cols, matrix.star)

    @staticmethod
    def check_direction(matrix: Any, direction: Any) -> None:
        check_places(matrix.rows, matrix.cols, direction.rows, direction.cols)

    @property
    def data(self) -> Any:
        return stored(self)

    @property
    def shape(self) -> Any:
        return (height(self.made), width(self.made))

    @property
    def dtype(self) -> Any:
        return self.data_of.dtype

    @property
    def nnz(self) -> Any:
        return stored_count(self.made)

    @property
    def ndim(self) -> Any:
        return 2

    def transpose(self) -> Any:
        return self.T

    def __matmul__(self, x: Any) -> Any:
        x = as_operand(x)
        if isinstance(x, Matrix):
            i, j = pairs(self.cols, x.rows)
            made = by_method("__matmul__", self.made, x.made)
            return Matrix(made, self.data_of[i] * x.data_of[j], self.rows[i], x.cols[j], self.star)
        return product(self.made, self.data_of, self.rows, self.cols, x)

    def __rmatmul__(self, x: Any) -> Any:
        return (self.T @ x.T).T

    def dot(self, x: Any) -> Any:
        return self @ x

    def toarray(self) -> Any:
        return dense(self.made, self.data_of, self.rows, self.cols)

    def todense(self) -> Any:
        return NumPyMatrix(self.toarray()) if self.star else self.toarray()

    def sum(self, axis: Any = None) -> Any:
        if axis is not None and self.star:
            total = flat_sums(self.made, self.data_of, self.rows, self.cols, axis)
            return NumPyMatrix(total[None, :] if axis in (0, -2) else total[:, None])
        return summed(self.made, self.data_of, self.rows, self.cols, axis)

    def __mul__(self, x: Any) -> Any:
        x = as_operand(x)
        if isinstance(x, Matrix):
            return self @ x if self.star else self.multiply(x)
        if np.ndim(x) > 0:
            return self @ x if self.star else self.multiply(x)
        return Matrix(times(self.made, x), self.data_of * x, self.rows, self.cols, self.star)

    def __rmul__(self, x: Any) -> Any:
        return Matrix(times(self.made, x), self.data_of * x, self.rows, self.cols, self.star)

    def __truediv__(self, x: Any) -> Any:
        return Matrix(times(self.made, 1 / x), self.data_of / x, self.rows, self.cols, self.star)

    def __neg__(self) -> Any:
        return Matrix(times(self.made, -1), -self.data_of, self.rows, self.cols, self.star)

    def __add__(self, other: Any) -> Any:
        other = as_matrix(other)
        data = np.concatenate([self.data_of, other.data_of])
        rows, cols = np.concatenate([self.rows, other.rows]), np.concatenate([self.cols, other.cols])
        return Matrix(plus(self.made, other.made), data, rows, cols, self.star)

    def __sub__(self, other: Any) -> Any:
        other = as_matrix(other)
        data = np.concatenate([self.data_of, -other.data_of])
        rows, cols = np.concatenate([self.rows, other.rows]), np.concatenate([self.cols, other.cols])
        return Matrix(minus(self.made, other.made), data, rows, cols, self.star)

    def multiply(self, x: Any) -> Any:
        x = as_operand(x)
        if isinstance(x, Matrix):
            made, first, second = by_method("multiply", self.made, x.made), merged(self), merged(x)
            i, j = common(first.rows, first.cols, second.rows, second.cols)
            return Matrix(made, first.data_of[i] * second.data_of[j], first.rows[i], first.cols[i], self.star)
        made = by_method("multiply", self.made, x)
        if np.ndim(x) == 0:
            return Matrix(made, self.data_of * x, self.rows, self.cols, self.star)
        if np.ndim(x) == 1:
            return Matrix(made, self.data_of * x[self.cols], self.rows, self.cols, self.star)
        rows, cols = np.minimum(self.rows, x.shape[0] - 1), np.minimum(self.cols, x.shape[1] - 1)
        return Matrix(made, self.data_of * x[rows, cols], self.rows, self.cols, self.star)

    def tocsr(self, copy: Any = False) -> Any:
        return Matrix(formatted(self.made, "csr"), self.data_of, self.rows, self.cols, self.star)

    def tocsc(self, copy: Any = False) -> Any:
        return Matrix(formatted(self.made, "csc"), self.data_of, self.rows, self.cols, self.star)

    def tocoo(self, copy: Any = False) -> Any:
        return Matrix(formatted(self.made, "coo"), self.data_of, self.rows, self.cols, self.star)

    def tolil(self, copy: Any = False) -> Any:
        raise NotImplementedError("a matrix to which more is stored, for the compiler")

    def todok(self, copy: Any = False) -> Any:
        raise NotImplementedError("the same")

    def asformat(self, format: Any) -> Any:
        return Matrix(formatted(self.made, format), self.data_of, self.rows, self.cols, self.star)

    def copy(self) -> Any:
        return Matrix(self.made, self.data_of, self.rows, self.cols, self.star)

    def mean(self, axis: Any = None) -> Any:
        height, width = self.shape
        return self.sum(axis) / (height * width if axis is None else height if axis in (0, -2) else width)

    def getrow(self, i: Any) -> Any:
        return self[[i]]

    def getcol(self, j: Any) -> Any:
        return self[:, [j]]

    def diagonal(self) -> Any:
        return diagonal_of(self.made, self.data_of, self.rows, self.cols)

    def trace(self) -> Any:
        return np.sum(self.diagonal())

    def power(self, n: Any) -> Any:
        m = merged(self)
        return Matrix(by_method("power", self.made, n), m.data_of**n, m.rows, m.cols, self.star)

    def __pow__(self, n: Any) -> Any:
        return as_plain(self).power(n)

    def sqrt(self) -> Any:
        m = merged(self)
        return Matrix(by_method("sqrt", self.made), np.sqrt(m.data_of), m.rows, m.cols, self.star)

    def __abs__(self) -> Any:
        m = merged(self)
        return Matrix(by_method("__abs__", self.made), np.abs(m.data_of), m.rows, m.cols, self.star)

    def __getitem__(self, key: Any) -> Any:
        return item(self, key)


class Factors:
    """The result of ``splu`` and ``factorized``: `made` solves systems with a matrix."""

    def __init__(self, made: Any, matrix: Any) -> None:
        self.made = made
        self.matrix = matrix

    def solve(self, b: Any, trans: Any = "N") -> Any:
        if trans == "N":
            return solved(("lu", "N"), self.made, self.matrix.data_of, self.matrix.rows, self.matrix.cols, b)
        return solved(("lu", "T"), self.made, self.matrix.data_of, self.matrix.cols, self.matrix.rows, b)

    def __call__(self, b: Any) -> Any:
        return self.solve(b)


# What SciPy computes beside the elements


def as_matrix(other: Any) -> Any:
    """SciPy's matrix with its elements beside it."""
    return other


def as_operand(other: Any) -> Any:
    """The same of a sparse matrix; an array and a number as they are."""
    return other


def times(made: Any, x: Any) -> Any:
    return made * x


def plus(made: Any, other: Any) -> Any:
    return made + other


def minus(made: Any, other: Any) -> Any:
    return made - other


def by_method(name: str, made: Any, *args: Any) -> Any:
    """The result of a method of SciPy's matrix."""
    return getattr(made, name)(*args)


def formatted(made: Any, format: Any) -> Any:
    return made.asformat(format)


# Places of elements


def kron(made: Any, first: Any, second: Any) -> Any:
    """``scipy.sparse.kron(first, second)``."""
    rows = np.reshape(first.rows[:, None] * height(second.made) + second.rows, -1)
    cols = np.reshape(first.cols[:, None] * width(second.made) + second.cols, -1)
    return Matrix(made, np.kron(first.data_of, second.data_of), rows, cols, first.star)


def flat_sums(made: Any, data: Any, rows: Any, cols: Any, axis: Any) -> Any:
    """The sums of rows or columns, of which a ``csr_matrix`` and its like make an ``np.matrix``."""
    return np.asarray(made.sum(axis)).reshape(-1)


def stored(matrix: Any) -> Any:
    """The elements of a matrix as SciPy has stored them."""
    return matrix.made.data


def as_plain(matrix: Any) -> Any:
    """A matrix whose class has operators and results as arrays have."""
    return matrix


def check_places(rows: Any, cols: Any, others: Any, beside: Any) -> None:
    """Raise unless the elements of two matrices are at the same places, in the same order."""
    if not (np.array_equal(rows, others) and np.array_equal(cols, beside)):
        raise ArgumentValueError("a direction has elements at other places than the matrix that it belongs to")


def stored_count(made: Any) -> Any:
    return made.nnz


def height(made: Any) -> Any:
    return made.shape[0]


def width(made: Any) -> Any:
    return made.shape[1]


def elements(made: Any) -> Any:
    """The elements of a constant matrix, and their rows and columns."""
    found = made.tocoo()
    if found.dtype == np.float32:
        raise NotDifferentiable(
            "a constant sparse matrix in single precision meets one with a derivative",
            "convert the constant matrix: `S.astype(float)`",
            code="setting",
        )
    return found.data.astype(float), found.row, found.col


def elements_of_array(x: Any) -> Any:
    """All elements of an array of two axes, and their rows and columns."""
    height, width = x.shape
    return np.reshape(x, -1), np.repeat(np.arange(height), width), np.tile(np.arange(width), height)


def places(made: Any) -> Any:
    """The rows and the columns of the elements of a matrix, in the order in which ``made.data`` has them."""
    if len(made.shape) != 2:
        raise NotDifferentiable("a sparse array of one axis has no derivative here", "give it two axes")
    if made.format == "coo":
        return made.coords if hasattr(made, "coords") else (made.row, made.col)
    if made.format == "dia":
        cols = np.arange(made.data.shape[1])
        return tuple(np.reshape(a, -1) for a in np.broadcast_arrays(cols - made.offsets[:, None], cols))
    lines = np.repeat(np.arange(len(made.indptr) - 1), np.diff(made.indptr))
    if made.format == "csc":
        return made.indices, lines
    if made.format == "csr":
        return lines, made.indices
    height, width = made.blocksize
    rows = height * lines[:, None, None] + np.arange(height)[:, None]
    cols = width * made.indices[:, None, None] + np.arange(width)
    return tuple(np.reshape(a, -1) for a in np.broadcast_arrays(rows, cols))


def inner(rows: Any, cols: Any, made: Any) -> Any:
    """True for elements inside of the matrix: a matrix of diagonals has others."""
    height, width = made.shape
    return np.flatnonzero((rows >= 0) & (rows < height) & (cols < width))


def merged(matrix: Any) -> Any:
    """The matrix with one element at each place."""
    index, rows, cols = distinct(matrix.rows, matrix.cols)
    data = np.bincount(index, matrix.data_of, rows.size).astype(matrix.data_of.dtype)
    return Matrix(matrix.made, data, rows, cols, matrix.star)


def distinct(rows: Any, cols: Any) -> Any:
    """The number of each element's place, and the places."""
    width = int(np.max(cols, initial=0)) + 1
    found, index = np.unique(rows.astype(np.int64) * width + cols, return_inverse=True)
    return index, found // width, found % width


def pairs(cols: Any, rows: Any) -> Any:
    """The elements of two matrices that are multiplied in the product of both: those with ``cols[i] == rows[j]``."""
    order = np.argsort(rows, kind="stable")
    first, last = np.searchsorted(rows[order], cols, "left"), np.searchsorted(rows[order], cols, "right")
    i = np.repeat(np.arange(cols.size), last - first)
    return i, order[np.arange(i.size) - np.repeat(np.cumsum(last - first) - last, last - first)]


def common(rows: Any, cols: Any, others: Any, beside: Any) -> Any:
    """The elements of two matrices that are at one place."""
    width = int(max(np.max(cols, initial=0), np.max(beside, initial=0))) + 1
    first, second = (r.astype(np.int64) * width + c for r, c in ((rows, cols), (others, beside)))
    return np.intersect1d(first, second, assume_unique=True, return_indices=True)[1:]


def part_of(first: Any, second: Any, rows: Any, cols: Any, made: Any) -> Any:
    """The elements in a part of a matrix, and their rows and columns there."""
    height, width = made.shape
    i, j = pairs(np.atleast_1d(np.arange(height)[first]), rows)
    a, k = pairs(cols[j], np.atleast_1d(np.arange(width)[second]))
    return j[a], i[a], k


def item(matrix: Any, key: Any) -> Any:
    """``matrix[key]``."""
    return matrix.made[key]


def element(matrix: Any, i: Any, j: Any) -> Any:
    """One element of a matrix."""
    found = part_of(i, j, matrix.rows, matrix.cols, matrix.made)[0]
    return np.sum(matrix.data_of[found])


def part(made: Any, matrix: Any, first: Any, second: Any) -> Any:
    """The elements of a part of a matrix."""
    found, rows, cols = part_of(first, second, matrix.rows, matrix.cols, matrix.made)
    return Matrix(made, matrix.data_of[found], rows, cols, matrix.star)


def corners(grid: Any) -> Any:
    """The first row and the first column of each block in rows of blocks, of which some are None."""
    shapes = [[None if block is None else block.shape for block in line] for line in grid]
    heights = [max((shape[0] for shape in line if shape), default=0) for line in shapes]
    widths = [max((shape[1] for shape in column if shape), default=0) for column in zip(*shapes)]
    places = [(i, j) for i, line in enumerate(shapes) for j, shape in enumerate(line) if shape]
    first, second = np.array(places).T
    return np.cumsum([0, *heights])[first], np.cumsum([0, *widths])[second]


def joined(made: Any, starts: Any, blocks: Any) -> Any:
    """A matrix of blocks, which begin at some rows and columns."""
    data = np.concatenate([block.data_of for block in blocks])
    rows = np.concatenate([block.rows + starts[0][k] for k, block in enumerate(blocks)])
    cols = np.concatenate([block.cols + starts[1][k] for k, block in enumerate(blocks)])
    return Matrix(made, data, rows, cols, blocks[0].star)


def kept(made: Any, matrix: Any, index: Any) -> Any:
    """Some of the elements of a matrix."""
    return Matrix(made, matrix.data_of[index], matrix.rows[index], matrix.cols[index], matrix.star)


def below(rows: Any, cols: Any, k: Any) -> Any:
    """The elements on a diagonal and below it."""
    return np.flatnonzero(cols - rows <= k)


def above(rows: Any, cols: Any, k: Any) -> Any:
    """The elements on a diagonal and above it."""
    return np.flatnonzero(cols - rows >= k)


def diagonal_rows(lengths: Any, offsets: Any) -> Any:
    return np.concatenate([np.arange(n) + max(-k, 0) for n, k in zip(lengths, offsets)])


def diagonal_columns(lengths: Any, offsets: Any) -> Any:
    return np.concatenate([np.arange(n) + max(k, 0) for n, k in zip(lengths, offsets)])


# Operations that have a rule: of matrices and their elements at some places


def turned(made: Any) -> Any:
    """The transpose."""
    return made.T


def built(data: Any, rows: Any, cols: Any, made: Any) -> Any:
    """A matrix with other elements at the same places."""
    return sparse.csc_array((data, (rows, cols)), shape=made.shape)


def made_of(data: Any, rows: Any, cols: Any, height: Any, width: Any) -> Any:
    """A matrix with elements at some places."""
    return sparse.csc_array((data, (rows, cols)), shape=(height, width))


def product(made: Any, data: Any, rows: Any, cols: Any, x: Any) -> Any:
    """``made @ x``."""
    return made @ x


def diagonal_of(made: Any, data: Any, rows: Any, cols: Any) -> Any:
    """``made.diagonal()``."""
    return made.diagonal()


def dense(made: Any, data: Any, rows: Any, cols: Any) -> Any:
    """``made.toarray()``."""
    return made.toarray()


def summed(made: Any, data: Any, rows: Any, cols: Any, axis: Any) -> Any:
    """``made.sum(axis)``."""
    return made.sum(axis)


def frobenius(made: Any, data: Any, rows: Any, cols: Any) -> Any:
    """``scipy.sparse.linalg.norm(made)``."""
    index, places, _ = distinct(rows, cols)
    return np.linalg.norm(np.bincount(index, data, places.size))


def exponential(made: Any, data: Any, rows: Any, cols: Any, b: Any, steps: Any) -> Any:
    """``expm_multiply(made, b)`` by Taylor series in short steps."""
    for _ in range(steps):
        term = b
        for j in range(1, 19):
            term = product(made, data, rows, cols, term) / (j * steps)
            b = b + term
    return b


def steps_of(made: Any) -> int:
    """The number of steps in which a matrix is short enough for `exponential`."""
    return max(1, int(np.ceil(linalg.norm(made, 1))))


def spectrum(made: Any, data: Any, rows: Any, cols: Any) -> Any:
    """``eigsh(made)``: eigenvalues and eigenvectors of a symmetric matrix, as many as the program asks for."""
    raise NotImplementedError("a spectrum is found by the call of the program")


def solved(how: Any, made: Any, data: Any, rows: Any, cols: Any, b: Any) -> Any:
    """The solution of ``made @ x = b`` by the method `how`, whose name is followed by its settings."""
    if how[0] == "lu":
        return made.solve(b, how[1])
    if how[0] == "spsolve":
        return linalg.spsolve(made, b, **dict(how[1]))
    return getattr(linalg, how[0])(made, b, **dict(how[1]))[0]
