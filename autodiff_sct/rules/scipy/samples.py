"""Statistics of samples in ``scipy.stats``, and the multivariate normal distribution."""

import numpy as np
from scipy import stats

from ...errors import NoRule
from ..linalg import mirrored, onto_triangle
from ..table import forward, nondifferentiable, reverse

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
