"""Calls on which the rows of ``rules/scipy/structured.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import linalg

import autodiff_sct.rules.scipy.structured  # noqa: F401  (fills the table)
from tests.laws.cases_linalg import POSITIVE, B, V, real
from tests.laws.checker import Case, case

C, R = np.array([4.0, 1.1, 0.3]), np.array([4.0, -0.7, 0.4])
BANDS = np.array([[0.0, 0.0, 0.3, 0.2], [0.0, 0.4, -0.5, 0.6], [3.0, 2.5, 3.5, 4.0], [0.7, -0.3, 0.2, 0.0]])
ABOVE = np.array([[0.0, 0.3, 0.2], [0.4, -0.5, 0.6], [3.0, 2.5, 3.5]])
CASES: list[Case] = [
    case(linalg.toeplitz, C), case(linalg.toeplitz, C, np.array([4.0, 0.2])), case(linalg.circulant, C),
    case(linalg.block_diag, real(2, 3), real(1, 1), real(3, 2)), case(linalg.khatri_rao, real(2, 3), real(4, 3)),
    case(linalg.solve_toeplitz, C, V), case(linalg.solve_toeplitz, (C, R), V),
    *(case(linalg.solve_banded, (1, 2), BANDS, b) for b in (real(4), real(4, 2))),
    case(linalg.solve_banded, (0, 0), BANDS[2:3], real(4)),
    *(case(linalg.solveh_banded, ABOVE, b) for b in (V, B)),
    *(case(linalg.solveh_banded, ABOVE[::-1], b, lower=True) for b in (V, B)),
    case(linalg.solveh_banded, ABOVE[2:], V), case(linalg.ldl, POSITIVE),
]  # fmt: skip
