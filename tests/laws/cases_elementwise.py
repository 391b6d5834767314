"""Calls on which the rows of ``rules/elementwise.py`` are checked."""

from __future__ import annotations

import math
import operator

import numpy as np

from autodiff_sct.runtime import real_power
from autodiff_sct.runtime.selection import select
from tests.laws.checker import Case, case

# Away from 0, from ±1 and from each other: no kink is near.
X = np.array([[0.31, -0.52, 0.73], [-0.24, 0.85, -0.66]])
P = np.array([[1.31, 0.52, 2.73], [0.24, 1.85, 3.66]])  # positive
Q = np.array([[1.7, 2.4, -0.6], [2.9, -1.3, 0.4]])
Z = X + 1j * np.array([[0.4, 0.9, -0.35], [1.2, -0.8, 0.55]])
W = Z[::-1, ::-1] * (0.7 - 0.2j)

EVERYWHERE = [np.exp, np.exp2, np.expm1, np.sin, np.cos, np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh]
HOLOMORPHIC = [np.negative, np.positive, np.square, np.reciprocal, *EVERYWHERE]
INSIDE_ONE = [np.arcsin, np.arccos, np.arctanh]
POSITIVE = [np.log, np.log2, np.log10, np.log1p, np.sqrt]
REAL = [np.cbrt, np.fabs, np.deg2rad, np.radians, np.rad2deg, np.degrees, np.nan_to_num]
SIGNS = [np.absolute, abs, operator.abs, operator.neg, operator.pos]

MATH = [math.exp, math.exp2, math.expm1, math.sin, math.cos, math.tan, math.atan, math.sinh, math.cosh, math.tanh,
        math.asinh, math.asin, math.acos, math.atanh, math.log, math.log2, math.log10, math.log1p, math.sqrt, math.cbrt,
        math.fabs, math.radians, math.degrees]  # fmt: skip
BINARY = [np.add, np.subtract, np.multiply, np.divide, operator.add, operator.sub, operator.mul, operator.truediv]
REAL_BINARY = [np.remainder, np.fmod, operator.mod, np.arctan2, np.hypot, np.logaddexp, np.logaddexp2, np.maximum,
               np.minimum, np.fmax, np.fmin, np.copysign]  # fmt: skip
POWERS = [np.power, np.float_power, operator.pow]
EXPONENTS = [-2, -1, 0, 1, 2, 3, -0.5, 0.5, 2.5]
ZERO = np.array([0.0, 0.5])

CASES: list[Case] = [
    *(case(fn, X) for fn in [*HOLOMORPHIC, *INSIDE_ONE, *REAL, *SIGNS]),
    *(case(fn, P) for fn in POSITIVE),
    *(case(fn, Z) for fn in [*HOLOMORPHIC, *INSIDE_ONE, *POSITIVE, np.arccosh, np.absolute, np.nan_to_num]),
    case(np.arccosh, P + 1),
    case(math.acosh, 1.7),
    *(case(fn, 0.37) for fn in [*MATH, abs, float, np.sin, np.square]),
    case(np.float64, 0.37),
    case(np.float64, X),
    case(math.log, 1.7, 3.2),
    case(math.log, 1.7, 10),
    *(case(fn, X, Q) for fn in [*BINARY, *REAL_BINARY]),
    *(case(fn, Z, W) for fn in BINARY),
    *(case(fn, X, W) for fn in BINARY),
    *(case(fn, 1.3, X) for fn in BINARY),
    *(case(fn, 2.3, -0.7) for fn in [math.fmod, math.remainder, math.atan2, math.hypot, math.copysign]),
    case(math.pow, 2.3, -0.7),
    case(math.hypot, 2.3, -0.7, 0.4),
    case(math.hypot, 2.3),
    *(case(fn, P, Q) for fn in POWERS),
    *(case(fn, Z, W) for fn in POWERS),
    *(case(np.power, X if isinstance(b, int) else P, b) for b in EXPONENTS),
    *(case(pow, 1.3, b) for b in EXPONENTS),
    *(case(np.power, ZERO, b) for b in (0, 1, 2, 3)),
    *(case(operator.pow, 0.0, b) for b in (0, 1, 2, 3)),
    *(case(fn, X, Q) for fn in (np.divmod,)),
    case(divmod, 2.3, -0.7),
    case(np.modf, X),
    case(np.frexp, X),
    case(math.frexp, 2.3),
    case(np.nextafter, X, Q),
    case(math.nextafter, 2.3, 5.0),
    case(math.modf, 2.3),
    case(np.power, 2.0, X),
    *(case(real_power, P, b) for b in (0.5, 2.0, -1.5)),
    case(real_power, 0.7, 1.5),
    *(case(np.logaddexp, *terms) for terms in [(0.0, X), (X, 0), (1, X), (X, 0.5), (0, 0.0)]),
    case(np.power, 2, X),
    case(np.power, np.abs(X), np.array([0.0, 1.0, 2.0])),
    case(np.power, P, np.array([3, 1, 2])),
    case(np.heaviside, X, Q),
    case(np.heaviside, np.array([1, 0, -1]), np.array([0.2, 0.3, 0.4])),
    case(np.ldexp, X, np.array([1, -2, 3])),
    case(math.ldexp, 0.7, 3),
    case(np.clip, X, -0.4, 0.6),
    case(np.clip, X, None, 0.6),
    case(np.clip, X, -0.4, None),
    case(np.clip, X, Q - 1, Q * 0.3),
    *([case(np.clip, X, min=-0.4, max=0.6)] if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else []),
    case(np.where, X > 0, X, Q),
    case(select, X > 0, X, Q),
    case(select, X > 0, X, 0),
    case(np.where, X[0] > 0, X, 1.5),
    case(np.where, X > 0, 0, Z),
    case(np.nan_to_num, np.array([np.nan, 1.0, np.inf, -np.inf]), nan=0.5, posinf=2.0, neginf=-2.0),
]
