"""Linear algebra of SciPy: the rules of ``numpy.linalg`` where the functions are the same, and functions of matrices.

What may overwrite its arguments, and what reads one triangle of a matrix, is told by settings.  The derivative of a
function of a matrix is a block of the function of a larger one (Najfeld and Havel 1995), so that it has derivatives of
every order.
"""

import numpy as np
from scipy import linalg

from ...errors import NoRule
from .. import linalg as numpys
from .. import norms, spectra
from ..linalg import (
    adjoint_of,
    cholesky_adjoint,
    cholesky_tangent,
    cofactors,
    conjugate,
    half_diagonal,
    mirrored,
    onto_triangle,
    pinv_adjoint,
    pinv_tangent,
    singular_values_tangent,
)
from ..products import transposed
from ..table import forward, reverse, static
from . import perturbed

# Solving and inverting


@reverse(linalg.inv)
def inv(y, d, a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    check_inv(a, overwrite_a, assume_a)
    return read_by(assume_a, lower, -(transposed(y) @ d @ transposed(y)))


@forward(linalg.inv)
def push_inv(y, d, a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    check_inv(a, overwrite_a, assume_a)
    return -(y @ meant_by(assume_a, lower, d) @ y)


@reverse(linalg.solve)
def solve(
    y, d, a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False
):
    check_solve(a, b, overwrite_a or overwrite_b)
    if transposed:
        d_b = linalg.solve(a, d, lower, assume_a=assume_a)
        return read_by(assume_a, lower, -outer(y, d_b)), d_b
    if part_read(assume_a, lower) in ("upper triangular", "lower triangular"):
        other = "lower triangular" if assume_a == "upper triangular" else "upper triangular"
        d_b = linalg.solve(a.T, d, assume_a=other)
    elif part_read(assume_a, lower) in ("all", "diagonal", "tridiagonal"):
        d_b = linalg.solve(a.T, d, assume_a=assume_a)
    elif part_read(assume_a, lower).startswith("Hermitian"):
        d_b = linalg.solve(conjugate(a), d, lower, assume_a=assume_a)
    else:
        d_b = linalg.solve(a, d, lower, assume_a=assume_a)
    return read_by(assume_a, lower, -outer(d_b, y)), d_b


@forward(linalg.solve)
def push_solve(
    y, d, a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False
):
    check_solve(a, b, overwrite_a or overwrite_b)
    return (
        -linalg.solve(
            a, turned(meant_by(assume_a, lower, d), transposed) @ y, lower, assume_a=assume_a, transposed=transposed
        ),
        linalg.solve(a, d, lower, assume_a=assume_a, transposed=transposed),
    )


@reverse(linalg.solve_triangular)
def solve_triangular(y, d, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    check_solve(a, b, overwrite_b)
    if is_adjoint(trans):
        d_b = linalg.solve_triangular(conjugate(a), d, 0, lower, unit_diagonal)
        return -triangle(conjugate(outer(y, d_b)), lower, unit_diagonal), d_b
    if is_transposed(trans):
        d_b = linalg.solve_triangular(a, d, 0, lower, unit_diagonal)
        return -triangle(outer(y, d_b), lower, unit_diagonal), d_b
    d_b = linalg.solve_triangular(a, d, 1, lower, unit_diagonal)
    return -triangle(outer(d_b, y), lower, unit_diagonal), d_b


@forward(linalg.solve_triangular)
def push_solve_triangular(y, d, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    check_solve(a, b, overwrite_b)
    return (
        -linalg.solve_triangular(
            a, turned_by(trans, triangle(d, lower, unit_diagonal)) @ y, trans, lower, unit_diagonal
        ),
        linalg.solve_triangular(a, d, trans, lower, unit_diagonal),
    )


@reverse(linalg.solve_sylvester)
def solve_sylvester(y, d, a, b, q):
    d_q = linalg.solve_sylvester(a.T, b.T, d)
    return -d_q @ y.T, -y.T @ d_q, d_q


@forward(linalg.solve_sylvester)
def push_solve_sylvester(y, d, a, b, q):
    return (
        -linalg.solve_sylvester(a, b, d @ y),
        -linalg.solve_sylvester(a, b, y @ d),
        linalg.solve_sylvester(a, b, d),
    )


@reverse(linalg.lstsq)
def lstsq(y, d, a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    check_lstsq(a, b, overwrite_a or overwrite_b, cond, lapack_driver)
    return numpys.lstsq_adjoint(y, d, a, b, limit_of(y[0], cond), cond is not None)


@forward(linalg.lstsq)
def push_lstsq(y, d, a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    check_lstsq(a, b, overwrite_a or overwrite_b, cond, lapack_driver)
    return (
        numpys.lstsq_by_matrix(y, d, a, b, limit_of(y[0], cond), cond is not None),
        numpys.lstsq_by_right(y, d, a, b, limit_of(y[0], cond)),
    )


def limit_of(x, cond):
    """The part of the largest singular value up to which others are dropped."""
    return np.finfo(x.dtype).eps if cond is None else cond


@reverse(linalg.pinv)
def pinv(y, d, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    check_rank(return_rank)
    if atol is None and rtol is None:
        return pinv_adjoint(y, d, a)
    return numpys.cut_pinv_adjoint(y, d, a, 0 if atol is None else atol, relative(rtol, a))


@forward(linalg.pinv)
def push_pinv(y, d, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    check_rank(return_rank)
    if atol is None and rtol is None:
        return pinv_tangent(y, d, a)
    return numpys.cut_pinv_tangent(y, d, a, 0 if atol is None else atol, relative(rtol, a))


def relative(rtol, a):
    """The part of the largest singular value below which SciPy drops others."""
    return np.finfo(a.dtype).eps * max(a.shape) if rtol is None else rtol


def outer(a, b):
    """``a @ b.T`` of matrices, or of vectors as columns."""
    return np.outer(a, b) if a.ndim == 1 else a @ b.T


def turned(a, transposed):
    """A matrix, or its transpose."""
    return a.T if transposed else a


def turned_by(trans, a):
    """The matrix of the system that is solved."""
    return adjoint_of(a) if is_adjoint(trans) else turned(a, is_transposed(trans))


def triangle(a, lower, unit_diagonal):
    """The part of a matrix that is read."""
    if lower:
        return np.tril(a, -1 if unit_diagonal else 0)
    return np.triu(a, 1 if unit_diagonal else 0)


@static
def is_transposed(trans):
    """True if ``a.T @ x = b`` is solved."""
    return trans in (1, "T")


@static
def is_adjoint(trans):
    """True if ``a.conj().T @ x = b`` is solved."""
    return trans in (2, "C")


@static
def part_read(assume_a, lower):
    """The part of a matrix that is read: all of it, three diagonals, one, or a triangle, which may stand for both."""
    if assume_a in (None, "gen", "general", "banded"):
        return "all"
    if assume_a in ("sym", "symmetric"):
        return "symmetric L" if lower else "symmetric U"
    if assume_a in ("her", "hermitian", "pos", "positive definite"):
        return "Hermitian L" if lower else "Hermitian U"
    if assume_a in ("upper triangular", "lower triangular", "tridiagonal", "diagonal"):
        return assume_a
    raise NoRule(f"assume_a={assume_a!r} has no derivative here")


def read_by(assume_a, lower, d_a):
    """The cotangent of what is read of a matrix."""
    part = part_read(assume_a, lower)
    if part.startswith("Hermitian"):
        return onto_triangle(d_a, part[-1])
    if part.startswith("symmetric"):
        return half_of(part, d_a + d_a.T)
    return only(part, d_a)


def half_of(part, a):
    """One triangle of a matrix with half of the diagonal, which belongs to both."""
    return half_diagonal(a) if part[-1] == "L" else half_diagonal(a.T).T


def only(part, a):
    """The part of a matrix that is read, with zeros elsewhere."""
    if part == "upper triangular":
        return np.triu(a)
    if part == "lower triangular":
        return np.tril(a)
    if part == "tridiagonal":
        return np.tril(np.triu(a, -1), 1)
    if part == "diagonal":
        return np.tril(np.triu(a))
    return a


def meant_by(assume_a, lower, d):
    """The tangent of the matrix that is meant; that of a vector on the other side comes here, too."""
    part = part_read(assume_a, lower)
    if d.ndim < 2:
        return d
    if part.startswith("Hermitian"):
        return mirrored(d, part[-1])
    if part.startswith("symmetric"):
        return half_of(part, d) + half_of(part, d).T
    return only(part, d)


def check_settings(a, overwrites):
    """Refuse what has no derivative here."""
    if overwrites:
        raise NoRule("functions of scipy.linalg are differentiable where they overwrite no argument")
    if a.ndim > 2:
        raise NoRule("functions of scipy.linalg are differentiable for single matrices: np.linalg's for many")


def check_inv(a, overwrite_a, assume_a):
    """Refuse what has no derivative here: SciPy leaves what is beside a diagonal as it is."""
    check_settings(a, overwrite_a)
    if assume_a == "diagonal":
        raise NoRule("scipy.linalg.inv has no derivative with assume_a='diagonal': write `np.diag(1 / np.diag(a))`")


def check_real(b, overwrites):
    """Refuse what has no derivative here."""
    check_settings(b, overwrites)
    if np.iscomplexobj(b):
        raise NoRule("functions of factorisations are differentiable for real matrices")


def check_solve(a, b, overwrites):
    """Refuse what has no derivative here."""
    check_settings(a, overwrites)
    if b.ndim > 2:
        raise NoRule("solving is differentiable for one matrix: np.linalg.solve takes many")


def check_lstsq(a, b, overwrites, cond, lapack_driver):
    """Refuse what has no derivative here."""
    check_solve(a, b, overwrites)
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        raise NoRule("scipy.linalg.lstsq is differentiable for real matrices")
    if cond is not None and lapack_driver == "gelsy":
        raise NoRule("scipy.linalg.lstsq with cond is differentiable with the drivers 'gelsd' and 'gelss'")


def check_rank(return_rank):
    """Refuse what has two results."""
    if return_rank:
        raise NoRule("scipy.linalg.pinv is differentiable without return_rank")


# Factorisations and spectra


@reverse(linalg.cholesky)
def cholesky(y, d, a, lower=False, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return cholesky_adjoint(y, d) if lower else adjoint_of(cholesky_adjoint(adjoint_of(y), adjoint_of(d)))


@forward(linalg.cholesky)
def push_cholesky(y, d, a, lower=False, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return cholesky_tangent(y, d) if lower else adjoint_of(cholesky_tangent(adjoint_of(y), adjoint_of(d)))


@reverse(linalg.det)
def det(y, d, a, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return d * y * linalg.inv(a).T


@forward(linalg.det)
def push_det(y, d, a, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return y * np.trace(linalg.inv(a) @ d)


@reverse(linalg.det, anywhere=True)
def det_anywhere(y, d, a, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return d * cofactors(a)


@forward(linalg.det, anywhere=True)
def push_det_anywhere(y, d, a, overwrite_a=False, check_finite=True):
    check_settings(a, overwrite_a)
    return np.sum(cofactors(a) * d)


@reverse(linalg.norm)
def norm(y, d, a, ord=None, axis=None, keepdims=False, check_finite=True):
    return norms.norm(y, d, a, ord, axis, keepdims)


@forward(linalg.norm)
def push_norm(y, d, a, ord=None, axis=None, keepdims=False, check_finite=True):
    return norms.push_norm(y, d, a, ord, axis, keepdims)


@reverse(linalg.svd, perturbed.svd)
def svd(y, d, a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    check_settings(a, overwrite_a)
    return spectra.svd(y, d, a, full_matrices, compute_uv)


@forward(linalg.svd, perturbed.svd)
def push_svd(y, d, a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    check_settings(a, overwrite_a)
    if not compute_uv:
        return singular_values_tangent(d, a)
    spectra.check_thin(a, full_matrices)
    return (spectra.svd_tangent(y[0], y[1], y[2], d),)


# Functions of matrices


@reverse(linalg.expm)
def expm(y, d, A):
    check_settings(A, False)
    return upper_right(linalg.expm(beside(A.T, d)))


@forward(linalg.expm)
def push_expm(y, d, A):
    check_settings(A, False)
    return upper_right(linalg.expm(beside(A, d)))


def beside(a, d):
    """The matrix ``[[a, d], [0, a]]``, of which a function has the derivative along `d` in the place of `d`."""
    return np.block([[a, d], [np.zeros_like(a), a]])


def upper_right(blocks):
    """The upper right quarter of a matrix."""
    n = blocks.shape[0] // 2
    return blocks[:n, n:]
