"""Discrete distributions of ``scipy.stats``, statistics of samples, and the multivariate normal distribution."""

from typing import Any

import numpy as np
from scipy import special, stats

from ...errors import NoRule
from ..linalg import mirrored, onto_triangle
from ..table import elementwise, forward, nondifferentiable, reverse, static
from .special import quotient

# Statistics of ranks are constant between ties

nondifferentiable(stats.rankdata, stats.spearmanr, stats.kendalltau, stats.somersd, stats.weightedtau)
nondifferentiable(stats.mannwhitneyu, stats.ranksums, stats.wilcoxon, stats.kruskal, stats.friedmanchisquare)
nondifferentiable(stats.brunnermunzel, stats.ks_2samp, stats.cramervonmises_2samp)

# Standard scores


@reverse(stats.zscore)
def zscore(y, d, a, axis=0, ddof=0, nan_policy="propagate"):
    check_policy(nan_policy)
    return along_scores(y, d, a, axis, ddof)


@forward(stats.zscore)
def push_zscore(y, d, a, axis=0, ddof=0, nan_policy="propagate"):
    check_policy(nan_policy)
    return along_scores(y, d, a, axis, ddof)


def along_scores(y, d, a, axis, ddof):
    """The derivative of the scores, which is its own transpose."""
    degrees = count(a, axis) - ddof
    inner = d - np.mean(d, axis=axis, keepdims=True) - y * (np.sum(d * y, axis=axis, keepdims=True) / degrees)
    return inner / np.std(a, axis=axis, ddof=ddof, keepdims=True)


def count(a, axis):
    """The number of elements along an axis, or of all."""
    return a.size if axis is None else a.shape[axis]


def check_policy(nan_policy):
    """Refuse what leaves elements out."""
    if nan_policy != "propagate":
        raise NoRule("statistics of scipy.stats are differentiable with nan_policy='propagate'")


# The multivariate normal distribution.  SciPy reads the lower triangle of a covariance.


def normal_logpdf(x, mean, cov, allow_singular):
    """``scipy.stats.multivariate_normal.logpdf``."""
    return stats.multivariate_normal.logpdf(x, mean, 1 if cov is None else cov, allow_singular)


def normal_pdf(x, mean, cov, allow_singular):
    """``scipy.stats.multivariate_normal.pdf``."""
    return stats.multivariate_normal.pdf(x, mean, 1 if cov is None else cov, allow_singular)


normal_logpdf.stands_for = "scipy.stats.multivariate_normal.logpdf"  # type: ignore[attr-defined]
normal_pdf.stands_for = "scipy.stats.multivariate_normal.pdf"  # type: ignore[attr-defined]


@reverse(normal_logpdf)
def of_normal_logpdf(y, d, x, mean, cov, allow_singular):
    check_normal(x, cov, allow_singular)
    return normal_adjoint(d, x, mean, cov)


@reverse(normal_pdf)
def of_normal_pdf(y, d, x, mean, cov, allow_singular):
    check_normal(x, cov, allow_singular)
    return normal_adjoint(d * y, x, mean, cov)


@forward(normal_logpdf)
def push_normal_logpdf(y, d, x, mean, cov, allow_singular):
    check_normal(x, cov, allow_singular)
    return normal_tangents(d, x, mean, cov)


@forward(normal_pdf)
def push_normal_pdf(y, d, x, mean, cov, allow_singular):
    check_normal(x, cov, allow_singular)
    along = normal_tangents(d, x, mean, cov)
    return y * along[0], y * along[1], y * along[2]


def normal_adjoint(d, x, mean, cov):
    """The cotangents of the points, of their mean and of their covariance, from those of the log-densities."""
    moved = whitened(x, mean, cov)
    d_x = -(d * moved if x.ndim == 1 else d[:, None] * moved)
    inverse = np.linalg.inv(mirrored_lower(cov))
    if x.ndim == 1:
        d_cov = d * (np.outer(moved, moved) - inverse) / 2
    else:
        d_cov = ((d[:, None] * moved).T @ moved - np.sum(d) * inverse) / 2
    return d_x, -d_x if x.ndim == 1 else -np.sum(d_x, 0), onto_triangle(d_cov, "L")


def normal_tangents(d, x, mean, cov):
    """The tangents of the log-densities by that of a point, of the mean and of the covariance."""
    moved = whitened(x, mean, cov)
    by_cov = by_covariance(moved, cov, d)
    return -np.sum(moved * d, -1), np.sum(moved * d, -1), by_cov


def by_covariance(moved, cov, d):
    """The tangents by that of the covariance; that of a point comes here, too."""
    if d.ndim < 2 or d.shape[0] != d.shape[1]:
        return np.sum(moved, -1)
    full = mirrored(d, "L")
    return (np.sum(moved @ full * moved, -1) - np.sum(np.linalg.inv(mirrored_lower(cov)) * full)) / 2


def whitened(x, mean, cov):
    """The inverse of the covariance times the distances from the mean."""
    away = x if mean is None else x - mean
    return np.linalg.solve(mirrored_lower(cov), away.T).T


def mirrored_lower(cov):
    """The matrix that SciPy takes a covariance for."""
    return mirrored(cov, "L")


def check_normal(x, cov, allow_singular):
    """Refuse what has no derivative here."""
    if cov is None or cov.ndim != 2 or x.ndim > 2 or allow_singular:
        raise NoRule(
            "scipy.stats.multivariate_normal is differentiable for vectors, with a regular matrix as covariance"
        )


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
