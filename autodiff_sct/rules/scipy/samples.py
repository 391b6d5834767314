"""Statistics of samples in ``scipy.stats``, and the multivariate normal distribution."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from ...errors import NoRule
from ..linalg import mirrored, onto_triangle
from ..table import forward, reverse

# Standard scores and standard errors


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


@reverse(stats.sem)
def sem(y, d, a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    return spread_out(d, axis, keepdims) * slope_of_sem(spread_out(y, axis, keepdims), a, axis, ddof)


@forward(stats.sem)
def push_sem(y, d, a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    return np.sum(d * slope_of_sem(spread_out(y, axis, keepdims), a, axis, ddof), axis=axis, keepdims=keepdims)


def slope_of_sem(y, a, axis, ddof):
    return centred(a, axis) / ((count(a, axis) - ddof) * count(a, axis) * y)


# Means


@reverse(stats.gmean)
def gmean(y, d, a, axis=0, dtype=None, weights=None, *, nan_policy="propagate", keepdims=False):
    check_mean(weights, nan_policy)
    return spread_out(d * y, axis, keepdims) / (count(a, axis) * a)


@forward(stats.gmean)
def push_gmean(y, d, a, axis=0, dtype=None, weights=None, *, nan_policy="propagate", keepdims=False):
    check_mean(weights, nan_policy)
    return y * np.mean(d / a, axis=axis, keepdims=keepdims)


@reverse(stats.hmean)
def hmean(y, d, a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    check_mean(weights, nan_policy)
    return spread_out(d * y * y, axis, keepdims) / (count(a, axis) * a * a)


@forward(stats.hmean)
def push_hmean(y, d, a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    check_mean(weights, nan_policy)
    return y * y * np.mean(d / (a * a), axis=axis, keepdims=keepdims)


# Moments


@reverse(stats.skew)
def skew(y, d, a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    return spread_out(d, axis, keepdims) * slope_of_skew(a, axis, bias)


@forward(stats.skew)
def push_skew(y, d, a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    return np.sum(d * slope_of_skew(a, axis, bias), axis=axis, keepdims=keepdims)


def slope_of_skew(a, axis, bias):
    n, c = count(a, axis), centred(a, axis)
    square, cube = np.mean(c * c, axis=axis, keepdims=True), np.mean(c**3, axis=axis, keepdims=True)
    factor = 1 if bias else (n * (n - 1)) ** 0.5 / (n - 2)
    return 3 * factor / n * (c * c - square - c * cube / square) / square**1.5


@reverse(stats.kurtosis)
def kurtosis(y, d, a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    return spread_out(d, axis, keepdims) * slope_of_kurtosis(a, axis, bias)


@forward(stats.kurtosis)
def push_kurtosis(y, d, a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    return np.sum(d * slope_of_kurtosis(a, axis, bias), axis=axis, keepdims=keepdims)


def slope_of_kurtosis(a, axis, bias):
    n, c = count(a, axis), centred(a, axis)
    square, cube = np.mean(c * c, axis=axis, keepdims=True), np.mean(c**3, axis=axis, keepdims=True)
    fourth = np.mean(c**4, axis=axis, keepdims=True)
    factor = 1 if bias else (n * n - 1) / ((n - 2) * (n - 3))
    return 4 * factor / n * (c**3 - cube - c * fourth / square) / square**2


def count(a, axis):
    """The number of elements along an axis, or of all."""
    return a.size if axis is None else a.shape[axis]


def centred(a, axis):
    return a - np.mean(a, axis=axis, keepdims=True)


def spread_out(y, axis, keepdims):
    """What a reduction has made, with the axis that it has summed."""
    return y if keepdims or axis is None else np.expand_dims(y, axis)


def check_policy(nan_policy):
    """Refuse what leaves elements out."""
    if nan_policy != "propagate":
        raise NoRule("statistics of scipy.stats are differentiable with nan_policy='propagate'")


def check_mean(weights, nan_policy):
    """Refuse what has no derivative here."""
    check_policy(nan_policy)
    if weights is not None:
        raise NoRule("means of scipy.stats are differentiable without weights")


# Correlation


class Correlation(NamedTuple):
    """What ``pearsonr`` returns."""

    statistic: float
    pvalue: float


def pearsonr(x, y):
    """``scipy.stats.pearsonr`` as a tuple."""
    return Correlation(*stats.pearsonr(x, y))


pearsonr.stands_for = "scipy.stats.pearsonr"  # type: ignore[attr-defined]


@reverse(pearsonr)
def of_pearsonr(r, d, x, y_):
    check_statistic(d[1])
    a, b = x - np.mean(x), y_ - np.mean(y_)
    a_size, b_size = np.sqrt(np.sum(a * a)), np.sqrt(np.sum(b * b))
    return d[0] * (b / b_size - r[0] * a / a_size) / a_size, d[0] * (a / a_size - r[0] * b / b_size) / b_size


@forward(pearsonr)
def push_pearsonr(r, d, x, y_):
    a, b = x - np.mean(x), y_ - np.mean(y_)
    a_size, b_size = np.sqrt(np.sum(a * a)), np.sqrt(np.sum(b * b))
    return (
        (np.sum(d * (b / b_size - r[0] * a / a_size)) / a_size, refused_tangent(r[1])),
        (np.sum(d * (a / a_size - r[0] * b / b_size)) / b_size, refused_tangent(r[1])),
    )


def check_statistic(d):
    """Refuse the p-value."""
    if d is not None:
        raise NoRule("scipy.stats.pearsonr is differentiable in its statistic only")


def refused_tangent(p):
    """Not a number in the place of the p-value's tangent."""
    return p * np.nan


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
