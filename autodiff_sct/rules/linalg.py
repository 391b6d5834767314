"""Rules for ``numpy.linalg``; each takes one matrix or a stack of them.

The formulas are those of M. Giles, "An extended collection of matrix derivative results" (2008), and of S. F. Walter
and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010), in the convention that no operand is
conjugated but where the function itself conjugates.

``cholesky`` and ``eigh`` read one triangle of their argument, so the cotangent lies in that triangle: an element of it
stands for its mirror image too.  The determinant's rule needs the inverse: of a singular matrix, for which NumPy raises
``LinAlgError``, the cofactors are computed in another way.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import NoRule
from ..runtime.linalg.determinants import cofactors
from .products import transposed
from .shape import upto
from .table import forward, reverse, static


def adjoint_of(a):
    """The conjugate transpose of each matrix."""
    return np.conj(transposed(a)) if np.iscomplexobj(a) else transposed(a)


def conjugate(a):
    """`a` conjugated, without a call where it is real."""
    return np.conj(a) if np.iscomplexobj(a) else a


def diagonal_matrix(values):
    """Matrices with `values` on their diagonals."""
    return values[..., None] * np.eye(values.shape[-1], dtype=values.dtype)


# Solving and inverting


@reverse(np.linalg.solve)
def solve(y, d, a, b):
    if b.ndim == 1 and a.ndim > 2:
        d_b = np.linalg.solve(transposed(a), d[..., None])[..., 0]
    else:
        d_b = np.linalg.solve(transposed(a), d)
    if b.ndim > 1:
        return -(d_b @ transposed(y)), d_b
    return -np.outer(d_b, y) if a.ndim == 2 else -(d_b[..., :, None] * y[..., None, :]), d_b


@forward(np.linalg.solve)
def push_solve(y, d, a, b):
    if b.ndim == 1 and a.ndim > 2:
        return -np.linalg.solve(a, d @ y[..., None])[..., 0], np.linalg.solve(a, d)
    return -np.linalg.solve(a, d @ y), np.linalg.solve(a, d)


@reverse(np.linalg.tensorsolve)
def tensorsolve(y, d, a, b):
    matrix = np.reshape(a, (np.size(b), np.size(b)))
    d_b = np.linalg.solve(matrix.T, np.ravel(d))
    return np.reshape(-np.outer(d_b, y), np.shape(a)), np.reshape(d_b, np.shape(b))


@forward(np.linalg.tensorsolve)
def push_tensorsolve(y, d, a, b):
    return -np.linalg.tensorsolve(a, np.tensordot(d, y, y.ndim)), np.linalg.tensorsolve(a, d)


@reverse(np.linalg.tensorinv)
def tensorinv(y, d, a, ind=2):
    # Both are square matrices with their rows and their columns folded up.
    rows = math.prod(np.shape(a)[:ind])
    back = np.reshape(y, (rows, rows)).T
    return np.reshape(-(back @ np.reshape(d, (rows, rows)) @ back), np.shape(a))


@forward(np.linalg.tensorinv)
def push_tensorinv(y, d, a, ind=2):
    rows = math.prod(np.shape(a)[:ind])
    inverse = np.reshape(y, (rows, rows))
    return np.reshape(-(inverse @ np.reshape(d, (rows, rows)) @ inverse), np.shape(y))


@reverse(np.linalg.inv)
def inv(y, d, a):
    return -(transposed(y) @ d @ transposed(y))


@forward(np.linalg.inv)
def push_inv(y, d, a):
    return -(y @ d @ y)


@reverse(np.linalg.pinv)
def pinv(y, d, a, rcond=None, hermitian=False):
    if hermitian:
        whole = mirrored(a, "L")
        return onto_triangle(
            pinv_adjoint(y, d, whole) if rcond is None else cut_pinv_adjoint(y, d, whole, 0, rcond), "L"
        )
    return pinv_adjoint(y, d, a) if rcond is None else cut_pinv_adjoint(y, d, a, 0, rcond)


@forward(np.linalg.pinv)
def push_pinv(y, d, a, rcond=None, hermitian=False):
    if hermitian:
        whole, d = mirrored(a, "L"), mirrored(d, "L")
        return pinv_tangent(y, d, whole) if rcond is None else cut_pinv_tangent(y, d, whole, 0, rcond)
    return pinv_tangent(y, d, a) if rcond is None else cut_pinv_tangent(y, d, a, 0, rcond)


def pinv_tangent(y, d, a):
    """Golub and Pereyra's derivative of the pseudoinverse, for a perturbation that does not change the rank."""
    d_h, y_h = adjoint_of(d), adjoint_of(y)
    return y @ y_h @ (d_h - d_h @ a @ y) - y @ d @ y + (d_h - y @ a @ d_h) @ y_h @ y


