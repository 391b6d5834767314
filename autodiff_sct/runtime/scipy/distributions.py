"""Distributions of ``scipy.stats`` with their parameters fixed, as a differentiated program makes them."""

from __future__ import annotations

from typing import Any

from ...errors import NotDifferentiable

__all__ = ["Frozen", "interval", "median", "several_points"]


def several_points(x: Any) -> None:
    """Raise unless `x` is a vector, or a matrix of several points, of more than one number each."""
    if x.ndim > 2 or 1 in x.shape:
        raise NotDifferentiable(
            f"the shape of scipy.stats.multivariate_normal.logpdf of points of shape {x.shape} depends on that shape",
            "give it one point as a vector, several as a matrix; for one number, use scipy.stats.norm",
            code="setting",
        )


def median(dist: Any, *args: Any, **kwds: Any) -> Any:
    return dist.ppf(0.5, *args, **kwds)


def interval(dist: Any, confidence: Any, *args: Any, **kwds: Any) -> Any:
    return dist.ppf((1.0 - confidence) / 2, *args, **kwds), dist.ppf((1.0 + confidence) / 2, *args, **kwds)


class Frozen:
    """``dist(*args, **kwds)``: the methods of `dist` with these parameters."""

    stands_for = "a distribution"

    def __init__(self, dist: Any, *args: Any, **kwds: Any) -> None:
        self.dist = dist
        self.args = args
        self.kwds = kwds

    def pdf(self, x: Any) -> Any:
        return self.dist.pdf(x, *self.args, **self.kwds)

    def logpdf(self, x: Any) -> Any:
        return self.dist.logpdf(x, *self.args, **self.kwds)

    def pmf(self, k: Any) -> Any:
        return self.dist.pmf(k, *self.args, **self.kwds)

    def logpmf(self, k: Any) -> Any:
        return self.dist.logpmf(k, *self.args, **self.kwds)

    def cdf(self, x: Any) -> Any:
        return self.dist.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x: Any) -> Any:
        return self.dist.logcdf(x, *self.args, **self.kwds)

    def sf(self, x: Any) -> Any:
        return self.dist.sf(x, *self.args, **self.kwds)

    def logsf(self, x: Any) -> Any:
        return self.dist.logsf(x, *self.args, **self.kwds)

    def ppf(self, q: Any) -> Any:
        return self.dist.ppf(q, *self.args, **self.kwds)

    def isf(self, q: Any) -> Any:
        return self.dist.isf(q, *self.args, **self.kwds)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        return self.dist.rvs(*self.args, **self.kwds, size=size, random_state=random_state)

    def mean(self) -> Any:
        return self.dist.mean(*self.args, **self.kwds)

    def median(self) -> Any:
        return self.dist.median(*self.args, **self.kwds)

    def std(self) -> Any:
        return self.dist.std(*self.args, **self.kwds)

    def var(self) -> Any:
        return self.dist.var(*self.args, **self.kwds)

    def entropy(self) -> Any:
        return self.dist.entropy(*self.args, **self.kwds)

    def interval(self, confidence: Any) -> Any:
        return self.dist.interval(confidence, *self.args, **self.kwds)

    def support(self) -> Any:
        return self.dist.support(*self.args, **self.kwds)
