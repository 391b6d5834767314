"""Distribution functions of ``scipy.special`` and their inverses, by the argument whose derivative is a density.

The derivative with respect to most shapes has no closed form: these are settings.
"""

import math

import numpy as np
from scipy import special

from ..table import elementwise
from .precision import fitted

# The incomplete gamma function (8.8.13)


@elementwise(special.gammainc)
def gammainc(y, d, a, x):
    return None, d * fitted(gamma_density(a, x), y)


@elementwise(special.gammaincc)
def gammaincc(y, d, a, x):
    return None, -d * fitted(gamma_density(a, x), y)


@elementwise(special.gammaincinv)
def gammaincinv(y, d, a, p):
    return None, d / fitted(gamma_density(a, y), y)


@elementwise(special.gammainccinv)
def gammainccinv(y, d, a, p):
    return None, -d / fitted(gamma_density(a, y), y)


@elementwise(special.gdtr)
def gdtr(y, d, a, b, x):
    density = fitted(gamma_density(b, a * x), y)
    return d * x * density, None, d * a * density


@elementwise(special.chdtr)
def chdtr(y, d, v, x):
    return None, d * fitted(gamma_density(v / 2, x / 2), y) / 2


@elementwise(special.chdtrc)
def chdtrc(y, d, v, x):
    return None, -d * fitted(gamma_density(v / 2, x / 2), y) / 2


@elementwise(special.chdtri)
def chdtri(y, d, v, p):
    return None, -2 * d / fitted(gamma_density(v / 2, y / 2), y)


@elementwise(special.pdtr)
def pdtr(y, d, k, m):
    return None, -d * fitted(gamma_density(np.floor(k) + 1, m), y)


@elementwise(special.pdtrc)
def pdtrc(y, d, k, m):
    return None, d * fitted(gamma_density(np.floor(k) + 1, m), y)


def gamma_density(a, x):
    """The density of the gamma distribution."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


# The incomplete beta function (8.17.7)


@elementwise(special.betainc)
def betainc(y, d, a, b, x):
    return None, None, d * fitted(beta_density(a, b, x), y)


@elementwise(special.betaincc)
def betaincc(y, d, a, b, x):
    return None, None, -d * fitted(beta_density(a, b, x), y)


@elementwise(special.betaincinv)
def betaincinv(y, d, a, b, p):
    return None, None, d / fitted(beta_density(a, b, y), y)


@elementwise(special.betainccinv)
def betainccinv(y, d, a, b, p):
    return None, None, -d / fitted(beta_density(a, b, y), y)


@elementwise(special.fdtr)
def fdtr(y, d, dfn, dfd, x):
    return None, None, d * fitted(f_density(dfn, dfd, x), y)


@elementwise(special.fdtrc)
def fdtrc(y, d, dfn, dfd, x):
    return None, None, -d * fitted(f_density(dfn, dfd, x), y)


@elementwise(special.stdtr)
def stdtr(y, d, df, t):
    return None, d * fitted(t_density(df, t), y)


@elementwise(special.stdtrit)
def stdtrit(y, d, df, p):
    return None, d / fitted(t_density(df, y), y)


def beta_density(a, b, x):
    """The density of the beta distribution."""
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def f_density(dfn, dfd, x):
    """The density of the F distribution."""
    return beta_density(dfn / 2, dfd / 2, dfn * x / (dfn * x + dfd)) * dfn * dfd / (dfn * x + dfd) ** 2


def t_density(df, t):
    """The density of Student's t distribution."""
    log = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * math.pi) / 2
    return np.exp(log - (df + 1) / 2 * np.log1p(t * t / df))
