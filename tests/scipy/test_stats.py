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
from autodiff_sct.rules.scipy import samples
from autodiff_sct.rules.scipy import stats as continuous
from autodiff_sct.runtime.scipy.incomplete import betainc_moved, gammainc_moved
from tests.scipy.checked import check_program, check_reverse

RNG = np.random.default_rng(3)
SHAPES = {"t": (3.7,), "gamma": (2.3,), "invgamma": (2.3,), "beta": (2.1, 3.3), "lognorm": (0.7,), "chi2": (4.3,)}
SHAPES |= {"weibull_min": (1.7,), "pareto": (2.7,), "skewnorm": (1.4,)}
COUNTS: dict[str, Any] = {"poisson": (2.7,), "binom": (7, 0.37), "bernoulli": (0.37,), "geom": (0.37,)}
COUNTS |= {"nbinom": (4.6, 0.37)}
P = np.array([0.7, 1.3, 2.2])
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
    if name in continuous.DISTRIBUTION_SLOPES and len(shapes) == 1:
        check_program(lambda a: np.sum(fn(x, a, 0.3, scale=1.7)), shapes[0])
    if len(shapes) == 2:
        check_program(lambda a, b: np.sum(fn(x, a, b, 0.3, scale=1.7)), *shapes)


@pytest.mark.parametrize("method", ["logpmf", "pmf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", list(samples.SLOPES))
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


def test_entropy_of_multivariate_normal() -> None:
    def entropies(x: Any) -> Any:
        cov = np.outer(x, x) + np.eye(x.size)
        return multivariate_normal(x, cov).entropy() + multivariate_normal.entropy(cov=2 * cov)

    check_program(entropies, np.array([0.3, -0.2, 0.5]))


def test_multivariate_normal() -> None:
    a, x, mean = RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3)), np.array([0.1, 0.2, 0.3])
    cov = a @ a.T + np.eye(3)
    check_program(lambda x, m, c: np.sum(multivariate_normal.logpdf(x, m, c)), x, mean, cov)
    check_program(lambda x, m, c: multivariate_normal.pdf(x, mean=m, cov=c), x[0], mean, cov)
    check_program(lambda x, m: np.sum(multivariate_normal(m, cov).logpdf(x)), x, mean)
    with pytest.raises(AutodiffError, match="several as a matrix"):
        ad.grad(lambda x: np.sum(multivariate_normal.logpdf(x, mean, cov)))(x[:1])
    check_program(lambda x, m, c: np.sum(multivariate_normal.logpdf(x, m, c, allow_singular=True)), x, mean, cov)


def test_a_normal_distribution_in_a_subspace() -> None:
    cov = np.outer([1.0, 2.0, 0.5], [1.0, 2.0, 0.5]) + np.outer([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])

    def fn(t: Any, scale: Any) -> Any:
        x = np.array([t[0] + t[1], 2 * t[0], 0.5 * t[0] + t[1]])
        return multivariate_normal.logpdf(x, np.zeros(3), scale * cov, allow_singular=True)

    check_program(fn, np.array([0.3, -0.8]), 1.7)
    check_program(lambda t, s: multivariate_normal.pdf(t * cov[0], None, s * cov, True), 0.4, 1.7)


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
    check_program(lambda x, y: stats.pearsonr(x, y).pvalue, x, y)


