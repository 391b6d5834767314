"""Statistics of ``scipy.stats`` as texts in NumPy, of which derivatives are taken; SciPy computes the values.

The samples are the parameters without a ``*`` before them, under SciPy's names; they lie along the last axis.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from ...errors import NoRule

__all__ = ["SAMPLES"]


class Result(NamedTuple):
    """The result of a test."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """The result of ``linregress``."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


class Description(NamedTuple):
    """The result of ``describe``."""

    nobs: Any
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


Result.stands_for = Line.stands_for = Description.stands_for = "a result of scipy.stats"  # type: ignore[attr-defined]


# Means


def mean(a: Any, weights: Any) -> Any:
    return np.mean(a, -1) if weights is None else np.sum(a * weights, -1) / np.sum(weights, -1)


def gmean(a: Any, weights: Any = None) -> Any:
    return np.exp(mean(np.log(a), weights))


def hmean(a: Any, weights: Any = None) -> Any:
    return 1 / mean(1 / a, weights)


def pmean(a: Any, weights: Any = None, *, p: Any) -> Any:
    return mean(a**p, weights) ** (1 / p)


def trim_mean(a: Any, *, proportiontocut: Any) -> Any:
    cut = int(proportiontocut * a.shape[-1])
    return np.mean(np.sort(a, -1)[..., cut : a.shape[-1] - cut], -1)


def gstd(a: Any, *, ddof: Any) -> Any:
    return np.exp(np.std(np.log(a), -1, ddof=ddof))


# Moments


def kstat(data: Any, *, n: Any) -> Any:
    """The unbiased estimate of a cumulant, from the central moments."""
    size, m, n = data.shape[-1], centred(data), int(n)  # as SciPy reads it
    if n == 1:
        return np.mean(data, -1)
    second = np.mean(m**2, -1)
    if n == 2:
        return second * size / (size - 1)
    if n == 3:
        return np.mean(m**3, -1) * size**2 / ((size - 1) * (size - 2))
    fourth = (size + 1) * np.mean(m**4, -1) - 3 * (size - 1) * second**2
    return fourth * size**2 / ((size - 1) * (size - 2) * (size - 3))


def kstatvar(data: Any, *, n: Any) -> Any:
    size, second = data.shape[-1], kstat(data, n=2)
    if int(n) == 1:
        return second / size
    return (2 * size * second**2 + (size - 1) * kstat(data, n=4)) / (size * (size + 1))


def lmoment(sample: Any, *, order: Any, standardize: Any) -> Any:
    ordered = np.sort(sample, -1)
    if order is not None and np.ndim(order) == 0:
        return one_lmoment(ordered, order, standardize)
    return np.stack([one_lmoment(ordered, k, standardize) for k in ((1, 2, 3, 4) if order is None else order)])


def one_lmoment(ordered: Any, k: int, standardize: bool) -> Any:
    """An L-moment of numbers in their order, or its ratio to the second one."""
    n = ordered.shape[-1]
    weights = np.zeros(n)
    for r in range(k):
        factor = (1 - 2 * ((k - 1 - r) % 2)) * math.comb(k - 1, r) * math.comb(k - 1 + r, r) / special.binom(n - 1, r)
        weights = weights + factor * special.binom(np.arange(n), r)
    found = np.sum(ordered * weights, -1) / n
    return found / one_lmoment(ordered, 2, False) if standardize and k > 2 else found


def centred(a: Any) -> Any:
    return a - np.mean(a, -1, keepdims=True)


def moment(a: Any, *, order: Any, center: Any) -> Any:
    return np.mean((centred(a) if center is None else a - center) ** order, -1)


def skew(a: Any, *, bias: Any = True) -> Any:
    c, n = centred(a), a.shape[-1]
    found = np.mean(c**3, -1) / np.mean(c * c, -1) ** 1.5
    return found if bias else math.sqrt(n * (n - 1)) / (n - 2) * found


def kurtosis(a: Any, *, fisher: Any = True, bias: Any = True) -> Any:
    c, n = centred(a), a.shape[-1]
    found = np.mean(c**4, -1) / np.mean(c * c, -1) ** 2 - 3
    unbiased = found if bias else ((n * n - 1) * found + 6 * (n - 1)) / ((n - 2) * (n - 3))
    return unbiased if fisher else unbiased + 3


def variation(a: Any, *, ddof: Any) -> Any:
    return np.std(a, -1, ddof=ddof) / np.mean(a, -1)


def sem(a: Any, *, ddof: Any = 1) -> Any:
    return np.std(a, -1, ddof=ddof) / math.sqrt(a.shape[-1])


