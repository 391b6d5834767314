"""Special functions of SciPy: derivatives as in the NIST Digital Library of Mathematical Functions (DLMF).

Numbers in parentheses are those of its equations.  Orders of Bessel functions, and of derivatives of the logarithm of
the gamma function, are settings.
"""

import math

import numpy as np
from scipy import special

from .table import elementwise, forward, reverse

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


# Bessel functions (10.6, 10.29)


@elementwise(special.j0)
def j0(y, d, x):
    return -d * special.j1(x)


@elementwise(special.j1)
def j1(y, d, x):
    return d * (special.j0(x) - special.jv(2, x)) / 2


@elementwise(special.y0)
def y0(y, d, x):
    return -d * special.y1(x)


@elementwise(special.y1)
def y1(y, d, x):
    return d * (special.y0(x) - special.yv(2, x)) / 2


@elementwise(special.i0)
def i0(y, d, x):
    return d * special.i1(x)


@elementwise(special.i1)
def i1(y, d, x):
    return d * (special.i0(x) + special.iv(2, x)) / 2


@elementwise(special.i0e)
def i0e(y, d, x):
    return d * (special.i1e(x) - np.sign(x) * y)


@elementwise(special.i1e)
def i1e(y, d, x):
    return d * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * y)


@elementwise(special.k0)
def k0(y, d, x):
    return -d * special.k1(x)


@elementwise(special.k1)
def k1(y, d, x):
    return -d * (special.k0(x) + special.kv(2, x)) / 2


@elementwise(special.jv)
def jv(y, d, v, z):
    return None, d * (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2


@elementwise(special.yv)
def yv(y, d, v, z):
    return None, d * (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2


@elementwise(special.iv)
def iv(y, d, v, z):
    return None, d * (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2


@elementwise(special.kv)
def kv(y, d, v, z):
    return None, -d * (special.kv(v - 1, z) + special.kv(v + 1, z)) / 2


@elementwise(special.ive)
def ive(y, d, v, z):
    return None, d * ((special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - np.sign(z) * y)


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


# Sums of exponentials


@reverse(special.logsumexp)
def logsumexp(y, d, a, axis=None, b=None, keepdims=False, return_sign=False):
    check_sign(return_sign)
    weights = np.exp(a - spread_out(finite(y), axis, keepdims))
    d = spread_out(d, axis, keepdims)
    return (d * weights, None, None) if b is None else (d * weights * b, None, d * weights)


@forward(special.logsumexp)
def push_logsumexp(y, d, a, axis=None, b=None, keepdims=False, return_sign=False):
    check_sign(return_sign)
    weights = np.exp(a - spread_out(finite(y), axis, keepdims))
    if b is None:
        return np.sum(d * weights, axis=axis, keepdims=keepdims), None, None
    along = np.sum(d * weights * b, axis=axis, keepdims=keepdims)
    return along, None, np.sum(d * weights, axis=axis, keepdims=keepdims)


def check_sign(return_sign):
    """Refuse what has two results."""
    if return_sign:
        raise NotImplementedError("scipy.special.logsumexp is differentiable without return_sign")


def finite(y):
    """`y`, or 0 where it is infinite: there all terms have the weight 0."""
    return np.where(np.isfinite(y), y, 0.0)


def spread_out(y, axis, keepdims):
    """What a reduction has made, with the axes that it has summed."""
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
