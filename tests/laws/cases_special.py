"""Calls on which the rows of ``rules/special.py`` are checked."""

from __future__ import annotations

import math

import numpy as np

import autodiff_sct.ops.erf_rule  # noqa: F401  (fills the table)
from autodiff_sct.ops.erf import erf
from tests.laws.cases_elementwise import X, Z
from tests.laws.checker import Case, case

CASES: list[Case] = [
    *(case(fn, z) for fn in [np.real, np.conjugate] for z in (X, Z, 0.7, 0.3 - 0.4j)),
    *(case(fn, z) for fn in [np.imag, np.angle] for z in (X, Z)),
    case(np.angle, Z, deg=True),
    case(complex, 0.3, 0.4),
    case(complex, 0.3 - 0.2j),
    case(np.float32, X),
    case(np.complex64, Z),
    case(np.complex128, X),
    case(np.complex128, Z),
    case(np.sinc, X),
    case(np.sinc, Z),
    case(np.sinc, np.array([0.0, 1e-9, 1e-4, 0.05, -0.09, 0.11, 2.0])),
    case(np.i0, X),
    case(np.i0, np.array([-30.0, 0.0, 4.0, 12.5, 60.0]) / 20),
    case(np.longdouble, X),
    case(np.clongdouble, Z),
    *(case(np.sign, z) for z in (Z, Z[0, 0], 0.3 - 0.4j)),
    case(math.erf, 0.4),
    case(erf, X),
    case(math.erfc, 0.4),
]