def describe(a: Any, *, ddof: Any, bias: Any) -> Any:
    extremes = (np.min(a, -1), np.max(a, -1))
    return Description(
        a.shape[-1], extremes, np.mean(a, -1), np.var(a, -1, ddof=ddof), skew(a, bias=bias), kurtosis(a, bias=bias)
    )


# Samples within limits


def inside(a: Any, limits: Any, inclusive: Any) -> Any:
    lower, upper = (None, None) if limits is None else limits
    found = np.ones_like(a, bool)
    if lower is not None:
        found = found & (a >= lower if inclusive[0] else a > lower)
    if upper is not None:
        found = found & (a <= upper if inclusive[1] else a < upper)
    return found


def tmean(a: Any, *, limits: Any, inclusive: Any) -> Any:
    return np.mean(a, -1, where=inside(a, limits, inclusive))


def tvar(a: Any, *, limits: Any, inclusive: Any, ddof: Any) -> Any:
    return np.var(a, -1, ddof=ddof, where=inside(a, limits, inclusive))


def tstd(a: Any, *, limits: Any, inclusive: Any, ddof: Any) -> Any:
    return np.sqrt(tvar(a, limits=limits, inclusive=inclusive, ddof=ddof))


def tsem(a: Any, *, limits: Any, inclusive: Any, ddof: Any) -> Any:
    counts = np.sum(inside(a, limits, inclusive), -1)
    return tstd(a, limits=limits, inclusive=inclusive, ddof=ddof) / np.sqrt(counts)


def tmin(a: Any, *, lowerlimit: Any, inclusive: Any) -> Any:
    return np.min(np.where(inside(a, (lowerlimit, None), (inclusive, True)), a, np.inf), -1)


def tmax(a: Any, *, upperlimit: Any, inclusive: Any) -> Any:
    return np.max(np.where(inside(a, (None, upperlimit), (True, inclusive)), a, -np.inf), -1)


# Quantiles


def iqr(x: Any, *, rng: Any, scale: Any, interpolation: Any) -> Any:
    span = np.percentile(x, rng[1], -1, method=interpolation) - np.percentile(x, rng[0], -1, method=interpolation)
    return span / (2 * special.ndtri(0.75) if scale == "normal" else scale)


def median_abs_deviation(x: Any, *, center: Any, scale: Any) -> Any:
    middle = np.median(x, -1, keepdims=True) if center is None else np.expand_dims(center(x, axis=-1), -1)
    found = np.median(np.abs(x - middle), -1)
    return found / (special.ndtri(0.75) if scale == "normal" else scale)


def quantile(x: Any, *, p: Any, method: Any) -> Any:
    return np.quantile(x, p, -1, method=method)


# Directions


def mean_vector(samples: Any, high: Any, low: Any) -> Any:
    """The mean of the unit vectors."""
    angles = (samples - low) * (2 * math.pi / (high - low))
    return np.mean(np.sin(angles), -1), np.mean(np.cos(angles), -1)


def mean_direction(samples: Any, high: Any, low: Any) -> Any:
    """The length of the mean of the unit vectors."""
    return np.hypot(*mean_vector(samples, high, low))


def circmean(samples: Any, *, high: Any, low: Any) -> Any:
    return np.arctan2(*mean_vector(samples, high, low)) * ((high - low) / (2 * math.pi)) + low


def circvar(samples: Any, *, high: Any, low: Any) -> Any:
    return 1 - mean_direction(samples, high, low)


def circstd(samples: Any, *, high: Any, low: Any, normalize: Any) -> Any:
    found = np.sqrt(-2 * np.log(mean_direction(samples, high, low)))
    return found if normalize else found * ((high - low) / (2 * math.pi))


# Information


def entropy(pk: Any, qk: Any = None, *, base: Any) -> Any:
    p = pk / np.sum(pk, -1, keepdims=True)
    terms = special.entr(p) if qk is None else special.rel_entr(p, qk / np.sum(qk, -1, keepdims=True))
    found = np.sum(terms, -1)
    return found if base is None else found / np.log(base)


# Transformations


def zmap(scores: Any, compare: Any, axis: Any, ddof: Any) -> Any:
    middle, spread = np.mean(compare, axis, keepdims=True), np.std(compare, axis, ddof=ddof, keepdims=True)
    return (scores - middle) / spread


def boxcox_llf(data: Any, *, lmb: Any) -> Any:
    spread = np.var(special.boxcox(data, lmb), -1)
    return (lmb - 1) * np.sum(np.log(data), -1) - data.shape[-1] / 2 * np.log(spread)


