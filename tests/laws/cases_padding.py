"""Calls on which the rows of ``rules/difference.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime import unpad
from tests.laws.cases_shape import C, S, V, X
from tests.laws.checker import Case, case

MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]
CASES: list[Case] = [
    *(case(np.pad, X, 1, mode) for mode in MODES), *(case(np.pad, V, (2, 0), mode) for mode in MODES),
    *(case(np.pad, C, [(0, 1), (2, 1), (0, 0)], mode) for mode in MODES),
    *(case(np.pad, V, (4, 5), mode) for mode in MODES[1:]),
    *(case(unpad, X, ((1, 0), (0, 1)), mode) for mode in MODES[1:]),
    case(unpad, V, 1, "edge"), case(unpad, V, 0, "wrap"),
    case(np.pad, X, 1, constant_values=0.5), case(np.pad, X, [(0, 1), (2, 0)], constant_values=0.5),
    case(np.pad, X, ((1, 2), (3, 0)), constant_values=np.array([0.5, -0.3])),
    case(np.pad, X, ((1, 2), (3, 1)), constant_values=np.array([[0.5, -0.3], [0.2, 0.7]])),
    case(np.pad, X, 2, constant_values=np.array([[0.5], [-0.3]])), case(np.pad, V, 1, constant_values=np.array([0.5])),
    case(np.delete, V, 1), case(np.delete, X, -1, axis=1), case(np.delete, X, [0, 4]), case(np.delete, C, [0, 2], 1),
    case(np.delete, V, slice(0, 2)), case(np.delete, V, np.array([True, False, True])),
    case(np.insert, V, 1, 0.5), case(np.insert, V, [2, 0], [0.5, 0.7]), case(np.insert, X, 1, V, axis=0),
    case(np.insert, X, 1, np.array([7.0, 8.0]), axis=1), case(np.insert, X, [1], np.array([[7.0], [8.0]]), axis=1),
    case(np.insert, X, -1, S, axis=1),
    case(np.insert, X, [0, 3], np.array([0.3, 0.4]), axis=1), case(np.insert, X, 2, np.array([0.3, 0.4])),
    case(np.insert, X, [0, 1], S),
]  # fmt: skip
