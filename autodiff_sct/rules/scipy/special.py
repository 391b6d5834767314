"""Special functions of SciPy: derivatives as in the NIST Digital Library of Mathematical Functions (DLMF).

Numbers in parentheses are those of its equations.  Orders of Bessel functions, and of derivatives of the logarithm of
the gamma function, are settings.
"""

import math

import numpy as np
from scipy import special

from ...errors import NoRule
from ..table import elementwise, forward, nondifferentiable, reverse
from . import fitted

nondifferentiable(special.gammasgn)

# The error function and the normal distribution (7.2)


@elementwise(special.erf)
def erf(y, d, x):
    return d * (2 / math.sqrt(math.pi)) * np.exp(-x * x)


@elementwise(special.erfc)
def erfc(y, d, x):
    return -d * (2 / math.sqrt(math.pi)) * np.exp(-x * x)


@elementwise(special.erfi)
def erfi(y, d, x):
    return d * (2 / math.sqrt(math.pi)) * np.exp(x * x)


@elementwise(special.erfcx)
def erfcx(y, d, x):
    return d * (2 * x * y - 2 / math.sqrt(math.pi))


@elementwise(special.dawsn)
def dawsn(y, d, x):
    return d * (1 - 2 * x * y)


@elementwise(special.erfinv)
def erfinv(y, d, x):
    return d * (math.sqrt(math.pi) / 2) * np.exp(y * y)


@elementwise(special.erfcinv)
def erfcinv(y, d, x):
    return -d * (math.sqrt(math.pi) / 2) * np.exp(y * y)


@elementwise(special.ndtr)
def ndtr(y, d, x):
    return d * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@elementwise(special.log_ndtr)
def log_ndtr(y, d, x):
    return d * np.exp(-x * x / 2 - y) / math.sqrt(2 * math.pi)


@elementwise(special.ndtri)
def ndtri(y, d, x):
    return d * math.sqrt(2 * math.pi) * np.exp(y * y / 2)


@elementwise(special.ndtri_exp)
def ndtri_exp(y, d, x):
    return d * math.sqrt(2 * math.pi) * np.exp(x + y * y / 2)


@elementwise(special.wofz)
def wofz(y, d, z):
    return d * (2j / math.sqrt(math.pi) - 2 * z * y)


@elementwise(special.voigt_profile)
def voigt_profile(y, d, x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * math.sqrt(2))
    slope = 2j / math.sqrt(math.pi) - 2 * z * special.wofz(z)
    d = d / (2 * math.sqrt(math.pi) * sigma * sigma)
    return (
        d * np.real(slope),
        -d * math.sqrt(2) * np.real(special.wofz(z) + z * slope),
        -d * np.imag(slope),
    )


@elementwise(special.owens_t)
def owens_t(y, d, h, a):
    return (
        -d * np.exp(-h * h / 2) * special.erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi),
        d * np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
    )


# The gamma function (5.2, 5.12, 5.15)


@elementwise(special.gamma)
def gamma(y, d, x):
    return d * y * special.digamma(x)


@elementwise(special.gammaln, special.loggamma)
def gammaln(y, d, x):
    return d * special.digamma(x)


@elementwise(special.rgamma)
def rgamma(y, d, x):
    return -d * y * special.digamma(x)


@elementwise(special.digamma)
def digamma(y, d, x):
    if np.iscomplexobj(x):
        raise NoRule("scipy.special has no derivative of digamma at complex numbers")
    return d * special.zeta(2, x)


@elementwise(special.zeta)
def zeta(y, d, x, q=None):
    return None, -d * x * special.zeta(x + 1, q)


@elementwise(special.polygamma)
def polygamma(y, d, n, x):
    return None, d * special.polygamma(n + 1, x)


@elementwise(special.beta)
def beta(y, d, a, b):
    total = special.digamma(a + b)
    return d * y * (special.digamma(a) - total), d * y * (special.digamma(b) - total)


@elementwise(special.betaln)
def betaln(y, d, a, b):
    total = special.digamma(a + b)
    return d * (special.digamma(a) - total), d * (special.digamma(b) - total)


@elementwise(special.poch)
def poch(y, d, z, m):
    after = special.digamma(z + m)
    return d * y * (after - special.digamma(z)), d * y * after


@elementwise(special.binom)
def binom(y, d, n, k):
    rest = special.digamma(n - k + 1)
    return d * y * (special.digamma(n + 1) - rest), d * y * (rest - special.digamma(k + 1))


@reverse(special.multigammaln)
def multigammaln(y, d, a, dim):
    return d * slope_of_multigammaln(a, dim)


@forward(special.multigammaln)
def push_multigammaln(y, d, a, dim):
    return d * slope_of_multigammaln(a, dim)


def slope_of_multigammaln(a, dim):
    """The sum over the dimensions."""
    return sum([special.digamma(a - j / 2) for j in range(dim)])


# Logistic functions and logarithms


@elementwise(special.expit)
def expit(y, d, x):
    return d * y * (1 - y)


@elementwise(special.logit)
def logit(y, d, x):
    return d / (x * (1 - x))


@elementwise(special.log_expit)
def log_expit(y, d, x):
    return d * special.expit(-x)


@elementwise(special.xlogy)
def xlogy(y, d, x1, x2):
    return d * np.log(x2), d * quotient(x1, x2)


@elementwise(special.xlog1py)
def xlog1py(y, d, x1, x2):
    return d * np.log1p(x2), d * quotient(x1, 1 + x2)


def quotient(x1, x2):
    """``x1 / x2``, and 0 where both are: there a function is 0 for all of the second."""
    return x1 / (x2 + ((x1 == 0) & (x2 == 0)))


@elementwise(special.entr)
def entr(y, d, x):
    return -d * (np.log(x) + 1)


