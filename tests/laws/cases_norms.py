"""Calls on which the rows of ``rules/norms.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.rules.norms import (
    power_of_squares,
    root_mean_square,
    root_of_coordinates,
    root_of_squares,
    squared_absolute,
    squared_hypot,
    squared_norm,
)
from autodiff_sct.runtime.linalg.slopes import pushed, slope, slope_of_absolute
from tests.laws.cases_linalg import ONE, STACK, TALL, A, V, Z, complex_, real
from tests.laws.checker import Case, case

ORDERS = [1, -1, 2, -2, np.inf, -np.inf]
CASES: list[Case] = [
    *(case(np.linalg.norm, x) for x in (V, TALL, STACK, Z, ONE)), case(np.linalg.norm, TALL, keepdims=True),
    *(case(np.linalg.norm, x, p) for x in (V, V + 1j * A[0]) for p in [*ORDERS, 3, 0.5, 2.5]),
    *(case(np.linalg.norm, TALL, p, axis=k, keepdims=keep) for p in [None, 1, 2, 3, np.inf] for k in (0, -1)
    for keep in (False, True)),
    *(case(np.linalg.norm, x, p) for x in (TALL, complex_(3, 4)) for p in [*ORDERS, "fro", "nuc"]),
    *(case(np.linalg.norm, real(2, 3, 4), p, axis=k, keepdims=keep) for p in [*ORDERS, None, "nuc"]
    for k, keep in [((0, 1), False), ((2, 0), True)]),
    *(case(np.linalg.vector_norm, TALL, ord=p) for p in (1, 2, 3, np.inf)),
    case(np.linalg.vector_norm, STACK, axis=(0, 2), keepdims=True),
    case(np.linalg.vector_norm, STACK, axis=1), case(np.linalg.vector_norm, STACK, axis=(0, 2), ord=np.inf),
    *(case(np.linalg.matrix_norm, STACK, ord=p) for p in [*ORDERS, "fro", "nuc"]),
    case(np.linalg.matrix_norm, STACK, keepdims=True),
    case(root_of_squares, V**2 + 0.1),
    case(power_of_squares, V**2 + 0.1, 0.7),
    case(power_of_squares, V**2 + 0.1, 0.3),
    *(case(squared_absolute, x) for x in (V, Z)), case(squared_hypot, V, V[::-1]), case(squared_hypot, 1.5, -0.5),
    *(case(squared_norm, x) for x in (V, TALL, Z)), case(squared_norm, V, 2), case(squared_norm, TALL, axis=1),
    *(case(squared_norm, STACK, None, k, keep) for k in (0, (0, 2)) for keep in (False, True)),
    case(root_of_coordinates, V, V[::-1]), case(root_of_coordinates, 1.5, -0.5),
    case(root_mean_square, V), case(root_mean_square, TALL, axis=1),
    case(root_mean_square, STACK, axis=(0, 2), keepdims=True),
    case(slope, V, V**2 + 1, V[::-1]), case(slope, 1.5, 2.5, -0.5), case(slope_of_absolute, V, V[::-1]),
    case(pushed, V, V**2 + 1, V[::-1]), case(pushed, 1.5, 2.5, -0.5),
    *(case(np.linalg.cond, x, *p) for x in (A, TALL, STACK, Z) for p in ((), (2,), (-2,))),
    *(case(np.linalg.cond, x, p) for x in (A, STACK) for p in (1, -1, np.inf, "fro", "nuc")),
]  # fmt: skip
