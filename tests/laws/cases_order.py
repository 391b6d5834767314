"""Calls on which the rows of ``rules/order.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime import sorting
from autodiff_sct.runtime.sorting import put_in_order, sorted_lanes
from tests.laws.cases_reduce import NANS, A
from tests.laws.checker import Case, case

V = np.array([0.5, -1.2, 2.0, 0.3])
SIGNAL = np.array([0.3, 0.7, -0.2, 0.9, 1.1])
AXES = [{}, {"axis": 0}, {"axis": -1}]

CASES: list[Case] = [
    *(case(np.sort, A, axis) for axis in (0, 1, -1, None)),
    case(np.sort, V),
    *(case(np.partition, A, 1, axis) for axis in (0, 1, -1, None)),
    case(np.partition, np.array([0.5, 0.1, 0.9, 0.7, 0.3]), 2),
    case(np.sort, V, kind="stable"),
    *(case(sorted_lanes, a) for a in (V, A)),
    case(put_in_order, V, np.array([2, 0, 3, 1])),
    *(case(put_in_order, A, np.argsort(A, axis), axis) for axis in (0, 1, -1)),
    *(case(fn, a, **settings) for fn in [np.median] for a in (A, SIGNAL) for settings in AXES),
    case(np.median, A, axis=(0, 2), keepdims=True),
    *(case(np.quantile, A, 0.37, **settings) for settings in [*AXES, {"axis": (0, 1)}, {"axis": 1, "keepdims": True}]),
    *(case(np.percentile, A, 41.0, **settings) for settings in [*AXES, {"axis": -1, "keepdims": True}]),
    *(case(np.percentile, A, q) for q in (0, 100)),
    *(
        case(fn, A, q, method=method, **settings)
        for method in sorting.METHODS
        for fn, q in ((np.quantile, 0.4), (np.percentile, 41.0))
        for settings in ({}, {"axis": 1, "keepdims": True})
    ),
    case(np.quantile, V, 0.01, method="hazen"),
    *(case(np.nanmedian, a, **settings) for a in (A, NANS) for settings in [*AXES, {"axis": (0, 2), "keepdims": True}]),
    *(case(np.quantile, A, np.array([0.37, 0.81]), **settings) for settings in AXES),
    *(case(np.percentile, A, np.array([37.0, 5.0, 81.0]), **settings) for settings in AXES),
    *(case(np.nanquantile, NANS, 0.37, **settings) for settings in [*AXES, {"axis": 1, "keepdims": True}]),
    *(case(np.nanpercentile, NANS, q, axis=0) for q in (0, 41.0, 100)),
]
