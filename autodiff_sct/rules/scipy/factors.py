"""Factorisations of ``scipy.linalg`` and what solves systems with them.

A packed factorisation is a tuple as SciPy returns it: the triangles of both factors in one matrix and the exchanged
rows, or one triangle and which one it is.  What else is in that matrix is what was in the argument.
"""

import numpy as np
from scipy import linalg

from ...errors import NoRule
from ...runtime.linalg.degenerate import infinite_at_equal, nan_at_equal
from .. import spectra
from ..linalg import (
    cholesky_tangent,
    half_diagonal,
    mirrored,
    onto_triangle,
    qr_adjoint,
    qr_tangent,
    singular_values_adjoint,
    singular_values_tangent,
)
from ..table import by_item, forward, perturbing, reverse, static
from . import perturbed
from .linalg import check_real, check_settings, outer

# LU


@reverse(linalg.lu_factor)
def lu_factor(y, d, a, overwrite_a=False, check_finite=True):
    check_square(a, overwrite_a)
    lower, upper = unit_lower(y[0]), np.triu(y[0])
    return lu_adjoint(lower, upper, np.tril(d[0], -1), np.triu(d[0]))[rows_back(y[1])]


@forward(linalg.lu_factor)
def push_lu_factor(y, d, a, overwrite_a=False, check_finite=True):
    check_square(a, overwrite_a)
    t_lower, t_upper = lu_tangent(unit_lower(y[0]), np.triu(y[0]), d[rows_of(y[1])])
    return ((t_lower + t_upper, None),)


