"""Matrix equations of ``scipy.linalg``, and functions of matrices.

The adjoint of a linear matrix equation is the equation with the transposed coefficients.  Riccati equations are
differentiated at their solution, where what is left is a Lyapunov equation of the closed loop.
"""

import warnings

import numpy as np
from scipy import linalg

from ...errors import NoRule
from ..table import COMPLEX_BY_VALUE, forward, nondifferentiable, reverse
from .linalg import beside, check_settings, upper_right

COMPLEX_BY_VALUE |= {linalg.sqrtm, linalg.logm, linalg.fractional_matrix_power}

# Lyapunov equations


@reverse(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(y, d, a, q):
    check_real(a, q)
    d_q = linalg.solve_continuous_lyapunov(a.T, d)
    return -(d_q @ y.T + d_q.T @ y), d_q


@forward(linalg.solve_continuous_lyapunov)
def push_solve_continuous_lyapunov(y, d, a, q):
    check_real(a, q)
    return (
        -linalg.solve_continuous_lyapunov(a, d @ y + y @ d.T),
        linalg.solve_continuous_lyapunov(a, d),
    )


@reverse(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(y, d, a, q, method=None):
    check_real(a, q)
    d_q = linalg.solve_discrete_lyapunov(a.T, d, method)
    return d_q @ a @ y.T + d_q.T @ a @ y, d_q


@forward(linalg.solve_discrete_lyapunov)
def push_solve_discrete_lyapunov(y, d, a, q, method=None):
    check_real(a, q)
    return (
        linalg.solve_discrete_lyapunov(a, d @ y @ a.T + a @ y @ d.T, method),
        linalg.solve_discrete_lyapunov(a, d, method),
    )


def check_real(a, q):
    """Refuse what has no derivative here."""
    if np.iscomplexobj(a) or np.iscomplexobj(q):
        raise NoRule("Lyapunov and Riccati equations are differentiable for real matrices")


# Riccati equations


@reverse(linalg.solve_continuous_are)
def solve_continuous_are(y, d, a, b, q, r, e=None, s=None, balanced=True):
    check_are(a, q, e, s)
    gain = np.linalg.solve(r, b.T @ y)
    weights = linalg.solve_continuous_lyapunov(a - b @ gain, -d)
    d_a = y @ (weights + weights.T)
    return d_a, -d_a @ gain.T, weights, gain @ weights @ gain.T


@forward(linalg.solve_continuous_are)
def push_solve_continuous_are(y, d, a, b, q, r, e=None, s=None, balanced=True):
    check_are(a, q, e, s)
    gain = np.linalg.solve(r, b.T @ y)
    loop = (a - b @ gain).T
    return (
        linalg.solve_continuous_lyapunov(loop, -with_transpose(y @ d)),
        linalg.solve_continuous_lyapunov(loop, with_transpose(y @ d @ gain)),
        linalg.solve_continuous_lyapunov(loop, -d),
        linalg.solve_continuous_lyapunov(loop, -(gain.T @ d @ gain)),
    )


@reverse(linalg.solve_discrete_are)
def solve_discrete_are(y, d, a, b, q, r, e=None, s=None, balanced=True):
    check_are(a, q, e, s)
    gain = np.linalg.solve(r + b.T @ y @ b, b.T @ y @ a)
    loop = a - b @ gain
    weights = linalg.solve_discrete_lyapunov(loop, d)
    d_a = y @ loop @ (weights + weights.T)
    return d_a, -d_a @ gain.T, weights, gain @ weights @ gain.T


@forward(linalg.solve_discrete_are)
def push_solve_discrete_are(y, d, a, b, q, r, e=None, s=None, balanced=True):
    check_are(a, q, e, s)
    gain = np.linalg.solve(r + b.T @ y @ b, b.T @ y @ a)
    loop = a - b @ gain
    return (
        linalg.solve_discrete_lyapunov(loop.T, with_transpose(loop.T @ y @ d)),
        -linalg.solve_discrete_lyapunov(loop.T, with_transpose(loop.T @ y @ d @ gain)),
        linalg.solve_discrete_lyapunov(loop.T, d),
        linalg.solve_discrete_lyapunov(loop.T, gain.T @ d @ gain),
    )


def with_transpose(a):
    return a + a.T


def check_are(a, q, e, s):
    """Refuse what has no derivative here."""
    check_real(a, q)
    if e is not None or s is not None:
        raise NoRule("Riccati equations are differentiable without e and s")


# Functions of matrices


@reverse(linalg.sqrtm)
def sqrtm(y, d, A):
    check_settings(A, False)
    return linalg.solve_sylvester(y.T, y.T, d)


@forward(linalg.sqrtm)
def push_sqrtm(y, d, A):
    check_settings(A, False)
    return linalg.solve_sylvester(y, y, d)


def branch_turn(A):
    """The angle by which to turn the plane so that the cut of the logarithm is far from the eigenvalues.

    Rounding separates the equal eigenvalues of a block matrix: two that are negative end on both sides of the cut of
    the principal branch, a step of ``2j * pi`` apart.
    """
    angles = np.angle(np.linalg.eigvals(A))
    return (angles.min() + angles.max()) / 2 if angles.size else 0.0


nondifferentiable(branch_turn)


def logm_of_blocks(A, turn):
    """The logarithm of a block matrix, on the branch that is principal where the plane is turned back by `turn`."""
    with warnings.catch_warnings():  # that the error of a logarithm is unknown, which holds for most block matrices
        warnings.simplefilter("ignore", RuntimeWarning)
        if turn == 0:
            return linalg.logm(A)
        return linalg.logm(A * np.exp(-1j * turn)) + 1j * turn * np.eye(len(A))


COMPLEX_BY_VALUE.add(logm_of_blocks)


@reverse(linalg.logm)
def logm(y, d, A):
    check_settings(A, False)
    return upper_right(logm_of_blocks(beside(A.T, d), branch_turn(A)))


@forward(linalg.logm)
def push_logm(y, d, A):
    check_settings(A, False)
    return upper_right(logm_of_blocks(beside(A, d), branch_turn(A)))


@reverse(logm_of_blocks)
def pull_logm_of_blocks(y, d, A, turn):
    return upper_right(logm_of_blocks(beside(A.T, d), turn)), None


@forward(logm_of_blocks)
def push_logm_of_blocks(y, d, A, turn):
    return upper_right(logm_of_blocks(beside(A, d), turn)), None


@reverse(linalg.cosm)
def cosm(y, d, A):
    return upper_right(linalg.cosm(beside(A.T, d)))


@forward(linalg.cosm)
def push_cosm(y, d, A):
    return upper_right(linalg.cosm(beside(A, d)))


@reverse(linalg.sinm)
def sinm(y, d, A):
    return upper_right(linalg.sinm(beside(A.T, d)))


@forward(linalg.sinm)
def push_sinm(y, d, A):
    return upper_right(linalg.sinm(beside(A, d)))


@reverse(linalg.tanm)
def tanm(y, d, A):
    return upper_right(linalg.tanm(beside(A.T, d)))


@forward(linalg.tanm)
def push_tanm(y, d, A):
    return upper_right(linalg.tanm(beside(A, d)))


@reverse(linalg.coshm)
def coshm(y, d, A):
    return upper_right(linalg.coshm(beside(A.T, d)))


@forward(linalg.coshm)
def push_coshm(y, d, A):
    return upper_right(linalg.coshm(beside(A, d)))


@reverse(linalg.sinhm)
def sinhm(y, d, A):
    return upper_right(linalg.sinhm(beside(A.T, d)))


@forward(linalg.sinhm)
def push_sinhm(y, d, A):
    return upper_right(linalg.sinhm(beside(A, d)))


@reverse(linalg.tanhm)
def tanhm(y, d, A):
    return upper_right(linalg.tanhm(beside(A.T, d)))


@forward(linalg.tanhm)
def push_tanhm(y, d, A):
    return upper_right(linalg.tanhm(beside(A, d)))


# Of the logarithm, times the power: the function itself chooses another branch for each block where an eigenvalue is
# negative.


@reverse(linalg.fractional_matrix_power)
def fractional_matrix_power(y, d, A, t):
    d_log = t * upper_right(linalg.expm(beside(t * linalg.logm(A.T), d)))
    return upper_right(logm_of_blocks(beside(A.T, d_log), branch_turn(A)))


@forward(linalg.fractional_matrix_power)
def push_fractional_matrix_power(y, d, A, t):
    of_log = t * upper_right(logm_of_blocks(beside(A, d), branch_turn(A)))
    return upper_right(linalg.expm(beside(t * linalg.logm(A), of_log))), None
