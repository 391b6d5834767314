"""Matrices of ``scipy.linalg`` with a structure: Toeplitz, circulant, block-diagonal, banded and symmetric ones."""

import numpy as np
from scipy import linalg

from ...errors import NoRule
from ..linalg import mirrored, onto_triangle
from ..shape import alone, upto
from ..table import by_item, forward, reverse
from .linalg import check_settings

# Matrices made of vectors


@reverse(linalg.toeplitz)
def toeplitz(y, d, c, r=None):
    check_real(c)
    if r is None:
        return sums_below(d, c.size) + without_first(sums_below(d.T, c.size))
    return sums_below(d, c.size), without_first(sums_below(d.T, r.size))


@forward(linalg.toeplitz)
def push_toeplitz(y, d, c, r=None):
    check_real(c)
    if r is None:
        return linalg.toeplitz(d)
    return linalg.toeplitz(d, np.zeros_like(r)), linalg.toeplitz(np.zeros_like(c), d)


def sums_below(d, n):
    """The sums of the main diagonal and of those below it."""
    return np.array([np.trace(d, -k) for k in range(n)])


def without_first(d):
    """A vector with 0 in the place of its first element, which stands in the other vector."""
    return np.concatenate([np.zeros_like(d[:1]), d[1:]])


@reverse(linalg.circulant)
def circulant(y, d, c):
    if c.ndim > 1:
        raise NoRule("scipy.linalg.circulant is differentiable for one vector")
    places = np.arange(c.size)
    return np.array([np.sum(d[(places + k) % c.size, places]) for k in range(c.size)])


@forward(linalg.circulant)
def push_circulant(y, d, c):
    return linalg.circulant(d)


@reverse(linalg.block_diag)
def block_diag(y, d, *arrs):
    return tuple([block(d, arrs, k) for k in upto(len(arrs))])


@forward(linalg.block_diag)
def push_block_diag(y, d, *arrs):
    return (*[linalg.block_diag(*alone(d, k, arrs)) for k in upto(len(arrs))],)


def block(d, arrs, k):
    """The part of the cotangent where the `k`-th block stands."""
    rows = sum([height(a) for a in arrs[:k]])
    columns = sum([width(a) for a in arrs[:k]])
    return np.reshape(d[rows : rows + height(arrs[k]), columns : columns + width(arrs[k])], np.shape(arrs[k]))


def height(a):
    return 1 if np.ndim(a) < 2 else a.shape[0]


def width(a):
    return np.size(a) if np.ndim(a) < 2 else a.shape[1]


@reverse(linalg.khatri_rao)
def khatri_rao(y, d, a, b):
    blocks = np.reshape(d, (a.shape[0], b.shape[0], a.shape[1]))
    return np.einsum("ijk,jk->ik", blocks, b), np.einsum("ijk,ik->jk", blocks, a)


@forward(linalg.khatri_rao)
def push_khatri_rao(y, d, a, b):
    return linalg.khatri_rao(d, b), linalg.khatri_rao(a, d)


def check_real(a):
    """Refuse a matrix that is conjugated on one side of its diagonal, or one for each row."""
    if np.iscomplexobj(a) or a.ndim > 1:
        raise NoRule("scipy.linalg.toeplitz is differentiable for real vectors")


# Systems with them


@reverse(linalg.solve_toeplitz)
def solve_toeplitz(y, d, c_or_cr, b, check_finite=True):
    check_vector(y)
    if isinstance(c_or_cr, tuple):
        d_b = linalg.solve_toeplitz((c_or_cr[1], c_or_cr[0]), d)
        return (-lags(d_b, y), -without_first(lags(y, d_b))), d_b
    d_b = linalg.solve_toeplitz(c_or_cr, d)
    return -(lags(d_b, y) + without_first(lags(y, d_b))), d_b


@forward(linalg.solve_toeplitz)
def push_solve_toeplitz(y, d, c_or_cr, b, check_finite=True):
    check_vector(y)
    if isinstance(c_or_cr, tuple):
        return (
            [
                -linalg.solve_toeplitz(c_or_cr, linalg.toeplitz(d, np.zeros_like(c_or_cr[1])) @ y),
                -linalg.solve_toeplitz(c_or_cr, linalg.toeplitz(np.zeros_like(c_or_cr[0]), d) @ y),
            ],
            linalg.solve_toeplitz(c_or_cr, d),
        )
    return -linalg.solve_toeplitz(c_or_cr, linalg.toeplitz(d) @ y), linalg.solve_toeplitz(c_or_cr, d)


by_item(linalg.solve_toeplitz)


def lags(a, b):
    """The sums of ``a[j + k] * b[j]`` for each k."""
    return np.correlate(a, b, "full")[b.size - 1 :]


def check_vector(y):
    """Refuse what has no derivative here: complex systems, and several systems at once."""
    if np.iscomplexobj(y) or y.ndim > 1:
        raise NoRule("scipy.linalg.solve_toeplitz is differentiable for one real right side")


