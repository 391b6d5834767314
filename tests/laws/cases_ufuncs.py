"""Calls on which the rows of ``rules/ufuncs.py`` are checked."""

from __future__ import annotations

import numpy as np

from tests.laws.checker import Case, case

A, B = np.array([[0.31, 1.52, 0.73], [0.24, 0.85, 2.66]]), np.array([1.7, 0.6])
UFUNCS = [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.arctan2]
STARTS = [[0, 2, 3], [1, 4], [3, 0, 2], [2, 2, 5]]

CASES: list[Case] = [
    *(case(ufunc.outer, a, b) for ufunc in UFUNCS for a, b in ((A, B), (B, A), (B, B[:1]), (0.5, B), (B, 0.5))),
    *(case(ufunc.outer, A + 1j, B) for ufunc in UFUNCS[:4]),
    *(case(np.add.reduceat, np.arange(6) * 0.3, starts) for starts in STARTS),
    case(np.add.reduceat, A, [0, 2], axis=1),
    case(np.add.reduceat, A, np.array([1, 0])),
]
