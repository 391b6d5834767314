"""Rules for covariances, correlations and histograms."""

from __future__ import annotations

import numpy as np

from ..errors import NoRule
from ..runtime.sorting import interval_of
from .linalg import conjugate
from .reduce import shared
from .table import forward, reverse

# Covariance and correlation: `c` is the result, for `y` names the second set of observations.


@reverse(np.cov)
def cov(c, d, m, y=None, rowvar=True, bias=False, ddof=None):
    x = deviations(m, y, rowvar)
    s = np.reshape(d, (len(x), len(x)))
    back = np.conj(s.T @ x) if np.iscomplexobj(x) else s.T @ x
    d_x = (s @ conjugate(x) + back) / freedom(x, bias, ddof)
    if y is None:
        return like_observations(d_x, m, rowvar)
    count = count_of(m, rowvar)
    return like_observations(d_x[:count], m, rowvar), like_observations(d_x[count:], y, rowvar)


@forward(np.cov)
def push_cov(c, d, m, y=None, rowvar=True, bias=False, ddof=None):
    x = deviations(m, y, rowvar)
    return (
        cov_tangent(c, deviations(d, None if y is None else np.zeros_like(y), rowvar), x, bias, ddof),
        None if y is None else cov_tangent(c, deviations(np.zeros_like(m), d, rowvar), x, bias, ddof),
    )


def cov_tangent(c, t, x, bias=False, ddof=None):
    return np.reshape((t @ conjugate(x).T + x @ conjugate(t).T) / freedom(x, bias, ddof), np.shape(c))


@reverse(np.corrcoef)
def corrcoef(c, d, x, y=None, rowvar=True):
    check_real(x)
    covariance = covariance_of(x, y, rowvar)
    return cov(covariance, corrcoef_slope(c, d, covariance), x, y, rowvar)


@forward(np.corrcoef)
def push_corrcoef(c, d, x, y=None, rowvar=True):
    check_real(x)
    covariance = covariance_of(x, y, rowvar)
    return (
        corrcoef_tangent(c, covariance, deviations(d, None if y is None else np.zeros_like(y), rowvar), x, y, rowvar),
        None if y is None else corrcoef_tangent(c, covariance, deviations(np.zeros_like(x), d, rowvar), x, y, rowvar),
    )


def covariance_of(x, y, rowvar):
    if y is not None:
        return np.cov(x, y, rowvar)
    return np.cov(x) if rowvar else np.cov(x, rowvar=False)


def check_real(x):
    if np.iscomplexobj(x):
        raise NoRule("np.corrcoef of complex numbers: divide np.cov by its diagonal")


def corrcoef_slope(c, d, covariance):
    """The cotangent of the covariance: ``c[i, j]`` is its element over the roots of two diagonal ones."""
    if np.ndim(c) == 0:
        return np.zeros_like(covariance)
    variance = np.diag(covariance)
    weighted = d * c
    own = (np.sum(weighted, 0) + np.sum(weighted, 1)) / (2 * variance)
    return d / np.sqrt(np.outer(variance, variance)) - np.diag(own)


def corrcoef_tangent(c, covariance, t, x, y, rowvar):
    if np.ndim(c) == 0:
        return np.zeros_like(covariance)
    t = cov_tangent(covariance, t, deviations(x, y, rowvar))
    variance = np.diag(covariance)
    share = np.diag(t) / (2 * variance)
    return t / np.sqrt(np.outer(variance, variance)) - c * (share[:, None] + share)


def deviations(m, y, rowvar):
    """The observations of all variables, one variable a row, without their means."""
    rows = as_rows(m, rowvar) if y is None else np.concatenate([as_rows(m, rowvar), as_rows(y, rowvar)])
    return rows - np.mean(rows, 1, keepdims=True)


def as_rows(m, rowvar):
    if m.ndim == 1:
        return m[None, :]
    return m if rowvar else m.T


def count_of(m, rowvar):
    return 1 if m.ndim == 1 else m.shape[0 if rowvar else 1]


def like_observations(rows, m, rowvar):
    """The inverse of `as_rows`."""
    if m.ndim == 1:
        return rows[0]
    return rows if rowvar else rows.T


def freedom(x, bias, ddof):
    if ddof is None:
        return x.shape[1] if bias else x.shape[1] - 1
    return x.shape[1] - ddof


