"""Calls on which the rows of ``rules/create.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime import spread, unbroadcast
from tests.laws.checker import Case, case

V = np.array([0.3, -1.2, 0.7])
X = np.array([[0.31, -0.52, 0.73], [-0.24, 0.85, -0.66]])
Z = X + 1j * X[::-1]

CASES: list[Case] = [
    case(np.full, (2, 3), 0.5), case(np.full, (2, 3), V), case(np.full, 3, 0.5, np.float32), case(np.full, 4, 0.5 + 1j),
    case(np.full_like, X, 0.5), case(np.full_like, X, V), case(np.full_like, np.arange(3), 0.5, float),
    case(np.linspace, 0.3, 1.7, 5), case(np.linspace, 0.3, 1.7, 5, endpoint=False), case(np.linspace, 0.3, 1.7, 1),
    case(np.linspace, V, X, 4), case(np.linspace, 0.3, X, 4, axis=-1), case(np.linspace, V, 1.7, 4, axis=1),
    case(np.arange, 0.3, 2.3, 0.45), case(np.arange, 0.5, 3.2), case(np.arange, 3.2),
    case(np.logspace, 0.3, 1.2, 5), case(np.logspace, V, X, 4, base=2.5),
    case(np.logspace, 0.3, V, 4, False, 2.0, axis=-1),
    case(np.geomspace, 0.3, 1.7, 5), case(np.geomspace, 1.7, 0.3, 5, endpoint=False), case(np.geomspace, 0.3, 1.7, 1),
    case(np.geomspace, V * V, X * X, 4), case(np.geomspace, 0.3, X * X, 4, axis=-1), case(np.geomspace, -0.5, -2.0, 4),
    *(case(fn, n, 0.3) for fn in (np.fft.fftfreq, np.fft.rfftfreq) for n in (4, 5)),
    *(case(fn, d, like) for fn in (unbroadcast, spread) for d, like in [
        (X, X), (X, V), (V, X), (0.5, X), (X, 0.5), (X[:, :1], V), (Z, X), (X, Z), (X, X[:, :1]),
        (X, np.zeros((2, 2, 3))),
    ]),
]  # fmt: skip
