"""Calls on which the rows of ``rules/scipy/equations.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from autodiff_sct.rules.scipy import equations as rules
from tests.laws.cases_linalg import POSITIVE, A, real
from tests.laws.checker import Case, case

INPUTS = np.array([[1.0, 0.1], [-0.2, 0.9], [0.4, 0.3]])
STATES = np.array([[-0.5, 0.3, -0.2], [0.1, -0.6, 0.2], [0.2, 0.1, -0.4]])
SYMMETRIC = POSITIVE + 0.5 * np.eye(3)
CASES: list[Case] = [
    case(linalg.solve_continuous_lyapunov, POSITIVE, real(3, 3)),
    *(case(linalg.solve_discrete_lyapunov, 0.2 * A, real(3, 3), method) for method in (None, "bilinear")),
    *(case(fn, STATES, INPUTS, np.diag([1, 2, 3]), np.array([[2, 1], [1, 3]]))
      for fn in (linalg.solve_continuous_are, linalg.solve_discrete_are)),
    case(linalg.sqrtm, SYMMETRIC + 0.1 * A), case(linalg.logm, np.eye(3) + 0.2 * A),
    case(rules.logm_of_blocks, np.eye(3) + 0.2 * A, 0.0),
    *(case(fn, 0.3 * A) for fn in (
        linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm)),
    *(case(linalg.fractional_matrix_power, SYMMETRIC, t) for t in (0.5, -0.3)),
]  # fmt: skip
