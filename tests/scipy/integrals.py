"""Calls on which the rows of ``rules/scipy/integrals.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import special

import autodiff_sct.rules.scipy.integrals  # noqa: F401  (fills the table)
from tests.laws.cases_elementwise import P, X, Z
from tests.laws.checker import Case, case

U = np.abs(X)  # between 0 and 1
CASES: list[Case] = [
    *(case(fn, m) for fn in (special.ellipk, special.ellipe) for m in (X, 0.01 * X, np.zeros(2), -30 * P)),
    *(case(special.ellipkm1, p) for p in (P, np.ones(2))),
    *(case(fn, phi, m) for fn in (special.ellipkinc, special.ellipeinc)
      for phi in (X, 4 + X) for m in (U.T.reshape(2, 3), 1e-5 * X, np.zeros((2, 3)))),
    case(special.ellipj, X, 0.3), case(special.elliprf, P, P[::-1], P[:, ::-1]),
    case(special.exp1, P), case(special.exp1, Z), case(special.expi, X),
    *(case(special.expn, n, P) for n in (0, 1, 2, 5)),
    *(case(fn, x) for fn in (special.sici, special.shichi) for x in (P,)), case(special.fresnel, X),
    case(special.lambertw, P), case(special.lambertw, Z, -1), case(special.lambertw, np.array([0.01, 0.02])),
    case(special.wrightomega, X), *(case(special.spence, x) for x in (P, np.ones(2), 30 * P)),
    case(special.hyp0f1, 1.3, X), case(special.hyp1f1, 0.7, 1.3, X), case(special.hyperu, 0.7, 1.3, P),
    case(special.hyp2f1, 0.7, 1.3, 2.1, X),
    *(case(fn, n, X) for n in (0, 1, 4) for fn in (
        special.eval_legendre, special.eval_chebyt, special.eval_chebyu, special.eval_hermite,
        special.eval_hermitenorm, special.eval_laguerre)),
    *(case(fn, n, U) for n in (0, 1, 4) for fn in (
        special.eval_sh_legendre, special.eval_sh_chebyt, special.eval_sh_chebyu)),
    *(case(fn, n, X) for n in (0, 1, 4) for fn in (special.eval_chebyc, special.eval_chebys)),
    *(case(special.lpmv, m, v, 0.9 * X) for m, v in ((0, 0), (0, 1), (1, 1), (1, 3), (2, 2), (1, 2.5))),
    *(case(fn, n, 0.7, X) for n in (0, 1, 4) for fn in (special.eval_gegenbauer, special.eval_genlaguerre)),
    *(case(special.eval_jacobi, n, 0.7, 1.3, X) for n in (0, 1, 4)),
    case(special.eval_legendre, 3, np.array([-1.0, 0.0, 1.0])),
    *(case(special.sph_harm_y, n, m, P, X) for n, m in ((0, 0), (2, 1), (3, -3), (4, 0))),
]  # fmt: skip
