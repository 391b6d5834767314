"""Densities of ``scipy.stats`` of which derivatives are taken from these texts; SciPy computes the values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["Kernels"]


class Kernels:
    """``gaussian_kde(dataset, bw_method)``."""

    stands_for = "a gaussian_kde"

    def __init__(self, made: Any, dataset: Any, bandwidth: Any) -> None:
        self.made = made
        self.dataset = dataset
        self.bandwidth = bandwidth

    def evaluate(self, points: Any) -> Any:
        return evaluate(self.made, self.dataset, self.bandwidth, points)

    def pdf(self, x: Any) -> Any:
        return evaluate(self.made, self.dataset, self.bandwidth, x)

    def __call__(self, points: Any) -> Any:
        return evaluate(self.made, self.dataset, self.bandwidth, points)

    def logpdf(self, x: Any) -> Any:
        return kernels_logpdf(self.made, self.dataset, self.bandwidth, x)


def evaluate(made: Any, dataset: Any, bandwidth: Any, points: Any) -> Any:
    """The mean of the densities of normal distributions around the points of `dataset`."""
    return np.mean(np.exp(kernels(dataset, bandwidth, points)), 0)


def kernels_logpdf(made: Any, dataset: Any, bandwidth: Any, points: Any) -> Any:
    exponents = kernels(dataset, bandwidth, points)
    most = np.max(exponents, 0)
    return most + np.log(np.mean(np.exp(exponents - most), 0))


def kernels(dataset: Any, bandwidth: Any, points: Any) -> Any:
    """The logarithms of the densities of the kernels, one line for each."""
    data = np.reshape(dataset, (1, -1)) if dataset.ndim == 1 else dataset
    places = np.reshape(points, (data.shape[0], -1))
    d, n = data.shape
    if bandwidth == "silverman":
        factor = (n * (d + 2) / 4.0) ** (-1.0 / (d + 4))
    elif bandwidth is None or bandwidth == "scott":
        factor = n ** (-1.0 / (d + 4))
    else:
        factor = bandwidth
    centred = data - np.mean(data, 1, keepdims=True)
    lower = np.linalg.cholesky(centred @ centred.T / (n - 1)) * factor
    moved = np.linalg.solve(lower, places - np.mean(data, 1, keepdims=True))
    around = np.linalg.solve(lower, centred)
    distances = np.sum((moved[:, None, :] - around[:, :, None]) ** 2, 0)
    return -0.5 * distances - np.sum(np.log(np.diag(lower))) - 0.5 * d * math.log(2 * math.pi)


# Multivariate distributions: SciPy's parameters in its order


def covariance(cov: Any, size: Any) -> Any:
    """A matrix, or the diagonal or the number that SciPy takes in the place of one."""
    if np.ndim(cov) == 2:
        return cov
    return np.eye(size) * cov


def normal_entropy(cov: Any) -> Any:
    return 0.5 * (cov.shape[0] * (math.log(2 * math.pi) + 1) + np.linalg.slogdet(cov)[1])


def normal_logpdf(x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
    lower = np.linalg.cholesky(covariance(cov, x.shape[-1]))
    moved = np.linalg.solve(lower, (x if mean is None else x - mean).T)
    logs = np.sum(np.log(np.diag(lower)))
    return -0.5 * np.sum(moved**2, 0) - logs - 0.5 * x.shape[-1] * math.log(2 * math.pi)


def normal_pdf(x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
    return np.exp(normal_logpdf(x, mean, cov))


def singular_normal_logpdf(x: Any, mean: Any, cov: Any, kept: Any) -> Any:
    """The density in the subspace of the eigenvalues that are `kept`, of a point in that subspace."""
    values, vectors = np.linalg.eigh(cov)
    spread = np.where(kept, values, 1.0)
    moved = np.sum(((x if mean is None else x - mean) @ vectors) ** 2 * np.where(kept, 1 / spread, 0.0), -1)
    return -0.5 * (moved + np.sum(np.log(spread)) + np.sum(kept) * math.log(2 * math.pi))


def singular_normal_pdf(x: Any, mean: Any, cov: Any, kept: Any) -> Any:
    return np.exp(singular_normal_logpdf(x, mean, cov, kept))


def kept_values(cov: Any) -> Any:
    """True for the eigenvalues that SciPy takes for others than 0."""
    values = np.linalg.eigvalsh(cov)
    return values > 1e6 * np.finfo(values.dtype).eps * np.max(np.abs(values))


def wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    size, half = x.shape[0], 0.5 * df
    lower = np.linalg.cholesky(scale)
    spread = np.trace(np.linalg.solve(lower.T, np.linalg.solve(lower, x)))
    logs = (half - 0.5 * (size + 1)) * log_det(np.linalg.cholesky(x)) - half * log_det(lower)
    return logs - 0.5 * spread - half * size * math.log(2) - multigammaln(half, size)


def invwishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    size, half = x.shape[0], 0.5 * df
    lower, of_scale = np.linalg.cholesky(x), np.linalg.cholesky(scale)
    spread = np.sum(np.linalg.solve(lower, of_scale) ** 2)
    logs = half * log_det(of_scale) - (half + 0.5 * (size + 1)) * log_det(lower)
    return logs - 0.5 * spread - half * size * math.log(2) - multigammaln(half, size)


def log_det(lower: Any) -> Any:
    """The logarithm of the determinant of a matrix by its Cholesky factor, of the triangle that SciPy reads."""
    return 2 * np.sum(np.log(np.diag(lower)))


def multigammaln(a: Any, size: Any) -> Any:
    from scipy.special import multigammaln

    return multigammaln(a, size)


def multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    from scipy.special import gammaln, xlogy

    return gammaln(n + 1) + np.sum(xlogy(x, p) - gammaln(x + 1), -1)
