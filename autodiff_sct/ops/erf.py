"""The error function and its complement over arrays, which NumPy lacks.

Their derivatives are rules of their own (`erf_rule`), not the derivative of the approximation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["erf", "erfc"]

# Rational approximations of Cephes (S. L. Moshier), good to double precision: erf(x) = x T(x^2) / U(x^2) up to 1, and
# erfc(x) = exp(-x^2) P(x) / Q(x) from there to 8, exp(-x^2) R(x) / S(x) from there on.
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
R = (
    *(0.564189583547755073984, 1.27536670759978104416, 5.01905042251180477414, 6.16021097993053585195),
    *(7.40974269950448939160, 2.97886665372100240670),
)
S = (
    *(1.0, 2.26052863220117276590, 9.39603524938001434673, 12.0489539808096656605, 17.0814450747565897222),
    *(9.60896809063285878198, 3.36907645100081516050),
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


def erfc(x: Any) -> Any:
    """``1 - erf(x)``, of full relative accuracy where that is small.

    >>> round(float(erfc(np.array(5.0))) * 1e12, 9)
    1.537459794
    """
    # erfc is 0 to double precision from 27 on; held there, the square does not overflow.
    outside = np.clip(np.abs(x), 1, 28)
    middle = np.minimum(outside, 8)
    far = np.where(
        outside < 8,
        polynomial(middle, P) / polynomial(middle, Q),
        polynomial(outside, R) / polynomial(outside, S),
    )
    tail = np.exp(-outside * outside) * far
    return np.where(np.abs(x) <= 1, 1 - erf(x), np.where(x > 0, tail, 2 - tail))