@elementwise(special.rel_entr)
def rel_entr(y, d, x1, x2):
    return d * (np.log(x1 / x2) + 1), -d * x1 / x2


@elementwise(special.kl_div)
def kl_div(y, d, x1, x2):
    return d * np.log(x1 / x2), d * (1 - x1 / x2)


@elementwise(special.huber)
def huber(y, d, delta, r):
    return d * np.maximum(np.abs(r) - delta, 0), d * np.clip(r, -delta, delta)


@elementwise(special.pseudo_huber)
def pseudo_huber(y, d, delta, r):
    root = np.sqrt(1 + (r / delta) ** 2)
    return d * (2 * y / delta - r * r / (delta * root)), d * r / root


@elementwise(special.boxcox)
def boxcox(y, d, x, lmbda):
    log = np.log(x)
    return d * x ** (lmbda - 1), d * log * log * special.hyp1f1(2, 3, lmbda * log) / 2


@elementwise(special.boxcox1p)
def boxcox1p(y, d, x, lmbda):
    log = np.log1p(x)
    return d * (1 + x) ** (lmbda - 1), d * log * log * special.hyp1f1(2, 3, lmbda * log) / 2


@elementwise(special.inv_boxcox)
def inv_boxcox(y, d, x, lmbda):
    return d * y ** (1 - lmbda), -d * y * x * x * fitted(special.hyp2f1(2, 2, 3, -lmbda * x), y) / 2


@elementwise(special.inv_boxcox1p)
def inv_boxcox1p(y, d, x, lmbda):
    return d * (y + 1) ** (1 - lmbda), -d * (y + 1) * x * x * fitted(special.hyp2f1(2, 2, 3, -lmbda * x), y) / 2


# What NumPy has under the same names


@elementwise(special.expm1)
def expm1(y, d, x):
    return d * (y + 1)


@elementwise(special.log1p)
def log1p(y, d, x):
    return d / (1 + x)


@elementwise(special.exp2)
def exp2(y, d, x):
    return d * (math.log(2) * y)


@elementwise(special.exp10)
def exp10(y, d, x):
    return d * (math.log(10) * y)


@elementwise(special.cbrt)
def cbrt(y, d, x):
    return d * y / (3 * x)


@elementwise(special.cosm1)
def cosm1(y, d, x):
    return -d * np.sin(x)


@elementwise(special.exprel)
def exprel(y, d, x):
    return d * special.hyp1f1(2, 3, x) / 2


@elementwise(special.powm1)
def powm1(y, d, x, power):
    return d * power * x ** (power - 1), d * (y + 1) * np.log(x)


@elementwise(special.sindg)
def sindg(y, d, x):
    return d * special.cosdg(x) * (math.pi / 180)


@elementwise(special.cosdg)
def cosdg(y, d, x):
    return -d * special.sindg(x) * (math.pi / 180)


@elementwise(special.tandg)
def tandg(y, d, x):
    return d * (1 + y * y) * (math.pi / 180)


@elementwise(special.cotdg)
def cotdg(y, d, x):
    return -d * (1 + y * y) * (math.pi / 180)


@elementwise(special.softplus)
def softplus(y, d, x):
    return d * special.expit(x)


# Sums of exponentials


@reverse(special.logsumexp)
def logsumexp(y, d, a, axis=None, b=None, keepdims=False, return_sign=False):
    if return_sign:
        check_sign(a)
        y, d = y[0], np.zeros_like(y[0]) if d[0] is None else d[0] * y[1]
    weights = np.exp(a - spread_out(finite(y), axis, keepdims))
    d = spread_out(d, axis, keepdims)
    return (d * weights, None, None) if b is None else (d * weights * b, None, d * weights)


@forward(special.logsumexp)
def push_logsumexp(y, d, a, axis=None, b=None, keepdims=False, return_sign=False):
    if return_sign:
        check_sign(a)
        weights = spread_out(y[1], axis, keepdims) * np.exp(a - spread_out(finite(y[0]), axis, keepdims))
        along = np.sum(d * weights if b is None else d * weights * b, axis=axis, keepdims=keepdims)
        still = np.zeros_like(y[1])
        return (along, still), None, (np.sum(d * weights, axis=axis, keepdims=keepdims), still)
    weights = np.exp(a - spread_out(finite(y), axis, keepdims))
    if b is None:
        return np.sum(d * weights, axis=axis, keepdims=keepdims), None, None
    along = np.sum(d * weights * b, axis=axis, keepdims=keepdims)
    return along, None, np.sum(d * weights, axis=axis, keepdims=keepdims)


def check_sign(a):
    """Refuse a sign that is not a constant."""
    if np.iscomplexobj(a):
        raise NoRule("scipy.special.logsumexp of complex numbers is differentiable without return_sign")


def finite(y):
    """`y`, or 0 where it is infinite: there all terms have the weight 0."""
    return np.where(np.isfinite(y), y, 0.0)


def spread_out(y, axis, keepdims):
    """The result of a reduction, with the axes that it has summed."""
    return y if keepdims or axis is None else np.expand_dims(y, axis)


@reverse(special.softmax)
def softmax(y, d, x, axis=None):
    return y * (d - np.sum(d * y, axis=axis, keepdims=True))


@forward(special.softmax)
def push_softmax(y, d, x, axis=None):
    return y * (d - np.sum(d * y, axis=axis, keepdims=True))


@reverse(special.log_softmax)
def log_softmax(y, d, x, axis=None):
    return d - np.exp(y) * np.sum(d, axis=axis, keepdims=True)


@forward(special.log_softmax)
def push_log_softmax(y, d, x, axis=None):
    return d - np.sum(np.exp(y) * d, axis=axis, keepdims=True)
