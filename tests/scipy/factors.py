"""Calls on which the rows of ``rules/scipy/factors.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import linalg

import autodiff_sct.rules.scipy.factors  # noqa: F401  (fills the table)
from tests.laws.cases_linalg import DIAGONAL, POSITIVE, TALL, A, B, V, real
from tests.laws.checker import Case, case

METRIC = real(3, 3) @ real(3, 3).T + 2 * np.eye(3)
SYMMETRIC = np.diag([1.0, 2.5, 4.5]) + 0.4
CYCLIC = (np.diag([4.0, 3.0, 2.0]) + 0.4 * A)[[1, 2, 0]]  # is not its own inverse as a permutation
CASES: list[Case] = [
    *(case(linalg.lu_factor, a) for a in (A, CYCLIC)),
    *(case(linalg.lu, a, **settings) for a in (A, CYCLIC)
      for settings in ({}, {"p_indices": True}, {"permute_l": True}, {"permute_l": True, "p_indices": True})),
    *(case(linalg.lu_solve, linalg.lu_factor(a), b, trans) for a in (A, CYCLIC) for b in (V, B) for trans in (0, 1, 2)),
    *(case(linalg.cho_factor, POSITIVE, lower) for lower in (False, True)),
    *(case(linalg.cho_solve, linalg.cho_factor(POSITIVE, lower), b) for b in (V, B) for lower in (False, True)),
    case(linalg.qr, A), case(linalg.qr, TALL, mode="economic"), case(linalg.qr, TALL, mode="economic", pivoting=True),
    *(case(linalg.qr, CYCLIC.T, mode=mode, pivoting=True) for mode in ("economic", "r", "full")),
    case(linalg.qr, A, mode="r"), case(linalg.svdvals, TALL),
    *(case(linalg.eigh, SYMMETRIC, lower=lower, eigvals_only=only, driver="evd")
      for lower in (False, True) for only in (False, True)),
    *(case(linalg.eigh, SYMMETRIC, METRIC, eigvals_only=only) for only in (False, True)),
    case(linalg.eigvalsh, POSITIVE), case(linalg.eigvalsh, POSITIVE, METRIC, lower=False),
    case(linalg.eig, DIAGONAL), case(linalg.eigvals, DIAGONAL), case(linalg.eig, DIAGONAL, right=False),
    *(case(linalg.polar, A, side) for side in ("right", "left")), case(linalg.polar, TALL),
    case(linalg.polar, TALL.T, "left"),
]  # fmt: skip