@reverse(linalg.lu)
def lu(y, d, a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    check_square(a, overwrite_a)
    if permute_l:
        p = linalg.lu(a)[0]
        return p @ lu_adjoint(p.T @ y[0], y[1], None if d[0] is None else p.T @ d[0], d[1])
    d_a = lu_adjoint(y[1], y[2], d[1], d[2])
    return d_a[y[0]] if p_indices else y[0] @ d_a


@forward(linalg.lu)
def push_lu(y, d, a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    check_square(a, overwrite_a)
    if permute_l:
        p = linalg.lu(a)[0]
        t_lower, t_upper = lu_tangent(p.T @ y[0], y[1], p.T @ d)
        return ((p @ t_lower, t_upper),)
    t_lower, t_upper = lu_tangent(y[1], y[2], d[np.argsort(y[0])] if p_indices else y[0].T @ d)
    return ((None if p_indices else np.zeros_like(y[0]), t_lower, t_upper),)


@reverse(linalg.lu_solve)
def lu_solve(y, d, lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    check_real(b, overwrite_b)
    d_b = linalg.lu_solve(lu_and_piv, d, 0 if trans else 1)
    d_a = (-outer(y, d_b) if trans else -outer(d_b, y))[rows_of(lu_and_piv[1])]
    lower, upper = unit_lower(lu_and_piv[0]), np.triu(lu_and_piv[0])
    return (np.tril(d_a @ upper.T, -1) + np.triu(lower.T @ d_a), None), d_b


@forward(linalg.lu_solve)
def push_lu_solve(y, d, lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    check_real(b, overwrite_b)
    return (
        [-linalg.lu_solve(lu_and_piv, turned_product(moved(lu_and_piv, d), y, trans), trans), None],
        linalg.lu_solve(lu_and_piv, d, trans),
    )


by_item(linalg.lu_solve, linalg.cho_solve)


def moved(lu_and_piv, d):
    """The tangent of the matrix of which this is the factorisation; that of a vector comes here, too."""
    if d.ndim < 2:
        return d
    lower, upper = unit_lower(lu_and_piv[0]), np.triu(lu_and_piv[0])
    return (np.tril(d, -1) @ upper + lower @ np.triu(d))[rows_back(lu_and_piv[1])]


def turned_product(a, x, trans):
    """``a @ x``, or that with the transpose."""
    return a.T @ x if trans else a @ x


def unit_lower(packed):
    """The lower factor, whose diagonal of ones is not stored."""
    return np.tril(packed, -1) + np.eye(packed.shape[0], dtype=packed.dtype)


def lu_adjoint(lower, upper, d_lower, d_upper):
    """The cotangent of ``lower @ upper``."""
    inner = np.zeros_like(lower)
    if d_lower is not None:
        inner = np.tril(lower.T @ d_lower, -1)
    if d_upper is not None:
        inner = inner + np.triu(d_upper @ upper.T)
    left = linalg.solve_triangular(lower, inner, 1, True, True)
    return linalg.solve_triangular(upper, left.T).T


def lu_tangent(lower, upper, d):
    """The tangents of both factors, from that of their product."""
    left = linalg.solve_triangular(lower, d, 0, True, True)
    inner = linalg.solve_triangular(upper, left.T, 1).T
    return lower @ np.tril(inner, -1), np.triu(inner) @ upper


@static
def rows_of(piv):
    """The places of the rows of the factors' product in the matrix, from the exchanges of rows."""
    rows = np.arange(len(piv))
    for k, other in enumerate(piv):
        rows[k], rows[other] = rows[other], rows[k]
    return rows


@static
def rows_back(piv):
    """The places of the rows of the matrix in the product of the factors."""
    return np.argsort(rows_of(piv))


def check_square(a, overwrite_a):
    """Refuse what has no derivative here."""
    check_settings(a, overwrite_a)
    if a.shape[0] != a.shape[1] or np.iscomplexobj(a):
        raise NoRule("an LU factorisation is differentiable for a real square matrix")


# Cholesky

# What the triangle beside the factor holds: that of the matrix, or zeros from SciPy 1.18 on.
KEEPS_THE_REST = bool(linalg.cho_factor(np.array([[4.0, 1.0], [1.0, 4.0]]), lower=True)[0][0, 1])


@reverse(linalg.cho_factor)
def cho_factor(y, d, a, lower=False, overwrite_a=False, check_finite=True):
    check_real(a, overwrite_a)
    if lower:
        own = cho_adjoint(np.tril(y[0]), np.tril(d[0]))
        return own + np.triu(d[0], 1) if KEEPS_THE_REST else own
    own = cho_adjoint(np.triu(y[0]).T, np.triu(d[0]).T).T
    return own + np.tril(d[0], -1) if KEEPS_THE_REST else own


@forward(linalg.cho_factor)
def push_cho_factor(y, d, a, lower=False, overwrite_a=False, check_finite=True):
    check_real(a, overwrite_a)
    if lower:
        own = cholesky_tangent(np.tril(y[0]), d)
        return ((own + np.triu(d, 1) if KEEPS_THE_REST else own, None),)
    own = cholesky_tangent(np.triu(y[0]).T, d.T).T
    return ((own + np.tril(d, -1) if KEEPS_THE_REST else own, None),)


def cho_adjoint(lower, d):
    """The cotangent of the lower triangle of a matrix from that of its factor."""
    inner = half_diagonal(lower.T @ d)
    s = linalg.solve_triangular(lower, inner, 1, True)
    s = linalg.solve_triangular(lower, s.T, 1, True)
    return half_diagonal(s + s.T)


@reverse(linalg.cho_solve)
def cho_solve(y, d, c_and_lower, b, overwrite_b=False, check_finite=True):
    check_real(b, overwrite_b)
    d_b = linalg.cho_solve(c_and_lower, d)
    both = -outer(d_b, y)
    both = both + both.T
    if c_and_lower[1]:
        return (np.tril(both @ np.tril(c_and_lower[0])), None), d_b
    return (np.triu(np.triu(c_and_lower[0]) @ both), None), d_b


@forward(linalg.cho_solve)
def push_cho_solve(y, d, c_and_lower, b, overwrite_b=False, check_finite=True):
    check_real(b, overwrite_b)
    return (
        [-linalg.cho_solve(c_and_lower, product_moved(c_and_lower, d) @ y), None],
        linalg.cho_solve(c_and_lower, d),
    )


def product_moved(c_and_lower, d):
    """The tangent of the matrix of which this is the factor; that of a vector comes here, too."""
    if d.ndim < 2:
        return d
    if c_and_lower[1]:
        half = np.tril(d) @ np.tril(c_and_lower[0]).T
    else:
        half = np.triu(d).T @ np.triu(c_and_lower[0])
    return half + half.T


# Orthogonal factorisation


@reverse(linalg.qr)
def qr(y, d, a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    check_qr(a, overwrite_a, mode)
    if mode == "r":
        q = linalg.qr(a[:, y[1]] if pivoting else a, mode="economic")[0]
        d_a = qr_adjoint(q, y[0], None, d[0])
        return d_a[:, np.argsort(y[1])] if pivoting else d_a
    d_a = qr_adjoint(y[0], y[1], d[0], d[1])
    return d_a[:, np.argsort(y[2])] if pivoting else d_a


@forward(linalg.qr)
def push_qr(y, d, a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    check_qr(a, overwrite_a, mode)
    if mode == "r":
        q = linalg.qr(a[:, y[1]] if pivoting else a, mode="economic")[0]
        return ((qr_tangent(q, y[0], d[:, y[1]] if pivoting else d)[1], *((None,) if pivoting else ())),)
    if pivoting:
        t_q, t_r = qr_tangent(y[0], y[1], d[:, y[2]])
        return ((t_q, t_r, None),)
    return (qr_tangent(y[0], y[1], d),)


def check_qr(a, overwrite_a, mode):
    """Refuse what has no derivative, or none here."""
    check_settings(a, overwrite_a)
    if mode == "raw" or (mode != "economic" and a.shape[0] != a.shape[1]) or a.shape[0] < a.shape[1]:
        raise NoRule(
            "scipy.linalg.qr is differentiable with mode='economic' for matrices with no more columns than rows"
        )


# Spectra


@reverse(linalg.svdvals, perturbed.svdvals)
def svdvals(y, d, a, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return singular_values_adjoint(d, a)


@forward(linalg.svdvals, perturbed.svdvals)
def push_svdvals(y, d, a, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return singular_values_tangent(d, a)


@reverse(linalg.eigh, perturbed.eigh)
def eigh(
    y, d, a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
    check_finite=True, subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    check_eigh(a, overwrite_a or overwrite_b, type, subset_by_index, subset_by_value)
    if eigvals_only:
        values, vectors = linalg.eigh(a, b, lower=lower)
        return symmetric_adjoint(values, vectors, d, None, b, "L" if lower else "U")
    return symmetric_adjoint(y[0], y[1], d[0], d[1], b, "L" if lower else "U")


@forward(linalg.eigh, perturbed.eigh)
def push_eigh(
    y, d, a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
    check_finite=True, subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    check_eigh(a, overwrite_a or overwrite_b, type, subset_by_index, subset_by_value)
    if eigvals_only:
        values, vectors = linalg.eigh(a, b, lower=lower)
        return (
            by_matrix(values, vectors, mirrored(d, "L" if lower else "U"))[0],
            by_metric(values, vectors, mirrored(d, "L" if lower else "U"))[0],
        )
    return (
        by_matrix(y[0], y[1], mirrored(d, "L" if lower else "U")),
        by_metric(y[0], y[1], mirrored(d, "L" if lower else "U")),
    )


@reverse(linalg.eigvalsh, perturbed.eigvalsh)
def eigvalsh(
    y, d, a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    check_eigh(a, overwrite_a or overwrite_b, type, subset_by_index, subset_by_value)
    values, vectors = linalg.eigh(a, b, lower=lower)
    return symmetric_adjoint(values, vectors, d, None, b, "L" if lower else "U")


@forward(linalg.eigvalsh, perturbed.eigvalsh)
def push_eigvalsh(
    y, d, a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    check_eigh(a, overwrite_a or overwrite_b, type, subset_by_index, subset_by_value)
    values, vectors = linalg.eigh(a, b, lower=lower)
    return (
        by_matrix(values, vectors, mirrored(d, "L" if lower else "U"))[0],
        by_metric(values, vectors, mirrored(d, "L" if lower else "U"))[0],
    )


def symmetric_adjoint(w, v, d_w, d_v, b, UPLO):
    """The cotangents of both matrices of ``a @ v == b @ v * w`` with ``v.T @ b @ v == 1``."""
    if b is None:
        return spectra.eigh_adjoint(w, v, d_w, d_v, UPLO)
    gaps = spectra.gaps_of(w)
    inner = np.zeros_like(v) if d_v is None else v.T @ d_v
    if d_v is not None:
        inner = inner / (gaps + infinite_at_equal(gaps, inner, w))
    if d_w is not None:
        inner = inner + np.diag(d_w)
    metric = -inner * w
    if d_v is not None:
        metric = metric - np.diag(np.sum(v * d_v, 0) / 2)
    return onto_triangle(v @ inner @ v.T, UPLO), onto_triangle(v @ metric @ v.T, UPLO)


def by_matrix(w, v, d):
    """The tangents of eigenvalues and eigenvectors from that of the matrix."""
    turned = np.conj(v).T @ d @ v
    gaps = spectra.gaps_of(w)
    return np.real(np.diagonal(turned)).copy(), v @ (turned / (gaps + nan_at_equal(gaps, turned, w)))


def by_metric(w, v, d):
    """The same from that of the matrix on the other side."""
    turned = v.T @ d @ v
    gaps = spectra.gaps_of(w)
    inner = -turned * w / (gaps + nan_at_equal(gaps, turned, w)) - np.diag(np.diagonal(turned) / 2)
    return -np.diagonal(turned) * w, v @ inner


def check_eigh(a, overwrites, kind, by_index, by_value):
    """Refuse what has no derivative here."""
    check_settings(a, overwrites)
    if kind != 1 or by_index is not None or by_value is not None:
        raise NoRule("scipy.linalg.eigh is differentiable with type=1 for all eigenvalues")


@reverse(linalg.eig, perturbed.eig)
def eig(
    y, d, a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
    homogeneous_eigvals=False,
):  # fmt: skip
    check_eig(a, b, left, right, overwrite_a, homogeneous_eigvals)
    if right:
        return spectra.eig_adjoint(y[0], y[1], d[0], d[1])
    return spectra.eigvals(y, d, a)


@forward(linalg.eig, perturbed.eig)
def push_eig(
    y, d, a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
    homogeneous_eigvals=False,
):  # fmt: skip
    check_eig(a, b, left, right, overwrite_a, homogeneous_eigvals)
    if right:
        return (spectra.push_eig(y, d, a)[0],)
    return spectra.push_eigvals(y, d, a)


@reverse(linalg.eigvals, perturbed.eigvals)
def eigvals(y, d, a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    check_eig(a, b, False, False, overwrite_a, homogeneous_eigvals)
    return spectra.eigvals(y, d, a)


@forward(linalg.eigvals, perturbed.eigvals)
def push_eigvals(y, d, a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    check_eig(a, b, False, False, overwrite_a, homogeneous_eigvals)
    return spectra.push_eigvals(y, d, a)


def check_eig(a, b, left, right, overwrite_a, homogeneous):
    """Refuse what has no derivative here."""
    check_settings(a, overwrite_a)
    if b is not None or left or homogeneous or right not in (False, True):
        raise NoRule("scipy.linalg.eig is differentiable for one matrix and its right eigenvectors")


@reverse(linalg.polar)
def polar(y, d, a, side="right"):
    check_polar(a, side)
    if side == "right":
        return polar_adjoint(y[0], y[1], d[0], d[1])
    return polar_adjoint(y[0].T, y[1], None if d[0] is None else d[0].T, None if d[1] is None else d[1].T).T


@forward(linalg.polar)
def push_polar(y, d, a, side="right"):
    check_polar(a, side)
    if side == "right":
        return (polar_tangent(y[0], y[1], d),)
    t_u, t_p = polar_tangent(y[0].T, y[1], d.T)
    return ((t_u.T, t_p),)


def polar_adjoint(u, p, d_u, d_p):
    """The cotangent of ``u @ p``, of which `u` turns by the solution of a Sylvester equation."""
    d_a = np.zeros_like(u) if d_p is None else u @ d_p
    turn = np.zeros_like(p) if d_p is None else -d_p @ p
    if d_u is not None:
        turn = turn + u.T @ d_u
        d_a = d_a + np.linalg.solve(p, (d_u - u @ (u.T @ d_u)).T).T
    turn = linalg.solve_sylvester(p, p, turn - turn.T)
    return d_a + u @ turn


def polar_tangent(u, p, d):
    along = u.T @ d
    turn = linalg.solve_sylvester(p, p, along - along.T)
    return u @ turn + np.linalg.solve(p, (d - u @ along).T).T, along - turn @ p


def check_polar(a, side):
    """Refuse what has no derivative here, and a singular factor, of which the root has none."""
    if np.iscomplexobj(a):
        raise NoRule("scipy.linalg.polar is differentiable for real matrices")
    if a.shape[0] < a.shape[1] if side == "right" else a.shape[0] > a.shape[1]:
        raise NoRule(f"scipy.linalg.polar of this shape is not differentiable with side={side!r}: write the other side")


for fn in (linalg.svd, linalg.svdvals, linalg.eigh, linalg.eigvalsh, linalg.eig, linalg.eigvals):
    perturbing(fn, getattr(perturbed, fn.__name__))
