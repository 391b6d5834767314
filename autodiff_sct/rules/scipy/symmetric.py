"""The factorisation ``L @ D @ L.T`` of symmetric matrices, where ``D`` is diagonal."""

import numpy as np
from scipy import linalg

from ...errors import NoRule
from ..linalg import mirrored, onto_triangle
from ..table import forward, reverse
from .linalg import check_settings


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
