"""Calls on which the rows of ``rules/special.py`` are checked."""

from __future__ import annotations

import cmath
import math

import numpy as np

import autodiff_sct.ops.erf_rule  # noqa: F401  (fills the table)
from autodiff_sct.ops.erf import erf, erfc
from autodiff_sct.runtime.memory import with_imag
from autodiff_sct.runtime.scalar_functions import polygamma
from tests.laws.cases_elementwise import X, Z
from tests.laws.checker import Case, case

CASES: list[Case] = [
    *(case(fn, z) for fn in [np.real, np.conjugate] for z in (X, Z, 0.7, 0.3 - 0.4j)),
    *(case(fn, z) for fn in [np.imag, np.angle] for z in (X, Z)),
    case(np.angle, Z, deg=True),
    case(with_imag, Z, X),
    case(with_imag, Z, 0.7),
    case(with_imag, Z[None] + np.zeros((2, 1)), X),
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
    case(erfc, X),
    case(math.erfc, 0.4),
    *(case(fn, x) for fn in (math.gamma, math.lgamma) for x in (0.02, 1.0, 3.7, 30.5, -0.3, -4.6)),
    *(case(polygamma, n, x) for n in (0, 1, 4) for x in (0.4, 2.5, 80.0, -3.4)),
    *(case(fn, 0.3 - 0.4j) for fn in (cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan)),
    *(case(fn, 0.3 - 0.4j) for fn in (cmath.asin, cmath.acos, cmath.atan, cmath.sinh, cmath.cosh, cmath.tanh)),
    *(case(fn, 0.3 - 0.4j) for fn in (cmath.asinh, cmath.acosh, cmath.atanh, cmath.phase, cmath.polar)),
    case(cmath.log, 0.3 - 0.4j, 2.5),
    case(cmath.exp, 0.3),
    case(cmath.phase, 0.3),
    case(cmath.rect, 1.3, 0.4),
]