POSITIVE = {
    "gmean": lambda p: stats.gmean(p, weights=1 / p),
    "hmean": lambda p: stats.hmean(p, weights=1 / p),
    "pmean": lambda p: stats.pmean(p, 3) + stats.pmean(p, p=-0.5),
    "gstd": lambda p: stats.gstd(p),
    "variation": lambda p: stats.variation(p) + stats.variation(p, ddof=1),
    "entropy": lambda p: stats.entropy(p) + stats.entropy(p, 1 / p) + stats.entropy(p, base=2),
    "boxcox_llf": lambda p: stats.boxcox_llf(0.3, p) + stats.boxcox_llf(p[0], p),
    "chisquare": lambda p: stats.chisquare(p).statistic + stats.chisquare(p)[1],
    "power": lambda p: sum(
        [stats.power_divergence(p, lambda_=k)[0] for k in ("log-likelihood", "neyman", "mod-log-likelihood", 0.3)]
    ),
}
REAL = {
    "moment": lambda x: stats.moment(x, 3) + stats.moment(x, order=2, center=0.4),
    "trimmed": lambda x: (
        stats.tmean(x, (-1, 1)) + stats.tvar(x, (-1, None)) + stats.tstd(x, (None, 0.8), (True, False))
    ),
    "extreme": lambda x: stats.tsem(x) + stats.tmin(x, -0.5, inclusive=False) + stats.tmax(x, 0.5),
    "quantiles": lambda x: stats.iqr(x) + stats.iqr(x, rng=(10, 90), scale="normal") + stats.trim_mean(x, 0.2),
    "mad": lambda x: stats.median_abs_deviation(x, scale="normal") + stats.median_abs_deviation(x, center=np.mean),
    "circle": lambda x: stats.circvar(x) + stats.circstd(x, high=np.pi) + stats.circstd(x, normalize=True),
    "yeojohnson_llf": lambda x: stats.yeojohnson_llf(0.7, x) + stats.yeojohnson_llf(x[0], x),
    "one sample": lambda x: sum([*stats.ttest_1samp(x, x[0])]) + stats.ttest_1samp(x, 0.1, alternative="less").pvalue,
    "cumulants": lambda x: sum([stats.kstat(x, n) for n in (1, 2, 3, 4)]) + stats.kstatvar(x) + stats.kstatvar(x, n=1),
    "lmoments": lambda x: np.sum(stats.lmoment(x) ** 2) + stats.lmoment(x, 3, standardize=False),
    "lmoments of rows": lambda x: np.sum(stats.lmoment(np.outer(x, x[:2]), axis=0, order=[1, 3]) ** 2),
    "jarque_bera": lambda x: sum([*stats.jarque_bera(x)]),
}
PAIRS = {
    "line": lambda x, y: sum([*stats.linregress(x, y)]) + stats.linregress(x, y, "greater").pvalue,
    "related": lambda x, y: stats.ttest_rel(x, y).statistic + stats.ttest_rel(x, y)[1],
    "independent": lambda x, y: sum([*stats.ttest_ind(x, y)]) + stats.ttest_ind(x, y, equal_var=False).statistic,
    "variance": lambda x, y: sum([*stats.f_oneway(x, y, x * y), *stats.bartlett(x, y), *stats.levene(x, y)]),
    "mean levene": lambda x, y: stats.levene(x, y, center="mean").statistic,
    "distances": lambda x, y: stats.wasserstein_distance(x, y) + stats.energy_distance(x, y),
    "ranks": lambda x, y: (
        np.sum(stats.rankdata(x) * x) + stats.spearmanr(x, y)[0] * y[0] + stats.ks_2samp(x, y)[0] * x[1]
    ),
}


@pytest.mark.parametrize("size", [5, 130])
@pytest.mark.parametrize("name", [*POSITIVE, *REAL, *PAIRS])
def test_statistics(name: str, size: int) -> None:
    x, y = np.random.default_rng(size).normal(size=(2, size))
    if name in PAIRS:
        check_program(PAIRS[name], x, y)
    else:
        check_program({**POSITIVE, **REAL}[name], np.abs(x) + 0.3 if name in POSITIVE else x)


@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 1), (-1,)], ids=str)
def test_axes_of_statistics(axis: Any) -> None:
    def one(p: Any) -> Any:
        spread = np.sum((p - stats.gmean(p, axis=axis, keepdims=True)) ** 2)
        return spread + np.sum(stats.moment(p, 2, axis=axis) ** 2) + np.sum(stats.skew(p, axis=axis))

    for order in ("C", "F"):
        p, q = (np.array(RNG.uniform(0.3, 2.0, size=(4, 3)), order=order) for _ in range(2))
        check_program(one, p)
        check_program(lambda p, q: np.sum(stats.ttest_ind(p, q, axis=axis).statistic ** 2), p, q)


