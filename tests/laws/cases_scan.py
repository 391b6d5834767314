"""Calls on which the rows of ``rules/scan.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime.scan import recurrence, running_products_adjoint, shift
from tests.laws.cases_elementwise import X, Z
from tests.laws.cases_reduce import NANS, ONE_ZERO, TWO_ZEROS, A
from tests.laws.checker import Case, case

V = np.array([0.5, -1.2, 2.0, 0.3])
SIGNAL = np.array([0.3, 0.7, -0.2, 0.9, 1.1])
KNOTS = np.array([-1.0, 0.2, 0.9, 2.0])
POINTS = np.array([[-0.6, 0.5], [1.7, 0.05]])
OUTSIDE = np.array([-2.0, -0.5, 0.5, 3.0])
PLACES = np.array([0.0, 0.3, 1.0, 1.2])
MODES = ["full", "same", "valid"]
RUNNING = [np.cumsum, np.cumprod]
ACCUMULATE = [fn.accumulate for fn in (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin)]
PAIRS = [(V, SIGNAL), (SIGNAL, V), (V, V), (V[:1], V), (Z[0], SIGNAL), (Z[0], Z[1]), (Z[0], V)]
AXES = [{}, {"axis": 0}, {"axis": -1}]
NUMPY_2_1 = hasattr(np, "cumulative_sum")

CASES: list[Case] = [
    *(case(fn, a, **settings) for fn in RUNNING for a in (A, V, ONE_ZERO, TWO_ZEROS) for settings in AXES),
    *(case(fn, Z, 1) for fn in RUNNING),
    *(case(fn, a, 0) for fn in RUNNING for a in (np.zeros((0, 2)), np.zeros((2, 0)))),
    *(case(np.nancumsum, NANS, **settings) for settings in AXES),
    *(case(fn, A, 1) for fn in ACCUMULATE),
    *(case(fn, V) for fn in ACCUMULATE),
    *(
        case(fn, a, include_initial=initial, **settings)
        for fn in ([np.cumulative_sum, np.cumulative_prod] if NUMPY_2_1 else [])
        for a, settings in ((V, {}), (A, {"axis": 1}))
        for initial in (False, True)
    ),
    *(case(shift, A, by, axis, 1.0) for by in (1, -2, 5) for axis in (0, -1)),
    *(case(recurrence, A, A[::-1] * 1.1, axis, backward) for axis in (0, 1, -1) for backward in (False, True)),
    *(case(running_products_adjoint, np.cos(A), A, axis) for axis in (0, 1, -1)),
    *(case(running_products_adjoint, np.cos(a + 1), a, 1) for a in (ONE_ZERO, TWO_ZEROS)),
    case(np.vander, V),
    case(np.vander, V, 3),
    case(np.vander, V, increasing=True),
    *(case(np.nancumprod, NANS, **settings) for settings in AXES),
    *(case(fn, a, b, mode) for fn in (np.convolve, np.correlate) for a, b in PAIRS for mode in MODES),
    case(np.convolve, V, SIGNAL),
    case(np.bincount, np.array([1, 0, 3, 1]), V),
    case(np.bincount, np.array([1, 0, 3, 1]), weights=V, minlength=6),
    case(np.interp, POINTS, KNOTS, V),
    case(np.interp, 0.4, KNOTS, V),
    case(np.interp, 0.4, [0.0, 0.3, 1.0], [1.0, 2.0, 5.0]),
    case(np.interp, OUTSIDE, KNOTS, V),
    case(np.interp, OUTSIDE, KNOTS, V, 0.3, 0.4),
    case(np.interp, OUTSIDE, KNOTS, V, right=0.4),
    case(np.interp, POINTS, KNOTS, V + 1j),
    case(
        np.interp, POINTS, KNOTS[[0, 2, 1, 3]], V
    ),  # knots in no order: the result is that of the interval that NumPy's search meets
    case(np.trapezoid, V),
    case(np.trapezoid, V, PLACES),
    case(np.trapezoid, V, dx=0.3),
    case(np.trapezoid, A, dx=0.3, axis=1),
    case(np.trapezoid, A, PLACES),
    case(np.trapezoid, A, PLACES[:3], axis=1),
    case(np.trapezoid, X, X[::-1] * 2, axis=0),
    case(np.trapezoid, X, X[::-1] * 2),
    case(np.trapezoid, V[:1]),
    *(case(np.polyval, V, x) for x in (X, 0.7, np.array([0.0, 0.5]))),
    case(np.polyval, [0.3, 0.4, -0.7], X),
    case(np.polyval, V[:1], X),
    case(np.polyval, Z[0], X),
    case(np.polyval, V, Z),
]
