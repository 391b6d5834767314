"""Calls on which the rows of ``rules/special.py`` are checked."""

from __future__ import annotations

import numpy as np

from tests.laws.checker import Case, case

P, Q = np.array([0.5, -1.2, 2.0, 0.3]), np.array([0.7, 1.1])
X = np.array([-1.0, -0.4, 0.1, 0.7, 1.3, 2.0])
Y = np.array([0.3, -0.2, 0.9, 1.4, 0.2, -0.6])
YS = np.stack([Y, Y[::-1] ** 2], 1)
W = np.array([1.0, 0.5, 2.0, 1.5, 1.0, 0.7])

CASES: list[Case] = [
    *(case(fn, a, b) for fn in (np.polyadd, np.polysub) for a, b in ((P, Q), (Q, P), (P, P))),
    *(case(fn, P, m) for fn in (np.polyder, np.polyint) for m in (0, 1, 2, 3)),
    *(case(fn, p) for fn in (np.polyder, np.polyint) for p in (P, Q, P + 1j * P[::-1])),
    *(case(np.polyfit, X, y, degree) for y in (Y, YS) for degree in (0, 1, 3)),
    *(case(np.polyfit, X, y, 2, w=np.arange(1, 7)) for y in (Y, YS)),
]
