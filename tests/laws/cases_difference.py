"""Calls on which the rows of ``rules/difference.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime.scan import diff_adjoint, stencil_adjoint
from tests.laws.cases_elementwise import Z
from tests.laws.cases_reduce import A
from tests.laws.checker import Case, case

V = np.array([0.5, -1.2, 2.0, 0.3, 0.9])
PLACES = np.array([0.0, 0.3, 1.0, 1.2, 1.9])

CASES: list[Case] = [
    *(case(np.diff, A, n, axis) for n in (1, 2) for axis in (0, 1, -1) if A.shape[axis] > n),
    case(np.diff, V, 3),
    case(np.diff, V[:1]),
    case(np.diff, V[:0]),
    case(np.diff, Z, 1),
    case(np.diff, V, prepend=0.3),
    case(np.diff, V, 2, append=V[:2]),
    case(np.diff, A, 1, 1, A[:, :1], A[:, :2]),
    case(np.diff, A, axis=0, prepend=0.0, append=1.0),
    *(case(diff_adjoint, A, n, axis) for n in (1, 2) for axis in (0, 1, -1)),
    case(diff_adjoint, V, 3),
    case(diff_adjoint, V[:0]),
    case(diff_adjoint, Z),
    case(np.ediff1d, A),
    case(np.unwrap, np.array([0.1, 2.9, 6.0, 9.5, 0.3])),
    case(np.unwrap, A * 9, axis=0),
    *(case(np.gradient, V, *h, edge_order=order) for h in ((), (0.3,), (PLACES,)) for order in (1, 2)),
    case(np.gradient, V[:2]),
    case(np.gradient, V[:2], PLACES[:2]),
    *(case(np.gradient, A, axis=axis) for axis in (None, 0, -1, (0, 2))),
    case(np.gradient, A, 0.3),
    case(np.gradient, A, 0.3, 0.4, PLACES[:4]),
    case(np.gradient, A, PLACES[:3], axis=1, edge_order=2),
    case(np.gradient, A, PLACES[:4], 0.2, axis=(-1, 0)),
    *(case(stencil_adjoint, A, 0.3, axis) for axis in (0, 1, -1)),
    *(case(stencil_adjoint, A, PLACES[: A.shape[axis]], axis) for axis in (0, 1, -1)),
    *(case(stencil_adjoint, A, h, 2, 2) for h in (0.3, PLACES[:4])),
    case(stencil_adjoint, V, PLACES, 0, 2),
    case(stencil_adjoint, V[:3], PLACES[:3], 0, 2),
]