def test_statistics_leave_out_nans() -> None:
    x = RNG.normal(size=9)
    x[[2, 5]] = np.nan

    def fn(w: Any) -> Any:
        y = np.where(np.isnan(x), np.nan, np.sin(w * x + 0.3))
        spread = stats.sem(y, nan_policy="omit") + stats.median_abs_deviation(y, nan_policy="omit")
        return spread + stats.skew(np.stack([y, y * w]), axis=None, nan_policy="omit") + stats.iqr(y, nan_policy="omit")

    check_program(fn, 0.7)
    check_program(lambda x: stats.moment(x, 3, nan_policy="raise"), x[6:])


def test_statistics_of_numbers_and_of_lines() -> None:
    check_program(lambda x: stats.gmean(x) + stats.moment(x, 2, center=0.1), 0.7)
    x = np.array([[0.3, 1.2, 0.5], [0.7, 0.2, 1.9], [1.1, 0.9, 0.4]])
    for fn in (stats.linregress, stats.bartlett):  # points on a line, and equal variances
        assert np.all(np.isfinite(ad.grad(lambda x: np.sum(np.array([*fn(x, x + 0.2)])))(x)))


def test_settings_of_statistics_that_are_refused() -> None:
    x, y = RNG.normal(size=(2, 7))
    with pytest.raises(AutodiffError, match="nan_policy='omit' for several samples"):
        ad.grad(lambda x: stats.ttest_ind(x, y, nan_policy="omit").statistic)(x)
    with pytest.raises(AutodiffError, match="nan_policy='omit' for several samples"):
        ad.grad(lambda x: np.sum(stats.sem(x, nan_policy="omit")))(np.stack([x, y]))
    with pytest.raises(AutodiffError, match="center='median' and center='mean'"):
        ad.grad(lambda x: stats.levene(x, y, center="trimmed").statistic)(x)
    with pytest.raises(AutodiffError, match="'df' of a result of scipy.stats has no derivative"):
        ad.grad(lambda x: stats.ttest_ind(x, y).df * x[0])(x)
    with pytest.raises(AutodiffError, match="fewer than two samples"):
        ad.grad(lambda x: np.sum(stats.f_oneway(x).statistic))(np.stack([x, y]))
    with pytest.raises(AutodiffError, match="several ranks"):
        ad.grad(lambda x: np.sum(stats.ttest_ind(x, np.stack([y, y]), axis=-1).statistic))(x)


# Distributions of which SciPy's own text is followed: their shapes
FOLLOWED: dict[str, tuple[float, ...]] = {
    "f": (3.2, 4.1), "truncnorm": (-1.1, 2.3), "genextreme": (0.2,), "vonmises": (0.8,), "genpareto": (0.3,),
    "invgauss": (0.7,), "loguniform": (0.2, 3.1), "triang": (0.3,), "exponnorm": (0.8,), "burr12": (1.4, 2.1),
    "nakagami": (0.9,), "rice": (0.7,), "powerlaw": (1.7,), "fisk": (2.1,), "gennorm": (1.4,), "gengamma": (1.3, 0.8),
    "johnsonsu": (0.4, 1.3), "johnsonsb": (0.4, 1.3), "levy": (), "lomax": (1.9,), "betaprime": (2.2, 3.1),
    "genlogistic": (0.6,), "chi": (2.7,), "loggamma": (1.2,), "hypsecant": (), "weibull_max": (1.7,), "moyal": (),
    "laplace_asymmetric": (1.3,), "norminvgauss": (1.2, 0.4), "dweibull": (1.6,), "halflogistic": (),
    "gompertz": (0.9,), "crystalball": (1.5, 2.5), "truncexpon": (3.0,), "wald": (), "anglit": (), "arcsine": (),
    "semicircular": (), "gibrat": (), "invweibull": (2.3,), "exponweib": (1.3, 1.7), "kappa3": (1.4,),
    "foldnorm": (0.7,),
}  # fmt: skip
OF_SHAPES_TOO = "genextreme genpareto invgauss triang burr12 powerlaw fisk lomax gompertz johnsonsu".split()


