"""Rules for eigenvalues, singular values and their vectors.

Eigenvectors and singular vectors have derivatives where the values differ; ``runtime/linalg/degenerate.py`` says what
holds where they do not, and its functions stand for these there.  Their sign or phase is arbitrary, and a result that
depends on it has no derivative to speak of: of a phase it is refused.
"""

from __future__ import annotations

import numpy as np

from ..errors import NoRule
from ..runtime.linalg import degenerate
from ..runtime.linalg.degenerate import infinite_at_equal, infinite_at_zero, nan_at_equal, nan_at_zero
from .linalg import (
    adjoint_of,
    conjugate,
    diagonal_matrix,
    mirrored,
    on_diagonal,
    onto_triangle,
    singular_values_adjoint,
    singular_values_tangent,
)
from .products import transposed
from .table import forward, perturbing, reverse


@reverse(np.linalg.eigh, degenerate.eigh)
def eigh(y, d, a, UPLO="L"):
    return eigh_adjoint(y[0], y[1], d[0], d[1], UPLO)


@forward(np.linalg.eigh, degenerate.eigh)
def push_eigh(y, d, a, UPLO="L"):
    turned = adjoint_of(y[1]) @ mirrored(d, UPLO) @ y[1]
    values, gaps = np.real(on_diagonal(turned)), gaps_of(y[0])
    return ((values, y[1] @ (turned / (gaps + nan_at_equal(gaps, turned, y[0])))),)


@reverse(np.linalg.eigvalsh, degenerate.eigvalsh)
def eigvalsh(y, d, a, UPLO="L"):
    values, vectors = np.linalg.eigh(a) if UPLO == "L" else np.linalg.eigh(a, UPLO)
    return eigh_adjoint(values, vectors, d, None, UPLO)


@forward(np.linalg.eigvalsh, degenerate.eigvalsh)
def push_eigvalsh(y, d, a, UPLO="L"):
    values, vectors = np.linalg.eigh(a) if UPLO == "L" else np.linalg.eigh(a, UPLO)
    return np.real(on_diagonal(adjoint_of(vectors) @ mirrored(d, UPLO) @ vectors))


def eigh_adjoint(w, v, d_w, d_v, UPLO):
    if d_v is None:
        return onto_triangle((conjugate(v) * d_w[..., None, :]) @ transposed(v), UPLO)
    inner = transposed(v) @ d_v
    if np.iscomplexobj(v):
        check_phase(inner, d_v, "np.linalg.eigh's eigenvectors")
    gaps = gaps_of(w)
    inner = inner / (gaps + infinite_at_equal(gaps, inner, w))
    if d_w is not None:
        inner = inner + diagonal_matrix(d_w)
    return onto_triangle(conjugate(v) @ inner @ transposed(v), UPLO)


def check_phase(inner, d_v, vectors):
    """Refuse a result that changes when a vector is turned: `inner` has those changes on its diagonal."""
    turning = np.abs(np.imag(np.diagonal(inner, 0, -2, -1)))
    if np.any(turning > 1e-4 * np.max(np.abs(d_v), initial=0.0)):
        raise NoRule(f"a result depends on the phase of {vectors}, which is arbitrary")


def gaps_of(w):
    """The differences of values: ``w[j] - w[i]`` at (i, j)."""
    return w[..., None, :] - w[..., :, None]


# Eigenvalues of any matrix


@reverse(np.linalg.eig, degenerate.eig)
def eig(y, d, a):
    return eig_adjoint(y[0], y[1], d[0], d[1])


@forward(np.linalg.eig, degenerate.eig)
def push_eig(y, d, a):
    turned = np.linalg.solve(y[1], d @ y[1])
    gaps = gaps_of(y[0])
    moved = y[1] @ (turned / (gaps + nan_at_equal(gaps, turned, y[0])))
    along = np.real(np.sum(np.conj(y[1]) * moved, -2, keepdims=True))
    phase = np.imag(np.sum(moved / largest_of(y[1]) * is_largest(y[1]), -2, keepdims=True))
    return ((on_diagonal(turned), moved - y[1] * (along + 1j * phase)),)


def is_largest(v):
    """True at the component of each eigenvector that LAPACK makes real."""
    return np.arange(v.shape[-1])[:, None] == np.argmax(np.abs(v), -2)[..., None, :]


def largest_of(v):
    """The component of each eigenvector that LAPACK makes real, and 1 in the place of the others, to divide by."""
    return np.where(is_largest(v), v, 1.0)


@reverse(np.linalg.eigvals, degenerate.eigvals)
def eigvals(y, d, a):
    values, vectors = np.linalg.eig(a)
    return eig_adjoint(values, vectors, d, None)


@forward(np.linalg.eigvals, degenerate.eigvals)
def push_eigvals(y, d, a):
    values, vectors = np.linalg.eig(a)
    return on_diagonal(np.linalg.solve(vectors, d @ vectors))


