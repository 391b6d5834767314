"""Calls on which the rows of ``rules/scipy/stats.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_sct.runtime.scipy.incomplete import betainc_moved, gammainc_moved
from tests.laws.cases_elementwise import P, X
from tests.laws.checker import Case, case

U = np.abs(X)  # between 0 and 1
A = 0.4 + P[:, ::-1]  # shapes
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
    *(case(fn, A, P) for fn in (special.gammainc, special.gammaincc, special.chdtr, special.chdtrc)),
    *(case(fn, A, U) for fn in (special.gammaincinv, special.gammainccinv, special.chdtri)),
    case(special.gdtr, P, A, P[::-1]), case(special.gdtrc, P, A, P[::-1]),
    case(special.stdtr, A, X), case(special.stdtrit, A, U),
    *(case(fn, A, P, U) for fn in (special.betainc, special.betaincc, special.betaincinv, special.betainccinv)),
    *(case(fn, A, 3 * P, P) for fn in (special.fdtr, special.fdtrc)),
    case(gammainc_moved, 1, A, P), *(case(betainc_moved, *order, A, P, U) for order in ((1, 0), (0, 1))),
]  # fmt: skip
