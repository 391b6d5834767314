"""Calls on which the rows of ``rules/python.py`` are checked."""

from __future__ import annotations

import numpy as np

from tests.laws.checker import Case, case

NUMBERS = [0.3, -0.7, 1.2]

CASES: list[Case] = [
    *(case(fn, NUMBERS) for fn in (sum, max, min)),
    case(np.ndarray.tolist, np.array(NUMBERS)),
]
