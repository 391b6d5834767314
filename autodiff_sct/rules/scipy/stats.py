"""Distributions of ``scipy.stats``: log-densities by all parameters, distribution functions by those that have one.

A distribution is a density of ``z = (x - loc) / scale`` and of its shapes.  What is told of each is the derivative of
its logarithm; everything else follows, as the density is the derivative of the distribution function.  The functions
here are what the methods of all distributions are for the compiler; what a program calls are still those methods.
"""

import math
from typing import Any

import numpy as np
from scipy import special

from ...runtime.scipy.incomplete import betainc_moved, gammainc_moved
from ...runtime.scipy.standard import check_regular, regular, support
from ..table import elementwise, forward, nondifferentiable, reverse, static
from .integrals import t_moved
from .special import quotient

# What the methods of continuous distributions are.  A location or a scale that is not given is None; the shapes
# that come first, in a tuple, are those without a derivative.


def logpdf(dist, x, loc, scale, shape, *shapes):
    return dist.logpdf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def pdf(dist, x, loc, scale, shape, *shapes):
    return dist.pdf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def cdf(dist, x, loc, scale, shape, *shapes):
    return dist.cdf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def logcdf(dist, x, loc, scale, shape, *shapes):
    return dist.logcdf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def sf(dist, x, loc, scale, shape, *shapes):
    return dist.sf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def logsf(dist, x, loc, scale, shape, *shapes):
    return dist.logsf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def ppf(dist, x, loc, scale, shape, *shapes):
    return dist.ppf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


def isf(dist, x, loc, scale, shape, *shapes):
    return dist.isf(x, *shape, *shapes, loc=0 if loc is None else loc, scale=1 if scale is None else scale)


# and their rules


@elementwise(logpdf)
def of_logpdf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(x, loc, scale)
    d = np.where(np.isfinite(y), d, 0.0)  # a constant outside of the support
    slope = slope_of(dist)(z, *shapes)
    d_x = over(d * slope, scale)
    return None, d_x, -d_x, -over(d * (1 + z * slope), scale), None, *[d * s for s in shape_slopes_of(dist)(z, *shapes)]


@elementwise(pdf)
def of_pdf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(x, loc, scale)
    d = np.where(y > 0, d * y, 0.0)  # a constant outside of the support
    slope = slope_of(dist)(z, *shapes)
    d_x = over(d * slope, scale)
    return None, d_x, -d_x, -over(d * (1 + z * slope), scale), None, *[d * s for s in shape_slopes_of(dist)(z, *shapes)]


@elementwise(cdf)
def of_cdf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(x, loc, scale)
    d_x = d * dist.pdf(x, *shape, *shapes, loc=loc, scale=scale)
    return None, d_x, -d_x, -d_x * z, None, *by_shapes(dist, d, z, shapes)


@elementwise(sf)
def of_sf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(x, loc, scale)
    d_x = -d * dist.pdf(x, *shape, *shapes, loc=loc, scale=scale)
    return None, d_x, -d_x, -d_x * z, None, *by_shapes(dist, -d, z, shapes)


@elementwise(logcdf)
def of_logcdf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(x, loc, scale)
    d_x = d * np.exp(dist.logpdf(x, *shape, *shapes, loc=loc, scale=scale) - y)
    return None, d_x, -d_x, -d_x * z, None, *by_shapes(dist, d * np.exp(-y), z, shapes)


@elementwise(logsf)
def of_logsf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(x, loc, scale)
    d_x = -d * np.exp(dist.logpdf(x, *shape, *shapes, loc=loc, scale=scale) - y)
    return None, d_x, -d_x, -d_x * z, None, *by_shapes(dist, -d * np.exp(-y), z, shapes)


@elementwise(ppf)
def of_ppf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(y, loc, scale)
    d_x = d / dist.pdf(y, *shape, *shapes, loc=loc, scale=scale)
    return None, d_x, d, d * z, None, *by_shapes(dist, -d_x, z, shapes)


