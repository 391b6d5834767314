"""Calls on which the rows of ``rules/scipy_special.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_sct.rules import scipy_special  # noqa: F401  (fills the table)
from tests.laws.cases_elementwise import P, X, Z
from tests.laws.checker import Case, case

inside = np.abs(X)  # between 0 and 1
everywhere = [
    special.erf, special.erfc, special.erfi, special.erfcx, special.dawsn, special.ndtr, special.log_ndtr,
    special.expit, special.log_expit, special.j0, special.j1, special.i0, special.i1, special.i0e, special.i1e,
    special.expm1, special.exp2, special.exp10, special.cbrt,
]  # fmt: skip
positive = [
    special.gamma, special.gammaln, special.loggamma, special.rgamma, special.digamma, special.entr, special.y0,
    special.y1, special.k0, special.k1, special.log1p,
]  # fmt: skip
CASES: list[Case] = [
    *(case(fn, X) for fn in everywhere),
    *(case(fn, P) for fn in positive),
    *(case(fn, 20.0 * X) for fn in (special.expit, special.log_expit, special.log_ndtr, special.i0e)),
    *(case(fn, z) for fn in (special.erf, special.erfc) for z in (Z,)),
    case(special.erfinv, X),
    *(case(fn, inside) for fn in (special.erfcinv, special.ndtri, special.logit)),
    *(case(special.zeta, x, P) for x in (2, 3.5)),
    *(case(special.polygamma, n, P) for n in (0, 1, 2)),
    *(case(fn, v, P) for fn in (special.jv, special.yv, special.iv, special.kv, special.ive) for v in (0, 2, 0.5)),
    *(case(fn, P, P[::-1]) for fn in (special.beta, special.betaln, special.rel_entr, special.kl_div)),
    *(case(fn, X, P) for fn in (special.xlogy, special.xlog1py)),
    case(special.xlogy, np.array([0.0, 0.0, 1.5]), np.array([0.7, 2.0, 0.3])),
    case(special.logsumexp, X), case(special.logsumexp, X, axis=1), case(special.logsumexp, X, 0, keepdims=True),
    case(special.logsumexp, X, axis=(0, 1)), case(special.logsumexp, 300.0 * X, 1),
    case(special.logsumexp, X, 1, P), case(special.logsumexp, X, b=P, keepdims=True),
    case(special.logsumexp, X, axis=0, b=P),
    *(case(fn, X, **axis) for fn in (special.softmax, special.log_softmax)
      for axis in ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)})),
]  # fmt: skip