def yeojohnson_llf(data: Any, *, lmb: Any) -> Any:
    above, below = np.where(data > 0, data, 0.0), np.where(data < 0, -data, 0.0)
    spread = np.var(special.boxcox1p(above, lmb) - special.boxcox1p(below, 2 - lmb), -1)
    return (lmb - 1) * np.sum(np.log1p(above) - np.log1p(below), -1) - data.shape[-1] / 2 * np.log(spread)


# Correlation and regression


def pearsonr(x: Any, y: Any, *, alternative: Any) -> Any:
    a, b = centred(x), centred(y)
    r = np.sum(a * b, -1) / np.sqrt(np.sum(a * a, -1) * np.sum(b * b, -1))
    return Result(r, pvalue_of_t(t_of(r, x.shape[-1]), x.shape[-1] - 2, alternative))


def t_of(r: Any, n: Any) -> Any:
    """A correlation as a variable of Student's distribution."""
    r = np.clip(r, -1.0, 1.0)
    return r * np.sqrt((n - 2) / ((1 - r + 1e-20) * (1 + r + 1e-20)))


def linregress(x: Any, y: Any, *, alternative: Any) -> Any:
    a, b, n = centred(x), centred(y), x.shape[-1]
    xx, xy, yy = np.sum(a * a, -1), np.sum(a * b, -1), np.sum(b * b, -1)
    slope, r = xy / xx, xy / np.sqrt(xx * yy)
    rest = yy / xx - slope * slope  # zero for points on a line, where the error has no derivative
    error = np.where(rest > 0, np.sqrt(np.where(rest > 0, rest, 1.0) / (n - 2)), 0.0)[()]
    pvalue = pvalue_of_t(t_of(r, n), n - 2, alternative)
    return Line(slope, np.mean(y, -1) - slope * np.mean(x, -1), r, pvalue, error)


# Tests


def pvalue_of_t(t: Any, df: Any, alternative: Any) -> Any:
    if not isinstance(df, int):
        return tails(0.5 - area_of_t(t, df), t, alternative)
    if alternative == "two-sided":
        return 2 * stats.t.sf(np.abs(t), df)
    return stats.t.cdf(t, df) if alternative == "less" else stats.t.sf(t, df)


def pvalue_of_z(z: Any, alternative: Any) -> Any:
    return tails(special.ndtr(-np.abs(z)), z, alternative)


def tails(beyond: Any, t: Any, alternative: Any) -> Any:
    """The probability of what a test asks about, from that of values beyond ``|t|`` on one side."""
    if alternative == "two-sided":
        return 2 * beyond
    return np.where((t < 0) == (alternative == "less"), beyond, 1 - beyond)[()]


NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)


def area_of_t(t: Any, df: Any) -> Any:
    """The integral of Student's density from 0 to ``|t|``, by angles, also for degrees of freedom with a derivative."""
    angle = np.arctan(np.abs(t) / np.sqrt(df))[..., None] / 2
    powers = np.cos(angle * (1 + NODES)) ** (df[..., None] - 1)
    factor = np.exp(special.gammaln((df + 1) / 2) - special.gammaln(df / 2)) / math.sqrt(math.pi)
    return factor * np.sum(angle * WEIGHTS * powers, -1)


def ttest_1samp(a: Any, *, popmean: Any, alternative: Any) -> Any:
    t = (np.mean(a, -1) - popmean) / sem(a)
    return Result(t, pvalue_of_t(t, a.shape[-1] - 1, alternative))


def ttest_rel(a: Any, b: Any, *, alternative: Any) -> Any:
    return ttest_1samp(a - b, popmean=0.0, alternative=alternative)


def ttest_ind(a: Any, b: Any, *, equal_var: Any, alternative: Any) -> Any:
    n, m = a.shape[-1], b.shape[-1]
    first, second = np.var(a, -1, ddof=1), np.var(b, -1, ddof=1)
    if equal_var:
        df = n + m - 2
        spread = ((n - 1) * first + (m - 1) * second) / df * (1 / n + 1 / m)
    else:
        spread = first / n + second / m
        df = spread**2 / ((first / n) ** 2 / (n - 1) + (second / m) ** 2 / (m - 1))
    t = (np.mean(a, -1) - np.mean(b, -1)) / np.sqrt(spread)
    return Result(t, pvalue_of_t(t, df, alternative))


def f_oneway(*samples: Any) -> Any:
    k, n = len(samples), sum([a.shape[-1] for a in samples])
    middle = sum([np.sum(a, -1) for a in samples]) / n
    between = sum([a.shape[-1] * (np.mean(a, -1) - middle) ** 2 for a in samples])
    within = sum([np.sum(centred(a) ** 2, -1) for a in samples])
    f = between / (k - 1) / (within / (n - k))
    return Result(f, special.fdtrc(k - 1, n - k, f))


