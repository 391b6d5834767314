"""Calls on which the rows of ``rules/reduce.py`` are checked."""

from __future__ import annotations

import math

import numpy as np

from autodiff_sct.runtime.scan import products_of_others
from autodiff_sct.runtime.selection import share_out
from tests.laws.cases_elementwise import X, Z
from tests.laws.checker import Case, case

A = np.arange(24.0).reshape(2, 3, 4) * 0.37 % 1.9 - 0.8  # distinct, no zero
MASK = A > -0.3
NANS = np.where(A > 0.8, np.nan, A)
WEIGHTS = np.array([0.2, 0.5, 0.9])
AXES = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (-1, 1), "keepdims": True}, {"keepdims": True}]

PLAIN = [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.ptp]
NAN = [np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd]
SPREADS = [np.var, np.std, np.nanvar, np.nanstd]

ONE_ZERO = np.array([[0.5, 0.0, 1.5], [2.0, -1.0, 0.7]])
TWO_ZEROS = np.array([[0.5, 0.0, 0.0], [2.0, -1.0, 0.7]])

CASES: list[Case] = [
    *(case(fn, A, **settings) for fn in [*PLAIN, *NAN] for settings in AXES),
    *(case(fn, NANS, **settings) for fn in NAN for settings in AXES),
    *(case(fn, A, axis=1, where=MASK) for fn in [np.sum, np.mean, np.prod, np.var, np.std, *NAN[:3], *NAN[5:]]),
    *(case(fn, NANS, axis=1, where=MASK) for fn in [*NAN[:3], *NAN[5:]]),
    case(np.mean, A, axis=0, where=MASK[0] | (A[0] < 0)),
    *(case(fn, Z, axis=0) for fn in [np.sum, np.mean, np.prod, np.var, np.std]),
    *(case(fn, A, ddof=1, axis=0) for fn in SPREADS),
    *(case(fn, NANS, ddof=1, axis=2, keepdims=True) for fn in SPREADS[2:]),
    *(case(fn, np.zeros((0, 3)), **settings) for fn in [np.sum, np.prod] for settings in AXES[:3]),
    *(case(fn, np.zeros((3, 0)), axis=0) for fn in [*PLAIN, *NAN]),
    *(case(fn, np.array(0.7)) for fn in [np.sum, np.mean, np.prod, np.max, np.min, np.var]),
    *(case(fn, a, **settings) for a in (ONE_ZERO, TWO_ZEROS) for fn in [np.prod, np.nanprod] for settings in AXES[:3]),
    *(case(share_out, A.max(k, keepdims=True), A == A.max(k, keepdims=True), k, float) for k in (0, 1, -1)),
    *(case(share_out, A.max(k, keepdims=True), A > A.mean(k, keepdims=True), k, float) for k in (0, 2)),
    *(case(products_of_others, a, axis) for a in (A, ONE_ZERO, TWO_ZEROS) for axis in (None, 0, -1, (1, 0))),
    *(case(fn, A, initial=np.array(1.7), **settings) for fn in (np.sum, np.prod) for settings in AXES),
    *(case(fn, A, initial=1.7, axis=1, where=MASK) for fn in (np.sum, np.prod)),
    *(case(fn, a, initial=np.array(1.7), **settings) for fn in NAN[0:3:2] for a in (A, NANS) for settings in AXES),
    case(np.add.reduce, A, axis=(0, 2), initial=0.7, keepdims=True),
    case(np.add.reduce, A),
    case(np.add.reduce, A, axis=(0, 1)),
    *(case(np.multiply.reduce, a, **settings) for a in (A, ONE_ZERO) for settings in AXES[:3]),
    case(np.maximum.reduce, A),
    case(np.minimum.reduce, A, axis=None),
    *(
        case(fn, A, axis=1, initial=value)
        for fn in (np.maximum.reduce, np.minimum.reduce)
        for value in (-2.0, 0.5, 3.0)
    ),
    case(np.maximum.reduce, A, axis=0, initial=-3.0, where=MASK, keepdims=True),
    *(case(fn, A, axis=0, initial=value, where=MASK) for fn in (np.max, np.amax, np.nanmax) for value in (-2.0, 0.5)),
    *(case(fn, A, initial=value) for fn in (np.min, np.amin, np.nanmin) for value in (-2.0, 0.5)),
    case(np.amax, A),
    case(np.amin, A),
    *(case(np.logaddexp.reduce, A, **settings) for settings in AXES),
    *(case(fn, [0.3, 0.0, -1.2]) for fn in (math.fsum, math.prod)),
    case(math.fsum, np.array([0.3, 0.4])),
    case(math.dist, [0.3, 0.4], [0.9, -0.1]),
    case(np.average, A),
    case(np.average, A, axis=(0, 1), keepdims=True),
    case(np.average, A, weights=A + 2),
    case(np.average, A, 1, WEIGHTS),
    case(np.average, A, axis=1, weights=WEIGHTS, keepdims=True),
    case(np.average, A, axis=-1, weights=A + 2),
    case(np.average, A, axis=(0, 1), weights=A[:, :, 0] + 2),
    case(np.average, X[0], weights=WEIGHTS),
]
