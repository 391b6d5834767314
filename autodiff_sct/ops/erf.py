"""The error function over arrays, which NumPy lacks.

Its derivative is a rule of its own (`erf_rule`), not the derivative of the approximation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["erf"]

# Rational approximations of Cephes (S. L. Moshier), good to double precision: erf(x) = x T(x^2) / U(x^2) up to 1, and
# erfc(x) = exp(-x^2) P(x) / Q(x) from there to 8.
T = (
    9.60497373987051638749,
    90.0260197203842689217,
    2232.00534594684319226,
    7003.32514112805075473,
    55592.3013010394962768,
)
U = (
    *(1.0, 33.5617141647503099647, 521.357949780152679795, 4594.32382970980127987, 22629.0000613890934246),
    49267.3942608635921086,
)
P = (
    *(2.46196981473530512524e-10, 0.564189564831068821977, 7.46321056442269912687, 48.6371970985681366614),
    *(196.520832956077098242, 526.445194995477358631, 934.528527171957607540, 1027.55188689515710272),
    557.535335369399327526,
)
Q = (
    *(1.0, 13.2281951154744992508, 86.7072140885989742329, 354.937778887819891062, 975.708501743205489753),
    *(1823.90916687909736289, 2246.33760818710981792, 1656.66309194161350182, 557.535340817727675546),
)


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """The polynomial by Horner's scheme, the highest coefficient first."""
    total = coefficients[0]
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def erf(x: Any) -> Any:
    """The error function of each element.

    >>> round(float(erf(np.array(0.3))), 12)
    0.328626759459
    """
    inside = np.clip(x, -1, 1)
    square = inside * inside
    near = inside * polynomial(square, T) / polynomial(square, U)
    # erf is 1 to double precision from 6 on; held there, the square does not overflow.
    outside = np.clip(np.abs(x), 1, 6)
    far = np.sign(x) * (1 - np.exp(-outside * outside) * polynomial(outside, P) / polynomial(outside, Q))
    return np.where(np.abs(x) > 1, far, near)
