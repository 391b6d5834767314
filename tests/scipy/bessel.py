"""Calls on which the rows of ``rules/scipy/bessel.py`` are checked."""

from __future__ import annotations

from scipy import special

import autodiff_sct.rules.scipy.bessel  # noqa: F401  (fills the table)
from tests.laws.cases_elementwise import P, X, Z
from tests.laws.checker import Case, case

EVERYWHERE = [special.j0, special.j1, special.i0, special.i1, special.i0e, special.i1e]
POSITIVE = [special.y0, special.y1, special.k0, special.k1, special.k0e, special.k1e]
BY_ORDER = [
    special.jv, special.yv, special.iv, special.kv, special.ive, special.kve, special.jve, special.yve,
    special.hankel1, special.hankel2, special.hankel1e, special.hankel2e, special.struve, special.modstruve,
]  # fmt: skip
SPHERICAL = [special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn]
CASES: list[Case] = [
    *(case(fn, X) for fn in EVERYWHERE), *(case(fn, P) for fn in POSITIVE), case(special.i0e, 20.0 * X),
    *(case(fn, v, P) for fn in BY_ORDER for v in (0, 2, 0.5)),
    *(case(fn, v, Z) for fn in (special.jv, special.kv, special.hankel1) for v in (0, 2, 0.5)),
    *(case(fn, n, 1 + P) for fn in (special.yn, special.kn) for n in (0, 1, 3)),
    *(case(fn, n, 1 + P, derivative) for fn in SPHERICAL for n in (0, 1, 3) for derivative in (False, True)),
    case(special.airy, X), case(special.airy, P),
]  # fmt: skip
