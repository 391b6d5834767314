"""Calls on which the rows of ``rules/linalg.py`` are checked.

Not here: complex eigenvectors of Hermitian matrices and results that depend on the sign that LAPACK happens to choose.
"""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime.linalg.determinants import cofactors
from tests.laws.checker import Case, case

RNG = np.random.default_rng(11)


def real(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape)


def complex_(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


EYE = np.eye(3)
A, B, STACK, Z, ZSTACK = (
    real(3, 3) + 2 * EYE,
    real(3, 2),
    real(2, 3, 3) + 2 * EYE,
    complex_(3, 3) + 2 * EYE,
    complex_(2, 3, 3) + 2 * EYE,
)
V, TALL, WIDE = real(3), real(5, 3), real(3, 5)
POSITIVE, POSITIVES, HERMITIAN = A @ A.T + EYE, STACK @ STACK.swapaxes(1, 2) + EYE, Z @ Z.conj().T + EYE
DIAGONAL = np.diag([1.0, 2.5, 4.5]) + 0.3 * real(3, 3)
THIN = 0.2 * real(2, 4, 3) + np.eye(4, 3) * [1.0, 2.5, 4.0]
SLOPING = np.diag([4.0, 2.5, 1.2, 0.5]) + 0.3 * np.random.default_rng(12).uniform(-1, 1, (4, 4))
E, ONE = np.zeros((0, 0)), np.array([[1.7]])

SOLVES = [
    case(np.linalg.solve, A, V), case(np.linalg.solve, A, B), case(np.linalg.solve, STACK, V),
    case(np.linalg.solve, STACK, real(2, 3, 2)),
    case(np.linalg.solve, A, real(2, 3, 2)), case(np.linalg.solve, STACK, B), case(np.linalg.solve, Z, V),
    case(np.linalg.solve, A, complex_(3, 2)),
    case(np.linalg.solve, ZSTACK, V), case(np.linalg.solve, ONE, np.array([0.3])),
    case(np.linalg.solve, E, np.zeros((0, 2))),
    case(np.linalg.tensorsolve, real(2, 3, 6), real(2, 3)), case(np.linalg.tensorsolve, real(6, 2, 3), real(6)),
    case(np.linalg.tensorsolve, complex_(2, 2, 4), complex_(2, 2)),
    case(np.linalg.tensorinv, real(2, 3, 6)), case(np.linalg.tensorinv, real(6, 3, 2), ind=1),
    case(np.linalg.tensorinv, complex_(4, 2, 2), 1),
    *(case(np.linalg.inv, a) for a in (A, STACK, Z, ZSTACK, ONE)),
    *(case(np.linalg.pinv, a) for a in (A, TALL, WIDE, STACK, Z, complex_(4, 3), complex_(2, 3, 4))),
    *(case(np.linalg.pinv, a, hermitian=True) for a in (POSITIVE, POSITIVES, HERMITIAN, POSITIVE - 2 * EYE)),
    case(np.linalg.pinv, POSITIVE, 0.4, True),
    case(np.linalg.lstsq, TALL, real(5)), case(np.linalg.lstsq, TALL, real(5, 2)), case(np.linalg.lstsq, WIDE, V),
    case(np.linalg.lstsq, A, B, None),
    *(case(np.linalg.pinv, a, 0.4) for a in (
        SLOPING, SLOPING[:, :3], SLOPING[:2], SLOPING[:, :3] + 0.2j * SLOPING[:, 1:], np.stack([SLOPING, SLOPING.T]))),
    *(case(np.linalg.lstsq, SLOPING[:, :k], b, rcond) for k in (2, 4) for b in (SLOPING[0], SLOPING[:, 1:3])
      for rcond in (0.4, -1)),
]  # fmt: skip

DETERMINANTS = [
    case(fn, a) for fn in (np.linalg.det, np.linalg.slogdet, cofactors) for a in (A, STACK, Z, ZSTACK, -A, ONE)
] + [case(cofactors, A, A.T), case(cofactors, STACK, STACK**2, STACK + 1)]

SYMMETRIC = [
    *(case(np.linalg.cholesky, a) for a in (POSITIVE, POSITIVES, HERMITIAN, ONE)),
    *(case(np.linalg.cholesky, a, upper=True) for a in (POSITIVE, POSITIVES, HERMITIAN)),
    *(case(np.linalg.eigh, a) for a in (POSITIVE, POSITIVES, ONE)), case(np.linalg.eigh, POSITIVE, "U"),
    *(case(np.linalg.eigvalsh, a, *uplo) for a in (POSITIVE, POSITIVES, HERMITIAN) for uplo in ((), ("U",), ("l",))),
]  # fmt: skip

SPECTRA = [
    *(case(fn, a) for fn in (np.linalg.eig, np.linalg.eigvals)
    for a in (DIAGONAL, Z, np.stack([DIAGONAL, DIAGONAL.T]), ZSTACK)),
    *(case(np.linalg.svd, a, full_matrices=False) for a in (A, TALL, WIDE, STACK, THIN)), case(np.linalg.svd, A),
    *(case(np.linalg.svd, a, compute_uv=False) for a in (A, TALL, Z, real(2, 4, 3))),
    *(case(np.linalg.svdvals, a) for a in (A, WIDE, Z, complex_(2, 3, 4))),
    *(case(np.linalg.qr, a) for a in (A, TALL, STACK, real(2, 4, 3), Z, complex_(4, 3), ZSTACK)),
    case(np.linalg.qr, TALL, "r"), case(np.linalg.qr, A, mode="r"),
]  # fmt: skip

CASES: list[Case] = [*SOLVES, *DETERMINANTS, *SYMMETRIC, *SPECTRA]
