"""Discrete distributions of ``scipy.stats`` by their shapes: the number that is counted has no derivative."""

from typing import Any

import numpy as np
from scipy import special

from ..table import elementwise, static
from .special import quotient

# What the methods of discrete distributions are


def logpmf(dist, k, loc, shape, *shapes):
    return dist.logpmf(k, *shape, *shapes, loc=0 if loc is None else loc)


def pmf(dist, k, loc, shape, *shapes):
    return dist.pmf(k, *shape, *shapes, loc=0 if loc is None else loc)


def cdf(dist, k, loc, shape, *shapes):
    return dist.cdf(k, *shape, *shapes, loc=0 if loc is None else loc)


def logcdf(dist, k, loc, shape, *shapes):
    return dist.logcdf(k, *shape, *shapes, loc=0 if loc is None else loc)


def sf(dist, k, loc, shape, *shapes):
    return dist.sf(k, *shape, *shapes, loc=0 if loc is None else loc)


def logsf(dist, k, loc, shape, *shapes):
    return dist.logsf(k, *shape, *shapes, loc=0 if loc is None else loc)


# and their rules


@elementwise(logpmf)
def of_logpmf(y, d, dist, k, loc, shape, *shapes):
    slopes = slopes_of(dist)(counted(k, loc), *shape, *shapes)
    return None, None, None, None, *[np.where(np.isfinite(y), d * s, 0.0) for s in slopes]


@elementwise(pmf)
def of_pmf(y, d, dist, k, loc, shape, *shapes):
    slopes = slopes_of(dist)(counted(k, loc), *shape, *shapes)
    return None, None, None, None, *[np.where(y > 0, d * y * s, 0.0) for s in slopes]


@elementwise(cdf)
def of_cdf(y, d, dist, k, loc, shape, *shapes):
    return None, None, None, None, *by_shapes(dist, d, counted(k, loc), (*shape, *shapes))


@elementwise(logcdf)
def of_logcdf(y, d, dist, k, loc, shape, *shapes):
    return None, None, None, None, *by_shapes(dist, d * np.exp(-y), counted(k, loc), (*shape, *shapes))


@elementwise(sf)
def of_sf(y, d, dist, k, loc, shape, *shapes):
    return None, None, None, None, *by_shapes(dist, -d, counted(k, loc), (*shape, *shapes))


@elementwise(logsf)
def of_logsf(y, d, dist, k, loc, shape, *shapes):
    return None, None, None, None, *by_shapes(dist, -d * np.exp(-y), counted(k, loc), (*shape, *shapes))


def counted(k, loc):
    """The argument of the distribution that is not moved."""
    return k if loc is None else k - loc


def by_shapes(dist, d, k, shapes):
    """The cotangents of the shapes by the distribution function."""
    return tuple([d * s for s in distribution_slopes_of(dist)(np.floor(k), *shapes)])


# The derivatives of the logarithm of each probability with respect to the shapes


def slopes_of_poisson(k, mu):
    return (quotient(k, mu) - 1,)


def slopes_of_binom(k, n, p):
    return (quotient(k, p) - quotient(n - k, 1 - p),)


def slopes_of_bernoulli(k, p):
    return (quotient(k, p) - quotient(1 - k, 1 - p),)


def slopes_of_geom(k, p):
    return (1 / p - quotient(k - 1, 1 - p),)


def slopes_of_nbinom(k, n, p):
    return special.digamma(k + n) - special.digamma(n) + np.log(p), n / p - quotient(k, 1 - p)


# and those of each distribution function, whose argument has been rounded down


def distribution_slopes_of_poisson(k, mu):
    return (np.where(k >= 0, -np.exp(special.xlogy(k, mu) - mu - special.gammaln(np.maximum(k, 0) + 1)), 0.0),)


def distribution_slopes_of_binom(k, n, p):
    inside = (k >= 0) & (k < n)
    m = np.where(inside, k, 0)
    log = special.xlogy(m, p) + special.xlog1py(n - 1 - m, -p) - special.betaln(m + 1, n - m)
    return (np.where(inside, -np.exp(log), 0.0),)


def distribution_slopes_of_bernoulli(k, p):
    return (np.where(k == 0, -1.0, 0.0) * np.ones_like(p),)


def distribution_slopes_of_geom(k, p):
    return (np.where(k >= 1, k * (1 - p) ** (np.maximum(k, 1) - 1), 0.0),)


def distribution_slopes_of_nbinom(k, n, p):
    m = np.maximum(k, 0)
    log = special.xlogy(n - 1, p) + special.xlog1py(m, -p) - special.betaln(n, m + 1)
    return (np.where(k >= 0, np.exp(log), 0.0),)


SLOPES: dict[str, Any] = {
    "poisson": slopes_of_poisson,
    "binom": slopes_of_binom,
    "bernoulli": slopes_of_bernoulli,
    "geom": slopes_of_geom,
    "nbinom": slopes_of_nbinom,
}
DISTRIBUTION_SLOPES: dict[str, Any] = {
    "poisson": distribution_slopes_of_poisson,
    "binom": distribution_slopes_of_binom,
    "bernoulli": distribution_slopes_of_bernoulli,
    "geom": distribution_slopes_of_geom,
    "nbinom": distribution_slopes_of_nbinom,
}


@static
def slopes_of(dist):
    return SLOPES[dist.name]


@static
def distribution_slopes_of(dist):
    return DISTRIBUTION_SLOPES[dist.name]


def settings_of(fn, dist):
    """The number of shapes, of the first ones, with respect to which a method has no derivative."""
    return 1 if dist.name == "binom" or (dist.name == "nbinom" and fn not in (logpmf, pmf)) else 0
