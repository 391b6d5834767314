"""Calls on which the rows of ``rules/scipy/stats.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.laws.cases_elementwise import P, X
from tests.laws.checker import Case, case

U = np.abs(X)  # between 0 and 1
CASES: list[Case] = [
    *(case(fn, a, P) for fn in (special.gammainc, special.gammaincc) for a in (1, 0.7, 3)),
    *(case(fn, a, P) for fn in (special.chdtr, special.chdtrc) for a in (1, 0.7, 3)),
    *(case(fn, a, U) for fn in (special.gammaincinv, special.gammainccinv, special.chdtri) for a in (1, 0.7, 3)),
    *(case(special.gdtr, P, b, P[::-1]) for b in (1, 0.7, 3)),
    *(case(fn, k, P) for fn in (special.pdtr, special.pdtrc) for k in (0, 2)),
    *(case(fn, a, 1.7, U) for fn in (special.betainc, special.betaincc, special.betaincinv, special.betainccinv)
      for a in (1, 0.7, 3)),
    *(case(fn, a, 4, P) for fn in (special.fdtr, special.fdtrc) for a in (2, 5)),
    *(case(special.stdtr, df, X) for df in (1, 2.5, 30)), *(case(special.stdtrit, df, U) for df in (1, 2.5, 30)),
]  # fmt: skip