# Histograms: steps in the data, but for the edges, which lie between the smallest and the largest.


@reverse(np.histogram_bin_edges)
def histogram_bin_edges(y, d, a, bins=10, range=None):
    if np.ndim(bins) == 1:
        return 0.0, d
    return edges_adjoint(d, a, range), 0.0


@forward(np.histogram_bin_edges)
def push_histogram_bin_edges(y, d, a, bins=10, range=None):
    if np.ndim(bins) == 1:
        return 0.0, d
    return edges_tangent(d, y, a, range), 0.0


def edges_adjoint(d, a, range):
    if range is not None:
        return 0.0
    share = np.linspace(0.0, 1.0, d.size, dtype=d.dtype)
    return shared(d @ (1.0 - share), np.min(a), a, None, True) + shared(d @ share, np.max(a), a, None, True)


def edges_tangent(d, edges, a, range):
    if range is not None:
        return np.zeros_like(edges)
    first, last = np.sum(shared(d, np.min(a), a, None, True)), np.sum(shared(d, np.max(a), a, None, True))
    return np.linspace(first, last, edges.size)


@reverse(np.histogram)
def histogram(y, d, a, bins=10, range=None, density=None, weights=None):
    check_counts(density)
    d_weights = 0.0 if weights is None or d[0] is None else counted_weights(d[0], a, y[1])
    if d[1] is None:
        return 0.0, 0.0, None, None, d_weights
    if np.ndim(bins) == 1:
        return 0.0, d[1], None, None, d_weights
    return edges_adjoint(d[1], a, range), 0.0, None, None, d_weights


@forward(np.histogram)
def push_histogram(y, d, a, bins=10, range=None, density=None, weights=None):
    check_counts(density)
    still = np.zeros_like(y[1])
    of_a, of_bins = (still, d) if np.ndim(bins) == 1 else (edges_tangent(d, y[1], a, range), still)
    no_counts = np.zeros_like(y[0])
    return (no_counts, of_a), (no_counts, of_bins), None, None, (np.histogram(a, y[1], weights=d)[0], still)


@reverse(np.histogram2d)
def histogram2d(h, d, x, y, bins=10, range=None, density=None, weights=None):
    check_counts(density)
    d_x = 0.0 if d[1] is None or are_given(bins, 0) else edges_adjoint(d[1], x, side_of(range, 0))
    d_y = 0.0 if d[2] is None or are_given(bins, 1) else edges_adjoint(d[2], y, side_of(range, 1))
    if weights is None or d[0] is None:
        return d_x, d_y, None, None, None, 0.0
    inside = (h[1][0] <= x) & (x <= h[1][-1]) & (h[2][0] <= y) & (y <= h[2][-1])
    return d_x, d_y, None, None, None, np.where(inside, d[0][interval_of(x, h[1]), interval_of(y, h[2])], 0)


@forward(np.histogram2d)
def push_histogram2d(h, d, x, y, bins=10, range=None, density=None, weights=None):
    check_counts(density)
    no_counts, still_x, still_y = np.zeros_like(h[0]), np.zeros_like(h[1]), np.zeros_like(h[2])
    of_x = still_x if are_given(bins, 0) else edges_tangent(d, h[1], x, side_of(range, 0))
    of_y = still_y if are_given(bins, 1) else edges_tangent(d, h[2], y, side_of(range, 1))
    counted = np.histogram2d(x, y, (h[1], h[2]), weights=d)[0]
    return (no_counts, of_x, still_y), (no_counts, still_x, of_y), None, None, None, (counted, still_x, still_y)


def are_given(bins, axis):
    """True if `bins` are the edges along an axis, or those along both; they may be numbers of bins."""
    if not isinstance(bins, (list, tuple)) and np.ndim(bins) == 0:
        return False
    return len(bins) != 2 or np.ndim(bins[axis]) == 1


def side_of(range, axis):
    """The range of one of two axes."""
    return None if range is None else range[axis]


def check_counts(density):
    if density:
        raise NoRule("histograms are differentiable with density=False: divide the counts yourself")


def counted_weights(d, a, edges):
    """The cotangent of the weights: that of the bin which each one is counted in."""
    return np.where((edges[0] <= a) & (a <= edges[-1]), d[interval_of(a, edges)], 0)
