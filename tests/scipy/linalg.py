"""Calls on which the rows of ``rules/scipy/linalg.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import linalg

import autodiff_sct.rules.scipy.linalg  # noqa: F401  (fills the table)
from tests.laws.cases_linalg import DIAGONAL, HERMITIAN, POSITIVE, SLOPING, TALL, WIDE, A, B, V, Z, complex_, real
from tests.laws.checker import Case, case

CASES: list[Case] = [
    *(case(linalg.inv, a) for a in (A, Z)), case(linalg.inv, POSITIVE, assume_a="pos"),
    *(case(linalg.inv, a, assume_a=kind, lower=lower) for a in (A + 2 * np.eye(3), Z + 3 * np.eye(3))
      for lower in (False, True) for kind in ("gen", "sym", "her", "upper triangular", "lower triangular")),
    case(linalg.inv, HERMITIAN, assume_a="pos", lower=True),
    *(case(linalg.solve, A, b) for b in (V, B)), case(linalg.solve, A, B, transposed=True),
    *(case(linalg.solve, POSITIVE, b, lower, assume_a=kind)
      for b in (V, B) for lower in (False, True) for kind in ("pos", "sym")),
    *(case(linalg.solve, A, b, assume_a=kind) for b in (V, B) for kind in (
        "general", "banded", "diagonal", "tridiagonal", "upper triangular", "lower triangular")),
    *(case(linalg.solve, A, b, transposed=True, assume_a=kind) for b in (V, B) for kind in (
        "sym", "diagonal", "tridiagonal", "upper triangular", "lower triangular")),
    *(case(linalg.solve, Z + 3 * np.eye(3), b, lower, assume_a=kind) for b in (V, Z) for lower in (False, True)
      for kind in (None, "sym", "her", "diagonal", "tridiagonal", "upper triangular", "lower triangular")),
    case(linalg.lstsq, TALL, real(5)), case(linalg.lstsq, TALL, real(5, 2)),
    *(case(linalg.solve_triangular, a, b, trans, lower, unit)
      for a, b in ((A, V), (A, B), (Z, V), (Z, Z)) for trans in (0, "T", "C") for lower in (False, True)
      for unit in (False, True)),
    *(case(linalg.solve_triangular, A, V, trans) for trans in (1, 2, "N")),
    case(linalg.solve_sylvester, A, POSITIVE, real(3, 3)),
    case(linalg.solve_sylvester, A, np.eye(2) + real(2, 2), B),
    *(case(linalg.pinv, a) for a in (A, TALL, WIDE, complex_(4, 3))),
    *(case(linalg.pinv, a, **limits) for a in (SLOPING, SLOPING[:, :3], SLOPING[:, :3] + 0.2j * SLOPING[:, 1:])
      for limits in ({"rtol": 0.4}, {"atol": 1.0}, {"atol": 0.2, "rtol": 0.3})),
    *(case(linalg.lstsq, SLOPING[:, :k], b, 0.4) for k in (2, 4) for b in (SLOPING[0], SLOPING[:, 1:3])),
    *(case(linalg.cholesky, a, lower) for a in (POSITIVE, HERMITIAN) for lower in (False, True)),
    *(case(linalg.det, a) for a in (A, Z)),
    case(linalg.norm, A), case(linalg.norm, V), case(linalg.norm, A, axis=1), case(linalg.norm, V, 3),
    case(linalg.norm, A, "fro", keepdims=True), case(linalg.norm, Z),
    case(linalg.svd, DIAGONAL), case(linalg.svd, TALL, full_matrices=False), case(linalg.svd, A, compute_uv=False),
    *(case(linalg.expm, 0.5 * a) for a in (A, Z, np.zeros((2, 2)), np.array([[1.7]]))),
]  # fmt: skip