@reverse(linalg.solve_banded)
def solve_banded(y, d, l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    check_settings(ab, overwrite_ab or overwrite_b)
    lower, upper = l_and_u
    d_b = linalg.solve_banded((upper, lower), turned(ab, lower), d)
    return None, -bands_of(d_b, y, ab, upper), d_b


@forward(linalg.solve_banded)
def push_solve_banded(y, d, l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    check_settings(ab, overwrite_ab or overwrite_b)
    return (
        None,
        -linalg.solve_banded(l_and_u, ab, band_product(d, y, l_and_u[0])),
        linalg.solve_banded(l_and_u, ab, d),
    )


@reverse(linalg.solveh_banded)
def solveh_banded(y, d, ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    check_settings(ab, overwrite_ab or overwrite_b)
    d_b = linalg.solveh_banded(ab, d, lower=lower)
    upper = 0 if lower else ab.shape[0] - 1
    return -one_side(bands_of(d_b, y, ab, upper) + bands_of(y, d_b, ab, upper), upper), d_b


@forward(linalg.solveh_banded)
def push_solveh_banded(y, d, ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    check_settings(ab, overwrite_ab or overwrite_b)
    return (
        -linalg.solveh_banded(ab, symmetric_product(d, y, lower), lower=lower),
        linalg.solveh_banded(ab, d, lower=lower),
    )


# A banded matrix is stored as ``ab[upper + i - j, j] = a[i, j]``.  What of `ab` lies outside of the matrix is not read.


def bands_of(a, b, ab, upper):
    """The bands of the matrix ``a @ b.T``."""
    rows, inside = rows_of(ab, upper), are_inside(ab, upper)
    if a.ndim == 1:
        return a[rows] * inside * b
    return np.sum(a[rows] * b, 2) * inside


def rows_of(ab, upper):
    """The rows of the matrix in which the elements of its bands stand."""
    return np.clip(counted(ab, upper), 0, ab.shape[1] - 1)


def are_inside(ab, upper):
    """True where an element of the bands is one of the matrix."""
    return (counted(ab, upper) >= 0) & (counted(ab, upper) < ab.shape[1])


def counted(ab, upper):
    return np.arange(ab.shape[1]) + (np.arange(ab.shape[0])[:, None] - upper)


def turned(ab, lower):
    """The bands of the transpose, of which `lower` are above the diagonal."""
    return ab[np.arange(ab.shape[0])[::-1, None], rows_of(ab, lower)] * are_inside(ab, lower)


def band_product(ab, x, lower):
    """The product of a banded matrix and vectors; the tangent of a vector on the other side comes here, too."""
    if ab.ndim < 2:
        return x
    if x.ndim == 1:
        return np.sum(turned(ab, lower) * x[rows_of(ab, lower)], 0)
    return np.sum(turned(ab, lower)[:, :, None] * x[rows_of(ab, lower)], 0)


def symmetric_product(ab, x, lower):
    """The product of a symmetric matrix, of which the bands on one side are given, and vectors."""
    if ab.ndim < 2:
        return x
    last = ab.shape[0] - 1
    below, above = (last, 0) if lower else (0, last)
    half = one_side(ab, above)
    return band_product(half, x, below) + band_product(turned(half, below), x, above)


def one_side(bands, upper):
    """Bands with half of the diagonal, which belongs to both sides."""
    return bands * np.where(np.arange(bands.shape[0])[:, None] == upper, 0.5, 1.0).astype(bands.dtype)


@reverse(linalg.ldl)
def ldl(y, d, A, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    check_ldl(A, lower, overwrite_a)
    check_diagonal(y[1])
    left, scale = y[0][y[2]], np.diag(y[1])
    inner = np.zeros_like(left) if d[1] is None else np.diag(np.diag(d[1]))
    if d[0] is not None:
        inner = inner + np.tril(left.T @ d[0][y[2]], -1) / scale
    back = np.argsort(y[2])
    whole = linalg.solve_triangular(left, linalg.solve_triangular(left, inner.T, 1, True).T, 1, True)
    return onto_triangle(whole[back][:, back], "L")


@forward(linalg.ldl)
def push_ldl(y, d, A, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    check_ldl(A, lower, overwrite_a)
    check_diagonal(y[1])
    left, scale = y[0][y[2]], np.diag(y[1])
    whole = mirrored(d, "L")[y[2]][:, y[2]]
    inner = linalg.solve_triangular(left, linalg.solve_triangular(left, whole, 0, True).T, 0, True).T
    moved = left @ (np.tril(inner, -1) / scale)
    return ((moved[np.argsort(y[2])], np.diag(np.diag(inner)), None),)


def check_ldl(a, lower, overwrite_a):
    """Refuse what has no derivative here."""
    check_settings(a, overwrite_a)
    if not lower or np.iscomplexobj(a):
        raise NoRule("scipy.linalg.ldl is differentiable for real matrices with lower=True")


def check_diagonal(d):
    """Refuse blocks of two rows, which belong to pairs of values of both signs."""
    if np.any(np.diag(d, 1) != 0):
        raise NoRule("scipy.linalg.ldl is differentiable where the middle factor is diagonal")
