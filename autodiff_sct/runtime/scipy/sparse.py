"""Sparse matrices that a differentiated program makes: SciPy's own, and its elements with their places."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...errors import NotDifferentiable

__all__ = ["Factors", "Matrix"]


class Matrix:
    """``made``, whose elements are ``data`` at ``(rows, cols)``; `star` if ``*`` multiplies matrices."""

    stands_for = "a sparse matrix"

    def __init__(self, made: Any, data: Any, rows: Any, cols: Any, star: Any) -> None:
        self.made = made
        self.data_of = data
        self.rows = rows
        self.cols = cols
        self.star = star

    @property
    def T(self) -> Any:
        return Matrix(turned(self.made), self.data_of, self.cols, self.rows, self.star)

    @property
    def shape(self) -> Any:
        return (height(self.made), width(self.made))

    def transpose(self) -> Any:
        return self.T

    def __matmul__(self, x: Any) -> Any:
        return product(self.made, self.data_of, self.rows, self.cols, x)

    def dot(self, x: Any) -> Any:
        return self @ x

    def toarray(self) -> Any:
        return dense(self.made, self.data_of, self.rows, self.cols)

    def sum(self, axis: Any = None) -> Any:
        return summed(self.made, self.data_of, self.rows, self.cols, axis)

    def __mul__(self, x: Any) -> Any:
        if self.star and np.ndim(x) > 0:
            return self @ x
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
        made = multiplied(self.made, x)
        if np.ndim(x) == 0:
            return Matrix(made, self.data_of * x, self.rows, self.cols, self.star)
        if np.ndim(x) == 1:
            return Matrix(made, self.data_of * x[self.cols], self.rows, self.cols, self.star)
        return Matrix(made, self.data_of * x[self.rows, self.cols], self.rows, self.cols, self.star)

    def tocsr(self, copy: Any = False) -> Any:
        return Matrix(formatted(self.made, "csr"), self.data_of, self.rows, self.cols, self.star)

    def tocsc(self, copy: Any = False) -> Any:
        return Matrix(formatted(self.made, "csc"), self.data_of, self.rows, self.cols, self.star)

    def tocoo(self, copy: Any = False) -> Any:
        return Matrix(formatted(self.made, "coo"), self.data_of, self.rows, self.cols, self.star)

    def asformat(self, format: Any) -> Any:
        return Matrix(formatted(self.made, format), self.data_of, self.rows, self.cols, self.star)

    def copy(self) -> Any:
        return Matrix(self.made, self.data_of, self.rows, self.cols, self.star)


class Factors:
    """What ``splu`` and ``factorized`` return: `made` solves systems with a matrix."""

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


def times(made: Any, x: Any) -> Any:
    return made * x


def plus(made: Any, other: Any) -> Any:
    return made + other


def minus(made: Any, other: Any) -> Any:
    return made - other


def multiplied(made: Any, x: Any) -> Any:
    return made.multiply(x)


def formatted(made: Any, format: Any) -> Any:
    return made.asformat(format)


# Places of elements


def kron(made: Any, first: Any, second: Any) -> Any:
    """``scipy.sparse.kron(first, second)``."""
    rows = np.reshape(first.rows[:, None] * height(second.made) + second.rows, -1)
    cols = np.reshape(first.cols[:, None] * width(second.made) + second.cols, -1)
    return Matrix(made, np.kron(first.data_of, second.data_of), rows, cols, first.star)


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


def product(made: Any, data: Any, rows: Any, cols: Any, x: Any) -> Any:
    """``made @ x``."""
    return made @ x


def dense(made: Any, data: Any, rows: Any, cols: Any) -> Any:
    """``made.toarray()``."""
    return made.toarray()


def summed(made: Any, data: Any, rows: Any, cols: Any, axis: Any) -> Any:
    """``made.sum(axis)``."""
    return made.sum(axis)


def solved(how: Any, made: Any, data: Any, rows: Any, cols: Any, b: Any) -> Any:
    """The solution of ``made @ x = b`` by the method `how`, whose name is followed by its settings."""
    if how[0] == "lu":
        return made.solve(b, how[1])
    if how[0] == "spsolve":
        return linalg.spsolve(made, b)
    return getattr(linalg, how[0])(made, b, **dict(how[1]))[0]