@pytest.mark.parametrize("name", FOLLOWED)
def test_distributions_by_scipys_texts(name: str) -> None:
    dist, shapes = getattr(stats, name), FOLLOWED[name]
    x = dist.ppf(LEVELS, *shapes, loc=0.3, scale=1.7)

    def density(x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
        return np.sum(dist.logpdf(x, *shapes, loc=loc, scale=scale)) + np.sum(dist(*shapes, loc, scale).pdf(x) ** 2)

    if name == "truncnorm":  # whose text takes logsumexp of a list, which has no forward rule
        check_reverse(density, x, 0.3, 1.7, *shapes)
        return
    check_program(density, x, 0.3, 1.7, *shapes, second=False)
    if name in OF_SHAPES_TOO:
        check_program(lambda x, *shapes: np.sum(dist.cdf(x, *shapes, scale=1.7) ** 2), x, *shapes, second=False)
    elif name not in ("vonmises", "rice"):
        check_program(lambda x: np.sum(dist.cdf(x, *shapes, 0.3, 1.7) ** 2 * dist.sf(x, *shapes)), x, second=False)


def test_supports_of_distributions() -> None:
    x = np.array([-1.0, 0.2, 0.6, 3.0])
    found = ad.grad(lambda x: np.sum(stats.triang.pdf(x, 0.3)) + np.sum(stats.powerlaw.sf(x, 0.7)))(x)
    np.testing.assert_allclose(found[1:3], [2 / 0.3, -2 / 0.7] - 0.7 * x[1:3] ** -0.3)
    np.testing.assert_array_equal(found[[0, 3]], 0.0)
    for fn in (
        lambda s: stats.f.logpdf(s, 3, 4) + stats.triang.pdf(s, 0.2) + stats.genpareto.logsf(s, s / 4),
        lambda a: np.sum(stats.betabinom.logpmf(np.arange(5), 7, a, 1.3)) + stats.logser.pmf(3, a),
    ):
        check_program(fn, 0.7, second=False)


def test_shapes_near_which_scipy_takes_a_limit() -> None:
    x = np.array([0.3, -0.2, 1.1])
    check_program(lambda x: np.sum(stats.genextreme.logpdf(x, 0.0)), x, second=False)
    with pytest.raises(AutodiffError, match="SciPy takes a limit"):
        ad.grad(lambda c: np.sum(stats.genextreme.logpdf(x, c)))(0.0)
    with pytest.raises(AutodiffError, match="SciPy takes a limit"):
        ad.jvp(lambda c: np.sum(stats.genextreme.logpdf(x, c)), (0.0,), (1.0,))


def test_derivatives_by_shapes_near_zero_and_large_ones() -> None:
    """Against mpmath, with 40 digits."""
    for found, expected in (
        (betainc_moved(1, 0, 0.001, 50.0, 0.01), -0.5633852228976386),
        (betainc_moved(0, 1, 0.01, 3.0, 5.96e-6), 0.003547414413199778),
        (betainc_moved(2, 0, 0.05, 0.05, 0.5), 99.67869914741107),
        (gammainc_moved(1, 0.001, 5e-4), -6.976645916427911),
        (gammainc_moved(2, 0.02, 0.01), 13.81821013209952),
        (gammainc_moved(1, 1e4, 9000.0), -2.203778116786748e-26),
    ):
        assert found == pytest.approx(expected, rel=1e-11)


def test_distributions_without_a_rule_are_named() -> None:
    with pytest.raises(AutodiffError, match="scipy.stats.nct.logpdf"):
        ad.grad(lambda x: np.sum(stats.nct.logpdf(x, 3.0, 0.4)))(np.ones(2))
    with pytest.raises(AutodiffError, match="no derivative with respect to"):
        ad.grad(lambda a: np.sum(stats.skewnorm.cdf(np.ones(2), a)))(2.0)
    with pytest.raises(AutodiffError, match="no formula"):
        ad.grad(lambda a: stats.exponweib.mean(a, 1.5))(2.0)
    with pytest.raises(AutodiffError, match="no derivative rule"):  # its text looks for the factors of a number
        ad.grad(lambda x: stats.multivariate_normal.cdf(x, np.zeros(3), np.eye(3)))(np.ones(3))


SHAPES_OF_MOMENTS = {
    "norm": (), "expon": (), "uniform": (), "gamma": (P,), "beta": (P, 1.0 + P), "lognorm": (P / 3,), "chi2": (3 * P,),
    "weibull_min": (P,), "t": (4.5 + P,), "pareto": (3.0 + P,), "invgamma": (3.0 + P,), "f": (P, 5 + P),
    "gumbel_r": (), "rayleigh": (), "laplace": (), "logistic": (), "triang": (P / 3,), "genpareto": (P / 9,),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SHAPES_OF_MOMENTS))