@elementwise(isf)
def of_isf(y, d, dist, x, loc, scale, shape, *shapes):
    z = standard(y, loc, scale)
    d_x = -d / dist.pdf(y, *shape, *shapes, loc=loc, scale=scale)
    return None, d_x, d, d * z, None, *by_shapes(dist, d_x, z, shapes)


# Distributions of which SciPy's texts are followed


@reverse(regular)
def of_regular(y, d, shape):
    check_regular(shape)
    return d


@forward(regular)
def push_regular(y, d, shape):
    check_regular(shape)
    return d


nondifferentiable(support)


def standard(x, loc, scale):
    """The argument of the standard distribution."""
    return over(x if loc is None else x - loc, scale)


def over(x, scale):
    """A quotient by the scale, if there is one."""
    return x if scale is None else x / scale


def by_shapes(dist, d, z, shapes):
    """The cotangents of the shapes by the distribution function, where that has such a derivative."""
    if len(shapes) == 0:
        return ()
    return tuple([d * s for s in distribution_slopes_of(dist)(z, *shapes)])


# The derivatives of the logarithm of each density: with respect to z, and with respect to the shapes


def no_shapes(z):
    return ()


def slope_of_norm(z):
    return -z


def slope_of_expon(z):
    return -np.ones_like(z)


def slope_of_uniform(z):
    return np.zeros_like(z)


def slope_of_laplace(z):
    return -np.sign(z)


def slope_of_logistic(z):
    return -np.tanh(z / 2)


def slope_of_cauchy(z):
    return -2 * z / (1 + z * z)


def slope_of_rayleigh(z):
    return 1 / z - z


def slope_of_maxwell(z):
    return 2 / z - z


def slope_of_gumbel_r(z):
    return np.exp(-z) - 1


def slope_of_gumbel_l(z):
    return 1 - np.exp(z)


def slope_of_t(z, df):
    return -(df + 1) * z / (df + z * z)


def shape_slopes_of_t(z, df):
    square = z * z
    log = special.digamma((df + 1) / 2) - special.digamma(df / 2) - 1 / df - np.log1p(square / df)
    return ((log + (df + 1) * square / (df * (df + square))) / 2,)


def slope_of_gamma(z, a):
    return quotient(a - 1, z) - 1


def shape_slopes_of_gamma(z, a):
    return (np.log(z) - special.digamma(a),)


def slope_of_invgamma(z, a):
    return 1 / (z * z) - (a + 1) / z


def shape_slopes_of_invgamma(z, a):
    return (-np.log(z) - special.digamma(a),)


def slope_of_beta(z, a, b):
    return quotient(a - 1, z) - quotient(b - 1, 1 - z)


def shape_slopes_of_beta(z, a, b):
    both = special.digamma(a + b)
    return np.log(z) - special.digamma(a) + both, np.log1p(-z) - special.digamma(b) + both


def slope_of_lognorm(z, s):
    return -(1 + np.log(z) / (s * s)) / z


def shape_slopes_of_lognorm(z, s):
    return ((np.log(z) ** 2 / (s * s) - 1) / s,)


def slope_of_chi2(z, df):
    return quotient(df / 2 - 1, z) - 0.5


def shape_slopes_of_chi2(z, df):
    return ((np.log(z / 2) - special.digamma(df / 2)) / 2,)


def slope_of_weibull_min(z, c):
    return quotient(c - 1, z) - c * z ** (c - 1)


def shape_slopes_of_weibull_min(z, c):
    log = np.log(z)
    return (1 / c + log - special.xlogy(z**c, z),)


def slope_of_pareto(z, b):
    return -(b + 1) / z


def shape_slopes_of_pareto(z, b):
    return (1 / b - np.log(z),)


def slope_of_skewnorm(z, a):
    return a * skew_ratio(a * z) - z


def shape_slopes_of_skewnorm(z, a):
    return (z * skew_ratio(a * z),)


def skew_ratio(x):
    """The normal density over the normal distribution function."""
    return np.exp(-x * x / 2 - special.log_ndtr(x)) / math.sqrt(2 * math.pi)