def pinv_adjoint(y, d, a):
    d_t, y_t, y_h = transposed(d), transposed(y), adjoint_of(y)
    around = (d_t - a @ y @ d_t) @ y @ y_h + y_h @ y @ (d_t - d_t @ y @ a)
    return conjugate(around) - y_t @ d @ y_t


def cut_pinv_tangent(y, d, a, atol, rtol):
    """The derivative where singular values up to ``atol + rtol * s[0]`` have been dropped, which need not be 0."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    straight, turned = cut_weights(s, atol + rtol * s[..., :1])
    d_h, y_h = adjoint_of(d), adjoint_of(y)
    inner = adjoint_of(u) @ d @ adjoint_of(vh)
    within = adjoint_of(vh) @ (straight * inner + turned * adjoint_of(inner)) @ adjoint_of(u)
    return within + y @ y_h @ (d_h - d_h @ u @ adjoint_of(u)) + (d_h - adjoint_of(vh) @ vh @ d_h) @ y_h @ y


def cut_pinv_adjoint(y, d, a, atol, rtol):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    straight, turned = cut_weights(s, atol + rtol * s[..., :1])
    d_t, y_h = transposed(d), adjoint_of(y)
    inner = conjugate(vh) @ d @ conjugate(u)
    within = conjugate(u) @ (straight * inner + turned * adjoint_of(inner)) @ conjugate(vh)
    around = (d_t - u @ adjoint_of(u) @ d_t) @ y @ y_h + y_h @ y @ (d_t - d_t @ adjoint_of(vh) @ vh)
    return within + conjugate(around)


def cut_weights(s, limit):
    """The weights of a perturbation, in the axes of singular vectors, and of its adjoint in that derivative."""
    rows, columns = s[..., :, None], s[..., None, :]
    kept = s > limit
    one = kept[..., :, None] != kept[..., None, :]
    both = kept[..., :, None] & kept[..., None, :]
    large, gap = np.where(one, np.maximum(rows, columns), 1), np.where(one, np.abs(rows**2 - columns**2), 1)
    product = np.where(both, rows * columns, 1)
    return np.where(one, np.minimum(rows, columns) / (gap * large), np.where(both, -1 / product, 0)), one / gap


@reverse(np.linalg.lstsq)
def lstsq(y, d, a, b, rcond=None):
    return lstsq_adjoint(y, d, a, b, limit_of(y[0], a, rcond), rcond is not None)


@forward(np.linalg.lstsq)
def push_lstsq(y, d, a, b, rcond=None):
    return (
        lstsq_by_matrix(y, d, a, b, limit_of(y[0], a, rcond), rcond is not None),
        lstsq_by_right(y, d, a, b, limit_of(y[0], a, rcond)),
    )


def limit_of(x, a, rcond):
    """The part of the largest singular value up to which others are dropped."""
    eps = np.finfo(x.dtype).eps
    return eps * max(a.shape) if rcond is None else or_eps(rcond, eps)


@static
def or_eps(rcond, eps):
    return rcond if rcond >= 0 else eps


def lstsq_adjoint(y, d, a, b, rtol, is_cut=False):
    """The cotangents of a system; `is_cut` if singular values are dropped that are not those of rounding."""
    d_a, d_b = np.zeros_like(a), np.zeros_like(b)
    if d[0] is not None:
        p, d_p = np.linalg.pinv(a, rtol), np.outer(d[0], b) if b.ndim == 1 else d[0] @ b.T
        d_a = cut_pinv_adjoint(p, d_p, a, 0, rtol) if is_cut else pinv_adjoint(p, d_p, a)
        d_b = p.T @ d[0]
    if d[1] is not None and y[1].size > 0:
        # The solution minimises the residual, so it contributes nothing.
        d_b = d_b + 2 * d[1] * (b - a @ y[0])
        d_a = d_a - 2 * (np.outer(b - a @ y[0], d[1] * y[0]) if b.ndim == 1 else (d[1] * (b - a @ y[0])) @ y[0].T)
    return (d_a if d[3] is None else d_a + singular_values_adjoint(d[3], a)), d_b


def lstsq_by_matrix(y, d, a, b, rtol, is_cut=False):
    """The tangent of the results by that of the matrix."""
    p, residual = np.linalg.pinv(a, rtol), b - a @ y[0]
    t_p = cut_pinv_tangent(p, d, a, 0, rtol) if is_cut else pinv_tangent(p, d, a)
    return t_p @ b, squares(-2 * residual * (d @ y[0]), y[1]), None, singular_values_tangent(d, a)


def lstsq_by_right(y, d, a, b, rtol):
    """The same by that of the right side."""
    return np.linalg.pinv(a, rtol) @ d, squares(2 * (b - a @ y[0]) * d, y[1]), None, np.zeros_like(y[3])


def squares(terms, like):
    """The sum of `terms` over the equations, where there is a residual; nothing where it is empty."""
    return np.ravel(np.sum(terms, 0))[: like.size]


# Determinants


@reverse(np.linalg.det)
def det(y, d, a):
    return (d * y if a.ndim == 2 else (d * y)[..., None, None]) * transposed(np.linalg.inv(a))


@forward(np.linalg.det)
def push_det(y, d, a):
    return y * np.trace(np.linalg.solve(a, d), axis1=-2, axis2=-1)


@reverse(np.linalg.det, anywhere=True)
def det_anywhere(y, d, a):
    return (d if a.ndim == 2 else d[..., None, None]) * cofactors(a)


@forward(np.linalg.det, anywhere=True)
def push_det_anywhere(y, d, a):
    return np.sum(cofactors(a) * d, axis=(-2, -1))


@reverse(cofactors)
def cofactors_adjoint(y, d, a, *directions):
    # The derivatives of one number by matrices: they do not depend on their order.
    return (
        cofactors(a, *directions, d),
        *[cofactors(a, *directions[:k], *directions[k + 1 :], d) for k in upto(len(directions))],
    )


@forward(cofactors)
def cofactors_tangent(y, d, a, *directions):
    return (
        cofactors(a, *directions, d),
        *[cofactors(a, *directions[:k], d, *directions[k + 1 :]) for k in upto(len(directions))],
    )


@reverse(np.linalg.slogdet)
def slogdet(y, d, a):
    if np.iscomplexobj(a):
        # The sign is exp(1j * angle), and the angle is the imaginary part of the complex logarithm.
        turn = np.zeros_like(y[0]) if d[0] is None else 1j * np.real(1j * d[0] * y[0])
        scale = -turn if d[1] is None else d[1] - turn
    else:
        scale = np.zeros_like(y[1]) if d[1] is None else d[1]
    return (scale if a.ndim == 2 else scale[..., None, None]) * transposed(np.linalg.inv(a))


@forward(np.linalg.slogdet)
def push_slogdet(y, d, a):
    t_log = np.trace(np.linalg.solve(a, d), axis1=-2, axis2=-1)
    if np.iscomplexobj(a):
        return ((1j * np.imag(t_log) * y[0], np.real(t_log)),)
    return ((np.zeros_like(y[0]), t_log),)


# Factorisations of Hermitian matrices


@reverse(np.linalg.cholesky)
def cholesky(y, d, a, *, upper=False):
    if upper:
        return adjoint_of(cholesky_adjoint(adjoint_of(y), adjoint_of(d)))
    return cholesky_adjoint(y, d)


@forward(np.linalg.cholesky)
def push_cholesky(y, d, a, *, upper=False):
    if upper:
        return adjoint_of(cholesky_tangent(adjoint_of(y), adjoint_of(d)))
    return cholesky_tangent(y, d)


def cholesky_adjoint(y, d):
    back, weights = transposed(np.linalg.inv(y)), triangle_weights(y)
    s = back @ (transposed(y) @ d * weights) @ adjoint_of(back)
    return (s + adjoint_of(s)) * weights


def cholesky_tangent(y, d):
    inverse = np.linalg.inv(y)
    return y @ half_diagonal(inverse @ mirrored(d, "L") @ adjoint_of(inverse))


def on_diagonal(matrices):
    """The diagonals of matrices, in memory of their own: NumPy's are for reading only."""
    return np.diagonal(matrices, 0, -2, -1).copy()