def eig_adjoint(w, v, d_w, d_v):
    if d_v is None:
        return np.linalg.solve(transposed(v), d_w[..., :, None] * transposed(v))
    # LAPACK gives an eigenvector length 1 and a real largest component.
    along = np.sum(d_v * v, -2, keepdims=True)
    across = d_v - np.conj(v) * np.real(along) - 1j * (np.imag(along) / largest_of(v) * is_largest(v))
    inner, gaps = transposed(v) @ across, gaps_of(w)
    inner = inner / (gaps + infinite_at_equal(gaps, inner, w))
    if d_w is not None:
        inner = inner + diagonal_matrix(d_w)
    return np.linalg.solve(transposed(v), inner @ transposed(v))


# Singular values


@reverse(np.linalg.svd, degenerate.svd)
def svd(y, d, a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return singular_values_adjoint(d, a)
    if d[0] is None and d[2] is None:
        u, vh = y[0][..., : y[1].shape[-1]], y[2][..., : y[1].shape[-1], :]
        return (conjugate(u) * d[1][..., None, :]) @ conjugate(vh)
    if not full_matrices:
        return svd_adjoint(y[0], y[1], y[2], d[0], d[1], d[2])
    k = y[1].shape[-1]
    d_u = None if d[0] is None else leading(d[0], k)
    d_vh = None if d[2] is None else transposed(leading(transposed(d[2]), k))
    return svd_adjoint(y[0][..., :k], y[1], y[2][..., :k, :], d_u, d[1], d_vh)


@forward(np.linalg.svd, degenerate.svd)
def push_svd(y, d, a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return singular_values_tangent(d, a)
    check_thin(a, full_matrices)
    return (svd_tangent(y[0], y[1], y[2], d),)


@reverse(np.linalg.svdvals, degenerate.svdvals)
def svdvals(y, d, x):
    return singular_values_adjoint(d, x)


@forward(np.linalg.svdvals, degenerate.svdvals)
def push_svdvals(y, d, x):
    return singular_values_tangent(d, x)


def check_thin(a, full_matrices):
    """Refuse what has no derivative."""
    if full_matrices and a.shape[-2] != a.shape[-1]:
        raise NoRule("the singular vectors of np.linalg.svd need full_matrices=False to be differentiable")


def leading(d, k):
    """The cotangent of the first columns of a basis: the others, which span what these leave, may turn freely."""
    if np.any(d[..., k:] != 0):
        raise NoRule("a result depends on singular vectors of np.linalg.svd beyond its singular values")
    return d[..., :k]


def svd_adjoint(u, s, vh, d_u, d_s, d_vh):
    row, column, n = s[..., None, :], s[..., :, None], s.shape[-1]
    left = np.zeros((n, n), dtype=s.dtype) if d_u is None else transposed(u) @ d_u
    right = np.zeros((n, n), dtype=s.dtype) if d_vh is None else conjugate(vh) @ adjoint_of(d_vh)
    along = np.abs(left) + np.abs(right)
    if np.iscomplexobj(u):
        check_phase(left + right, along, "np.linalg.svd's singular vectors")
    # A turn of both bases by the same angle counts by the difference of the singular values, one by opposite angles by
    # their sum, which is the difference to a value of the other sign.
    same, opposite = skew(left + right), skew(left - right)
    gaps, sums = row - column, row + column
    inner = same / (gaps + infinite_at_equal(gaps, along, s)) + opposite / (sums + infinite_at_equal(sums, along, s))
    inner = 0.5 * inner if d_s is None else 0.5 * inner + diagonal_matrix(d_s)
    d_a = conjugate(u) @ inner @ conjugate(vh)
    if d_u is not None:
        d_a = d_a + outside(d_u, conjugate(u) @ left, s, d_s) @ conjugate(vh)
    if d_vh is not None:
        across = outside(transposed(d_vh), adjoint_of(vh) @ conjugate(right), s, d_s)
        d_a = d_a + conjugate(u) @ transposed(across)
    return d_a


def outside(d, along, s, d_s):
    """The part of the vectors' cotangents `d` that is not `along` the vectors, over the singular values."""
    across = d - along
    return across / (s[..., None, :] + infinite_at_zero(d, s, d_s))


def skew(m):
    return m - adjoint_of(m)


def svd_tangent(u, s, vh, d):
    v, m = adjoint_of(vh), adjoint_of(u) @ d @ adjoint_of(vh)
    row, column, gaps = s[..., None, :], s[..., :, None], gaps_of(s)
    apart = gaps * (row + column) + nan_at_equal(gaps, m, s)
    left, right = d @ v - u @ m, adjoint_of(d) @ u - v @ adjoint_of(m)
    turn_u = (m * row + column * adjoint_of(m)) / apart
    turn_v = (column * m + adjoint_of(m) * row) / apart
    if np.iscomplexobj(m):  # the phases turn by opposite angles
        turn = diagonal_matrix(0.5j * np.imag(on_diagonal(m)) / np.where(s > 0, s, np.inf))
        turn_u, turn_v = turn_u + turn, turn_v - turn
    t_u = u @ turn_u + left / (row + nan_at_zero(left, s))
    t_v = v @ turn_v + right / (row + nan_at_zero(right, s))
    return t_u, np.real(on_diagonal(m)), adjoint_of(t_v)


for fn in (np.linalg.eigh, np.linalg.eigvalsh, np.linalg.eig, np.linalg.eigvals, np.linalg.svd, np.linalg.svdvals):
    perturbing(fn, getattr(degenerate, fn.__name__))
