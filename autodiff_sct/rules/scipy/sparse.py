"""Linear systems with sparse matrices of ``scipy.sparse.linalg``: the matrix has no derivative."""

from scipy.sparse import linalg

from ..table import forward, reverse


def solved(a, b):
    """``spsolve(a, b)``."""
    return linalg.spsolve(a, b)


def solved_transposed(a, b):
    """The same with the transpose."""
    return linalg.spsolve(a.T.tocsc(), b)


solved.stands_for = "scipy.sparse.linalg.spsolve"  # type: ignore[attr-defined]
solved_transposed.stands_for = "scipy.sparse.linalg.spsolve"  # type: ignore[attr-defined]


@reverse(solved)
def of_solved(y, d, a, b):
    return None, solved_transposed(a, d)


@forward(solved)
def push_solved(y, d, a, b):
    return None, solved(a, d)


@reverse(solved_transposed)
def of_solved_transposed(y, d, a, b):
    return None, solved(a, d)


@forward(solved_transposed)
def push_solved_transposed(y, d, a, b):
    return None, solved_transposed(a, d)