def half_diagonal(a):
    """The lower triangles with half their diagonals."""
    return a * triangle_weights(a)


def triangle_weights(a):
    """One below the diagonals of matrices, a half on them and zero above."""
    n = a.shape[-1]
    if is_double(a):
        return np.tri(n) - 0.5 * np.eye(n)
    return np.tri(n, dtype=a.dtype) - 0.5 * np.eye(n, dtype=a.dtype)


@static
def is_double(a: np.ndarray) -> bool:
    """True if an array holds what NumPy's functions make where they are told no dtype."""
    return bool(a.dtype == np.float64)


def mirrored(a, UPLO):
    """The Hermitian matrix that a function takes `a` for which reads one triangle of it."""
    half = half_diagonal(a) if reads_lower(UPLO) else transposed(half_diagonal(transposed(a)))
    return half + adjoint_of(half)


@static
def reads_lower(UPLO: str) -> bool:
    return UPLO.upper() == "L"


def onto_triangle(s, UPLO):
    """The cotangent of a matrix of which one triangle is read, from that of the Hermitian matrix that is meant."""
    if reads_lower(UPLO):
        return half_diagonal(s + adjoint_of(s))
    return transposed(half_diagonal(transposed(s) + conjugate(s)))


def singular_values_adjoint(d, a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (conjugate(u) * d[..., None, :]) @ conjugate(vh)


def singular_values_tangent(d, a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.real(on_diagonal(adjoint_of(u) @ d @ adjoint_of(vh)))


# Orthogonal factorisation


@reverse(np.linalg.qr)
def qr(y, d, a, mode="reduced"):
    check_qr(a, mode)
    if mode == "r":
        return qr_adjoint(np.linalg.qr(a)[0], y, None, d)
    return qr_adjoint(y[0], y[1], d[0], d[1])


@forward(np.linalg.qr)
def push_qr(y, d, a, mode="reduced"):
    check_qr(a, mode)
    if mode == "r":
        return qr_tangent(np.linalg.qr(a)[0], y, d)[1]
    return (qr_tangent(y[0], y[1], d),)


def check_qr(a, mode):
    """Refuse what has no derivative, or none here."""
    if mode not in ("reduced", "r"):
        raise NoRule("np.linalg.qr is differentiable in the modes 'reduced' and 'r'")
    if a.shape[-2] < a.shape[-1]:
        raise NoRule("np.linalg.qr of a matrix with more columns than rows is not differentiable here")


def qr_adjoint(q, r, d_q, d_r):
    m = np.zeros_like(r) if d_r is None else r @ transposed(d_r)
    if d_q is not None:
        m = m - transposed(d_q) @ q
    inner = conjugate(q) @ with_mirror_image(m)
    return transposed(np.linalg.solve(r, transposed(inner if d_q is None else inner + d_q)))


def qr_tangent(q, r, d):
    scaled = transposed(np.linalg.solve(transposed(r), transposed(d)))
    inside = adjoint_of(q) @ scaled
    below = np.tril(inside, -1)
    # What is left above the diagonal of `inside` when the turn of q is taken away, which leaves that of r real.
    upper = inside - below + adjoint_of(below)
    if np.iscomplexobj(r):
        upper = upper - 1j * diagonal_matrix(np.imag(np.diagonal(inside, 0, -2, -1)))
    return scaled - q @ upper, upper @ r


def with_mirror_image(m):
    """The Hermitian matrices with the conjugates of `m` below the diagonal, which LAPACK leaves real."""
    below = np.tril(m, -1)
    if np.iscomplexobj(m):
        return np.conj(below) + transposed(below) + diagonal_matrix(np.real(np.diagonal(m, 0, -2, -1)))
    return np.tril(m) + transposed(below)
