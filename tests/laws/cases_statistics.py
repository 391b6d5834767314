"""Calls on which the rows of ``rules/statistics.py`` are checked."""

from __future__ import annotations

import numpy as np

from tests.laws.checker import Case, case

RNG = np.random.default_rng(8)
M, N, V = RNG.uniform(-1, 1, (3, 5)), RNG.uniform(-1, 1, (2, 5)), RNG.uniform(-1, 1, 5)
Z = M + 1j * RNG.uniform(-1, 1, (3, 5))
DATA = np.array([0.3, -1.2, 0.75, 2.0, 0.1])
EDGES = np.array([-1.0, 0.0, 0.5, 1.0])

CASES: list[Case] = [
    *(case(fn, m) for fn in (np.cov, np.corrcoef) for m in (M, V, M[:1], N)),
    *(case(fn, m, y) for fn in (np.cov, np.corrcoef) for m, y in ((M, N), (V, M), (V, V[::-1]))),
    *(case(fn, M.T, rowvar=False) for fn in (np.cov, np.corrcoef)),
    *(case(fn, M.T, N.T, False) for fn in (np.cov, np.corrcoef)),
    case(np.cov, M, bias=True),
    case(np.cov, M, None, True, False, 2),
    case(np.cov, Z),
    case(np.cov, Z, M[0]),
    case(np.histogram_bin_edges, DATA, 4),
    case(np.histogram_bin_edges, DATA, EDGES),
    case(np.histogram, DATA, 4),
    case(np.histogram, DATA, 4, weights=V),
    case(np.histogram, DATA, 3, (-1.0, 1.0), weights=V),
    case(np.histogram, DATA, EDGES, weights=V),
    case(np.histogram2d, DATA, DATA[::-1], 4),
    case(np.histogram2d, DATA, V, EDGES, weights=V),
    case(np.histogram2d, DATA, V, [EDGES, 3], weights=V),
    case(np.histogram2d, DATA, V, (EDGES, EDGES[1:]), weights=V),
    case(np.histogram2d, DATA, V, [2, 3], weights=V[::-1]),
    case(np.histogram2d, DATA, V, 3, [[-1.0, 1.0], [-0.5, 0.5]], weights=V),
]
