"""Programs that call ``scipy.stats``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import stats
from scipy.stats import multivariate_normal, norm

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from autodiff_sct.rules.scipy import discrete
from autodiff_sct.rules.scipy import stats as continuous
from tests.scipy.checked import check_program

RNG = np.random.default_rng(3)
SHAPES = {"t": (3.7,), "gamma": (2.3,), "invgamma": (2.3,), "beta": (2.1, 3.3), "lognorm": (0.7,), "chi2": (4.3,)}
SHAPES |= {"weibull_min": (1.7,), "pareto": (2.7,), "skewnorm": (1.4,)}
COUNTS: dict[str, Any] = {"poisson": (2.7,), "binom": (7, 0.37), "bernoulli": (0.37,), "geom": (0.37,)}
COUNTS |= {"nbinom": (4.6, 0.37)}
LEVELS = np.array([0.13, 0.4, 0.77, 0.91])


@pytest.mark.parametrize("method", ["logpdf", "pdf"])
@pytest.mark.parametrize("name", list(continuous.SLOPES))
def test_densities(name: str, method: str) -> None:
    dist, shapes = getattr(stats, name), SHAPES.get(name, ())
    fn, x = getattr(dist, method), dist.ppf(LEVELS, *shapes, loc=0.3, scale=1.7)
    check_program(lambda x, loc, scale: np.sum(fn(x, *shapes, loc=loc, scale=scale) ** 2), x, 0.3, 1.7)
    if len(shapes) == 1:
        check_program(lambda a: np.sum(fn(x, a, 0.3, scale=1.7)), shapes[0])
    if len(shapes) == 2:
        check_program(lambda a, b: np.sum(fn(x, a, b, 0.3, scale=1.7)), *shapes)


@pytest.mark.parametrize("method", ["cdf", "sf", "logcdf", "logsf", "ppf", "isf"])
@pytest.mark.parametrize("name", list(continuous.SLOPES))
def test_distribution_functions(name: str, method: str) -> None:
    dist, shapes = getattr(stats, name), SHAPES.get(name, ())
    fn = getattr(dist, method)
    x = LEVELS if method in ("ppf", "isf") else dist.ppf(LEVELS, *shapes, loc=0.3, scale=1.7)
    check_program(lambda x, loc, scale: np.sum(fn(x, *shapes, loc=loc, scale=scale) ** 2), x, 0.3, 1.7)
    if name in continuous.DISTRIBUTION_SLOPES:
        check_program(lambda a: np.sum(fn(x, a, 0.3, scale=1.7)), shapes[0])


@pytest.mark.parametrize("method", ["logpmf", "pmf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", list(discrete.SLOPES))
def test_counts(name: str, method: str) -> None:
    fn, shapes = getattr(getattr(stats, name), method), COUNTS[name]
    k = np.array([1, 1, 0]) if name == "bernoulli" else np.array([1, 3, 5])
    k = k if not (name == "bernoulli" and method.startswith("log") and method != "logpmf") else k * 0
    check_program(lambda p: np.sum(fn(k, *shapes[:-1], p)), shapes[-1], second=method != "cdf")


def test_maximum_likelihood() -> None:
    x = RNG.normal(1.3, 0.7, 40)

    def loss(theta: Any) -> Any:
        return -np.sum(norm.logpdf(x, loc=theta[0], scale=np.exp(theta[1])))

    check_program(loss, np.array([0.4, 0.2]))


def test_fixed_parameters() -> None:
    x = RNG.normal(size=5)
    prior = stats.norm(0.5, scale=2.0)
    check_program(lambda m, s: np.sum(stats.norm(m, s).logpdf(x)), 0.3, 1.5)
    check_program(lambda m, s: np.sum(norm(loc=m, scale=s).cdf(x)), 0.3, 1.5)
    check_program(lambda x: np.sum(prior.logpdf(x)), x)
    check_program(lambda mu: np.sum(stats.poisson(mu).logpmf(np.arange(4))), 1.3)


def test_outside_of_the_support() -> None:
    x = np.array([-1.0, 0.5, 2.0])
    found = ad.grad(lambda x: np.sum(stats.expon.pdf(x)))(x)
    np.testing.assert_allclose(found, [0.0, -np.exp(-0.5), -np.exp(-2.0)])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(stats.uniform.cdf(x)))(x), [0.0, 1.0, 0.0])


def test_multivariate_normal() -> None:
    a, x, mean = RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3)), np.array([0.1, 0.2, 0.3])
    cov = a @ a.T + np.eye(3)
    check_program(lambda x, m, c: np.sum(multivariate_normal.logpdf(x, m, c)), x, mean, cov)
    check_program(lambda x, m, c: multivariate_normal.pdf(x, mean=m, cov=c), x[0], mean, cov)
    check_program(lambda x, m: np.sum(multivariate_normal(m, cov).logpdf(x)), x, mean)
    with pytest.raises(AutodiffError, match="several as a matrix"):
        ad.grad(lambda x: np.sum(multivariate_normal.logpdf(x, mean, cov)))(x[:1])


@pytest.mark.parametrize("settings", [{}, {"axis": 1}, {"axis": None}], ids=str)
def test_statistics_of_samples(settings: Any) -> None:
    x = RNG.normal(size=(6, 5))
    p = np.abs(x) + 0.3
    check_program(lambda x: np.sum(stats.zscore(x, **settings) ** 3), x)
    check_program(lambda x: np.sum(stats.zscore(x, ddof=1, **settings) ** 3), x)
    check_program(lambda p: np.sum(stats.gmean(p, **settings) ** 2), p)
    check_program(lambda p: np.sum(stats.hmean(p, **settings) ** 2), p)
    for fn in (stats.skew, stats.kurtosis, stats.sem):
        check_program(lambda x: np.sum(fn(x, **settings)), x)
    for fn in (stats.skew, stats.kurtosis):
        check_program(lambda x: np.sum(fn(x, bias=False, **settings)), x)


def test_correlation() -> None:
    x, y = RNG.normal(size=(2, 7))
    check_program(lambda x, y: stats.pearsonr(x, y)[0], x, y)
    check_program(lambda x, y: stats.pearsonr(x, y).statistic ** 2, x, y)
    with pytest.raises(NotImplementedError, match="statistic only"):
        ad.grad(lambda x: stats.pearsonr(x, y).pvalue)(x)


def test_distributions_without_a_rule_are_named() -> None:
    with pytest.raises(AutodiffError, match="scipy.stats.gengamma.logpdf"):
        ad.grad(lambda x: np.sum(stats.gengamma.logpdf(x, 1.0, 2.0)))(np.ones(2))
    with pytest.raises(AutodiffError, match="no derivative with respect to"):
        ad.grad(lambda a: np.sum(stats.gamma.cdf(np.ones(2), a)))(2.0)