def test_moments(name: str) -> None:
    dist, shapes = getattr(stats, name), SHAPES_OF_MOMENTS[name]

    def fn(loc: Any, scale: Any, *shapes: Any) -> Any:
        made = dist(*shapes, loc, scale)
        return np.sum(dist.mean(*shapes, loc=loc, scale=scale) ** 2) + np.sum(made.std() + made.var() ** 2)

    check_program(fn, 0.3, 1.7, *shapes, second=name in ("gamma", "lognorm"))


@pytest.mark.parametrize("name", ["norm", "expon", "gamma", "lognorm", "weibull_min", "pareto", "uniform"])
def test_entropies(name: str) -> None:
    dist, shapes = getattr(stats, name), SHAPES_OF_MOMENTS[name]
    check_program(lambda scale, *shapes: np.sum(dist(*shapes, scale=scale).entropy() ** 2), 1.7, *shapes, second=False)


def test_moments_of_counts_and_quantiles() -> None:
    check_program(lambda m: np.sum(stats.poisson.mean(m) ** 2 + stats.poisson(m).std()), P)
    check_program(lambda p: np.sum(stats.binom.var(8, p / 3, loc=1.0) + stats.geom(p / 3).mean() ** 2), P, second=False)
    check_program(lambda a: np.sum(stats.gamma.median(a) ** 2 + stats.gamma(a).interval(0.9)[1]), P)
    check_program(lambda scale: stats.norm.interval(0.9, 0.3, scale)[0] ** 2 + stats.expon(scale=scale).median(), 1.7)


@pytest.mark.parametrize("n", [9, 40])
def test_tests_of_normality_and_descriptions(n: int) -> None:
    x, y = RNG.gamma(2.0, size=n), RNG.normal(size=n + 3)

    def described(x: Any) -> Any:
        count, (low, high), mean, variance, skewness, kurtosis = stats.describe(x, ddof=0)
        return count * mean + low * high + variance * skewness + kurtosis

    check_program(described, x)
    check_program(lambda x: stats.describe(x).variance * stats.describe(x).minmax[1], x)
    for alternative in ("two-sided", "less", "greater"):
        check_program(lambda x: stats.skewtest(x, alternative=alternative).pvalue, x)
        check_program(lambda x: stats.kurtosistest(x, alternative=alternative).pvalue, x)
        check_program(lambda x, y: stats.ttest_ind(x, y, equal_var=False, alternative=alternative).pvalue, x, y)
    check_program(lambda x: stats.normaltest(x).statistic + stats.normaltest(x).pvalue, x)
    check_program(lambda x, y: np.sum(stats.zmap(x, y, ddof=1) ** 3), x, y)
    check_program(lambda x, y: np.sum(stats.zmap(x, y, axis=1) ** 3), x.reshape(1, -1), y.reshape(1, -1))


def test_mean_directions() -> None:
    x = RNG.uniform(-0.5, 0.5, size=(4, 3))
    check_program(lambda x: np.sum(np.sin(stats.circmean(x, axis=0))), x)
    check_program(lambda x: stats.circmean(x, high=1.5, low=-1.0, axis=None) ** 2, x)
