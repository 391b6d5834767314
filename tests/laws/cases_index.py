"""Calls on which the rows of ``rules/index.py`` are checked."""

from __future__ import annotations

import operator

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from autodiff_sct.runtime import diagonal_adjoint, gather_adjoint, stored
from tests.laws.checker import Case, case

V = np.array([0.3, -1.2, 0.7])
X = np.array([[0.31, -0.52, 0.73], [-0.24, 0.85, -0.66]])
C = np.arange(24.0).reshape(2, 3, 4) / 10 - 1
Z = X + 1j * X[::-1]
E = np.zeros((0, 3))
TWICE = np.array([0, 1, 0, -1])

INDICES = [
    0, -1, slice(1, None), slice(None, None, -1), None, ..., X > 0, [1, 0, 1], TWICE, (0, 1), (slice(None), 1),
    (..., None, 0),
    (slice(None), TWICE), (TWICE, slice(1, 3)), (TWICE, [0, 0, 2, 0]), (np.array([[0], [1]]), TWICE),
    np.array([[0, 1], [1, 1]]),
    np.array([True, False]), (np.array([True, False]), 2), (slice(0, 0),), [], (0, TWICE), (TWICE, None, 0),
]  # fmt: skip

READS = [
    *(case(operator.getitem, X, index) for index in INDICES),
    case(operator.getitem, Z, TWICE), case(operator.getitem, [0.5, V, X], 1),
    case(operator.getitem, [0.5, 0.25, 0.1], slice(1, 3)),
    case(operator.getitem, (0.5, V), 0), case(operator.getitem, C, (TWICE, slice(None), TWICE)),
    case(operator.getitem, E, slice(0, 2)),
    case(diagonal_adjoint, X[0, :2], X), case(diagonal_adjoint, X[0, :1], X, 2), case(diagonal_adjoint, 0.7, X, -1),
    case(gather_adjoint, X[TWICE], X, TWICE), case(gather_adjoint, X[:, 0], X, (slice(None), 0)),
    case(stored, V, TWICE), case(stored, X, TWICE), case(stored, X, (slice(None), 1)), case(stored, X, (TWICE, TWICE)),
    case(stored, X, X > 0), case(stored, X, (1, 2)),
    case(np.take, X, [0, 5, 0]), case(np.take, X, 1, axis=0), case(np.take, C, [[0, 1], [1, 1]], axis=-1),
    case(np.take, V, 2),
    case(np.take, X, [4, -4, 2], axis=1, mode="wrap"), case(np.take, X, [4, -4, 2], axis=1, mode="clip"),
    case(np.ndarray.take, X, [0, 5, 0]),
    case(np.take_along_axis, X, np.argsort(X, 1), 1), case(np.take_along_axis, X, np.array([[0], [2]]), 1),
    case(np.take_along_axis, X, np.array([[0, 1, 1]] * 3), 0), case(np.take_along_axis, X, np.array([0, 5, 0]), None),
    case(np.take_along_axis, X[:1], np.array([[0], [2]]), -1),
]  # fmt: skip

PICKS = [
    case(np.compress, [True, False, True], X, axis=1), case(np.compress, [True, False, True], X),
    case(np.compress, [False, True], C, 0),
    case(np.extract, X > 0, X), case(np.extract, [1, 0, 1], V),
    case(np.choose, np.array([0, 1, 1]), [V, V * 2]), case(np.choose, np.array([[0, 1, 1], [1, 0, 0]]), [V, 0.5]),
    case(np.choose, np.array([0, 1, 1]), X),
    case(np.choose, np.array([-1, 1, 7]), [V, V * 2], mode="clip"),
    case(np.choose, np.array([-1, 1, 7]), [V, V * 2, V * 3], mode="wrap"),
    case(np.select, [X > 0.5, X > 0], [X, V], 0.25), case(np.select, [X > 0.5, X > 0], [0.5, X * 2], V),
    case(np.select, [V > 0], [V]),
]  # fmt: skip

MATRIX = [
    *(case(np.diagonal, x, k) for x in (X, X.T, C) for k in (0, 1, -1, 5)), case(np.diagonal, C, 1, 0, 2),
    case(np.diagonal, C, -1, 2, 1),
    case(np.diagonal, X, 1, 1, 0), case(np.ndarray.diagonal, X), case(np.linalg.diagonal, C, offset=1),
    case(np.linalg.diagonal, X),
    *(case(np.trace, x, k) for x in (X, X.T, C) for k in (0, 1, -1)), case(np.trace, C, axis1=1, axis2=2),
    case(np.ndarray.trace, X), case(np.trace, Z),
    case(np.trace, X, 1, 1, 0), case(np.linalg.trace, C, offset=-1), case(np.linalg.trace, X),
    case(np.diag, V), case(np.diag, V, -1), case(np.diag, X), case(np.diag, X, 1), case(np.diagflat, X, 1),
    case(np.diagflat, V),
    case(np.tril, X), case(np.tril, C, -1), case(np.triu, X, 1), case(np.triu, Z),
    case(as_strided, V), case(as_strided, V, (2,)), case(as_strided, X, (2, 3, 2), (0, 0, 0)),
    case(sliding_window_view, V, 2), case(sliding_window_view, X, (2, 2)), case(sliding_window_view, C, 2, axis=1),
]  # fmt: skip

CASES: list[Case] = [*READS, *PICKS, *MATRIX]