SLOPES: dict[str, Any] = {
    "norm": slope_of_norm,
    "halfnorm": slope_of_norm,
    "expon": slope_of_expon,
    "uniform": slope_of_uniform,
    "laplace": slope_of_laplace,
    "logistic": slope_of_logistic,
    "cauchy": slope_of_cauchy,
    "halfcauchy": slope_of_cauchy,
    "rayleigh": slope_of_rayleigh,
    "maxwell": slope_of_maxwell,
    "gumbel_r": slope_of_gumbel_r,
    "gumbel_l": slope_of_gumbel_l,
    "t": slope_of_t,
    "gamma": slope_of_gamma,
    "invgamma": slope_of_invgamma,
    "beta": slope_of_beta,
    "lognorm": slope_of_lognorm,
    "chi2": slope_of_chi2,
    "weibull_min": slope_of_weibull_min,
    "pareto": slope_of_pareto,
    "skewnorm": slope_of_skewnorm,
}
SHAPE_SLOPES: dict[str, Any] = {
    "t": shape_slopes_of_t,
    "gamma": shape_slopes_of_gamma,
    "invgamma": shape_slopes_of_invgamma,
    "beta": shape_slopes_of_beta,
    "lognorm": shape_slopes_of_lognorm,
    "chi2": shape_slopes_of_chi2,
    "weibull_min": shape_slopes_of_weibull_min,
    "pareto": shape_slopes_of_pareto,
    "skewnorm": shape_slopes_of_skewnorm,
}


@static
def slope_of(dist):
    return SLOPES[dist.name]


@static
def shape_slopes_of(dist):
    return SHAPE_SLOPES.get(dist.name, no_shapes)


# The derivatives of distribution functions with respect to their shapes


def distribution_slopes_of_lognorm(z, s):
    log = np.log(np.where(z > 0, z, 1.0)) / s
    return (np.where(z > 0, -np.exp(-log * log / 2) * log / (s * math.sqrt(2 * math.pi)), 0.0),)


def distribution_slopes_of_weibull_min(z, c):
    power = np.where(z > 0, z, 1.0) ** c
    return (np.where(z > 0, np.exp(-power) * power * np.log(np.where(z > 0, z, 1.0)), 0.0),)


def distribution_slopes_of_pareto(z, b):
    inside = np.where(z > 1, z, 1.0)
    return (inside**-b * np.log(inside),)


def distribution_slopes_of_gamma(z, a):
    return (gammainc_moved(1, a, np.maximum(z, 0)),)


def distribution_slopes_of_chi2(z, df):
    return (gammainc_moved(1, df / 2, np.maximum(z, 0) / 2) / 2,)


def distribution_slopes_of_invgamma(z, a):
    return (-gammainc_moved(1, a, 1 / np.where(z > 0, z, np.inf)),)


def distribution_slopes_of_beta(z, a, b):
    inside = np.clip(z, 0, 1)
    return betainc_moved(1, 0, a, b, inside), betainc_moved(0, 1, a, b, inside)


def distribution_slopes_of_t(z, df):
    return (t_moved(df, z),)


DISTRIBUTION_SLOPES: dict[str, Any] = {
    "gamma": distribution_slopes_of_gamma,
    "chi2": distribution_slopes_of_chi2,
    "invgamma": distribution_slopes_of_invgamma,
    "beta": distribution_slopes_of_beta,
    "t": distribution_slopes_of_t,
    "lognorm": distribution_slopes_of_lognorm,
    "weibull_min": distribution_slopes_of_weibull_min,
    "pareto": distribution_slopes_of_pareto,
}


@static
def distribution_slopes_of(dist):
    return DISTRIBUTION_SLOPES[dist.name]


def settings_of(fn, dist):
    """The number of shapes, of the first ones, with respect to which a method has no derivative."""
    return 0 if fn in (logpdf, pdf) or dist.name in DISTRIBUTION_SLOPES else dist.numargs