def levene(*samples: Any, center: Any) -> Any:
    if center not in ("median", "mean"):
        raise NoRule("scipy.stats.levene is differentiable with center='median' and center='mean'")
    middle = np.median if center == "median" else np.mean
    return f_oneway(*[np.abs(a - middle(a, -1, keepdims=True)) for a in samples])


def bartlett(*samples: Any) -> Any:
    k, n = len(samples), sum([a.shape[-1] for a in samples])
    spreads = [np.var(a, -1, ddof=1) for a in samples]
    pooled = sum([(a.shape[-1] - 1) * spread for a, spread in zip(samples, spreads)]) / (n - k)
    logs = sum([(a.shape[-1] - 1) * np.log(spread) for a, spread in zip(samples, spreads)])
    factor = 1 + (sum([1 / (a.shape[-1] - 1) for a in samples]) - 1 / (n - k)) / (3 * (k - 1))
    found = ((n - k) * np.log(pooled) - logs) / factor
    pvalue = np.where(found > 0, special.chdtrc(k - 1, np.where(found > 0, found, 1.0)), 1.0)[()]
    return Result(found, pvalue)


def jarque_bera(x: Any) -> Any:
    found = x.shape[-1] / 6 * (skew(x) ** 2 + kurtosis(x) ** 2 / 4)
    return Result(found, np.exp(-found / 2))


def skewtest(a: Any, *, alternative: Any) -> Any:
    n = a.shape[-1]
    ratio = skew(a) * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w2 = math.sqrt(2 * (beta - 1)) - 1
    z = np.arcsinh(ratio / math.sqrt(2 / (w2 - 1))) / math.sqrt(0.5 * math.log(w2))
    return Result(z, pvalue_of_z(z, alternative))


def kurtosistest(a: Any, *, alternative: Any) -> Any:
    n = a.shape[-1]
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis(a, fisher=False) - 3 * (n - 1) / (n + 1)) / math.sqrt(variance)
    root = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    freedom = 6 + 8 / root * (2 / root + math.sqrt(1 + 4 / root**2))
    term = 1 - 2 / (9 * freedom)
    below = 1 + x * math.sqrt(2 / (freedom - 4))
    z = (term - np.sign(below) * np.cbrt((1 - 2 / freedom) / np.abs(below))) / math.sqrt(2 / (9 * freedom))
    return Result(z, pvalue_of_z(z, alternative))


def normaltest(a: Any) -> Any:
    found = (
        skewtest(a, alternative="two-sided").statistic ** 2 + kurtosistest(a, alternative="two-sided").statistic ** 2
    )
    return Result(found, np.exp(-found / 2))


def power_divergence(f_obs: Any, f_exp: Any = None, *, ddof: Any, lambda_: Any) -> Any:
    expected = np.mean(f_obs, -1, keepdims=True) if f_exp is None else f_exp
    power = POWERS[lambda_] if isinstance(lambda_, str) else 1.0 if lambda_ is None else lambda_
    if power == 1:
        terms = (f_obs - expected) ** 2 / expected
    elif power == 0:
        terms = 2 * special.xlogy(f_obs, f_obs / expected)
    elif power == -1:
        terms = 2 * special.xlogy(expected, expected / f_obs)
    else:
        terms = f_obs * ((f_obs / expected) ** power - 1) / (0.5 * power * (power + 1))
    found = np.sum(terms, -1)
    return Result(found, special.chdtrc(f_obs.shape[-1] - 1 - ddof, found))


def chisquare(f_obs: Any, f_exp: Any = None, *, ddof: Any) -> Any:
    return power_divergence(f_obs, f_exp, ddof=ddof, lambda_=1.0)


POWERS = {
    "pearson": 1.0,
    "log-likelihood": 0.0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "cressie-read": 2 / 3,
}

# One number for each set of samples, or a named tuple of such
SAMPLES = (
    *(gmean, hmean, pmean, trim_mean, gstd, moment, skew, kurtosis, variation, sem, kstat),
    *(kstatvar, lmoment),
    *(tmean, tvar, tstd, tsem, tmin, tmax, iqr, median_abs_deviation, quantile, circmean, circvar, circstd, entropy),
    *(boxcox_llf, yeojohnson_llf, pearsonr, linregress, ttest_1samp, ttest_rel, ttest_ind),
    *(
        describe,
        skewtest,
        kurtosistest,
        normaltest,
        f_oneway,
        levene,
        bartlett,
        jarque_bera,
        power_divergence,
        chisquare,
    ),
)
