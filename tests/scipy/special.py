"""Calls on which the rows of ``rules/scipy/special.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import special

import autodiff_sct.rules.scipy.special  # noqa: F401  (fills the table)
from tests.laws.cases_elementwise import P, X, Z
from tests.laws.checker import Case, case

inside = np.abs(X)  # between 0 and 1
everywhere = [
    special.erf, special.erfc, special.erfi, special.erfcx, special.dawsn, special.ndtr, special.log_ndtr,
    special.expit, special.log_expit, special.expm1, special.exp2, special.exp10, special.cbrt,
]  # fmt: skip
positive = [
    special.gamma, special.gammaln, special.loggamma, special.rgamma, special.digamma, special.entr,
    special.log1p,
]  # fmt: skip
CASES: list[Case] = [
    *(case(fn, X) for fn in everywhere),
    *(case(fn, P) for fn in positive),
    *(case(fn, 20.0 * X) for fn in (special.expit, special.log_expit, special.log_ndtr)),
    *(case(fn, z) for fn in (special.erf, special.erfc) for z in (Z,)),
    case(special.erfinv, X),
    *(case(fn, inside) for fn in (special.erfcinv, special.ndtri, special.logit)),
    *(case(special.zeta, x, P) for x in (2, 3.5)),
    *(case(special.polygamma, n, P) for n in (0, 1, 2)),
    *(case(fn, P, P[::-1]) for fn in (special.beta, special.betaln, special.rel_entr, special.kl_div)),
    *(case(fn, X, P) for fn in (special.xlogy, special.xlog1py)),
    case(special.xlogy, np.array([0.0, 0.0, 1.5]), np.array([0.7, 2.0, 0.3])),
    case(special.logsumexp, X), case(special.logsumexp, X, axis=1), case(special.logsumexp, X, 0, keepdims=True),
    case(special.logsumexp, X, axis=(0, 1)), case(special.logsumexp, 300.0 * X, 1),
    case(special.logsumexp, X, 1, P), case(special.logsumexp, X, b=P, keepdims=True),
    case(special.logsumexp, X, axis=0, b=P),
    *(case(special.logsumexp, X, axis, b, return_sign=True) for axis in (None, 1) for b in (None, P, P - 0.9)),
    *(case(fn, X + 3) for fn in (special.tandg, special.cotdg)),
    *(case(fn, X) for fn in (special.cosm1, special.exprel, special.sindg, special.cosdg, special.softplus)),
    case(special.exprel, 1e-5 * X), case(special.exprel, np.zeros(2)),
    case(special.ndtri_exp, -P), *(case(fn, Z) for fn in (special.wofz, special.lambertw, special.wrightomega)),
    *(case(fn, P, P[::-1]) for fn in (special.poch, special.powm1, special.owens_t, special.pseudo_huber)),
    case(special.binom, 3 + P, P[::-1]), *(case(special.multigammaln, 2 + P, k) for k in (1, 3)),
    *(case(special.huber, delta, X) for delta in (0.53, 2.0)), case(special.huber, np.full(X.shape, 0.53), X),
    *(case(fn, P, lmbda) for fn in (special.boxcox, special.boxcox1p) for lmbda in (np.float64(0), np.float64(0.3), X)),
    *(case(fn, X, 0.2 * P) for fn in (special.inv_boxcox, special.inv_boxcox1p)),
    case(special.inv_boxcox, X, np.zeros(X.shape)), case(special.voigt_profile, X, P, P[::-1]),
    *(case(fn, X, **axis) for fn in (special.softmax, special.log_softmax)
      for axis in ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)})),
]  # fmt: skip
