"""Methods of a distribution from SciPy's texts of the standard one, without location and scale.

Derivatives are taken from these texts; SciPy computes the values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import NotDifferentiable

__all__ = ["TEXTS"]

STANDS_FOR = "scipy"  # the texts of SciPy that are called here are followed


def logpdf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    z = (x - loc) / scale
    return np.where(support(dist, z, *shapes)[0], of_points(dist, dist._logpdf, z, shapes) - np.log(scale), -np.inf)


def pdf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    z = (x - loc) / scale
    return np.where(support(dist, z, *shapes)[0], of_points(dist, dist._pdf, z, shapes) / scale, 0.0)


def logpmf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    z = x - loc
    inside = support(dist, z, *shapes)[0] & (z == np.floor(z))
    return np.where(inside, of_points(dist, dist._logpmf, z, shapes), -np.inf)


def pmf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    z = x - loc
    inside = support(dist, z, *shapes)[0] & (z == np.floor(z))
    return np.where(inside, of_points(dist, dist._pmf, z, shapes), 0.0)


def cdf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return within_support(dist, dist._cdf, (x - loc) / scale, shapes)


def sf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return within_support(dist, dist._sf, (x - loc) / scale, shapes)


def logcdf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return within_support(dist, dist._logcdf, (x - loc) / scale, shapes)


def logsf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return within_support(dist, dist._logsf, (x - loc) / scale, shapes)


def ppf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return of_arrays(dist._ppf, x, shapes) * scale + loc


def isf(dist: Any, x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return of_arrays(dist._isf, x, shapes) * scale + loc


def within_support(dist: Any, method: Any, z: Any, shapes: Any) -> Any:
    """A method that is constant outside of the support."""
    return np.where(support(dist, z, *shapes)[0], of_points(dist, method, z, shapes), 0.0)


def of_points(dist: Any, method: Any, z: Any, shapes: Any) -> Any:
    """A method at the points of the support, and at one of these in the place of all others."""
    within, middle = support(dist, z, *shapes)
    return of_arrays(method, np.where(within, z, middle), shapes)


def of_arrays(method: Any, z: Any, shapes: Any) -> Any:
    """A method of one vector for the points and one for each shape: SciPy's texts take no others."""
    size = np.broadcast_shapes(np.shape(z), *[np.shape(shape) for shape in shapes])
    lines = [np.ravel(np.broadcast_to(value, size)) for value in (z, *[regular(shape) for shape in shapes])]
    return np.reshape(method(*lines), size)


def regular(shape: Any) -> Any:
    """A shape; its derivative is refused near zero, where SciPy's texts take a limit instead of the formula."""
    return shape


def check_regular(shape: Any) -> None:
    """Raise where a shape is so near to zero that SciPy's texts may take a limit."""
    if np.any(np.abs(shape) < 1e-4):
        raise NotDifferentiable(
            "a shape of a distribution of scipy.stats is zero, where SciPy takes a limit of the density",
            "start from another shape, such as 0.01",
            code="setting",
        )


def support(dist: Any, z: Any, *shapes: Any) -> Any:
    """True where `z` is in the support, and a point of the support; neither has a derivative."""
    low, high = dist._get_support(*shapes)
    with np.errstate(invalid="ignore"):
        within = (low <= z) & (z <= high)
        middle = np.where(np.isinf(low), high - 1, np.where(np.isinf(high), low + 1, (low + high) / 2))
    return within, np.where(np.isinf(low) & np.isinf(high), 0.0, middle)


TEXTS = {text.__name__: text for text in (logpdf, pdf, logpmf, pmf, cdf, sf, logcdf, logsf, ppf, isf)}


# Moments: `own` says which of SciPy's texts a distribution has of its own


def mean(dist: Any, own: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return loc + scale * moments(dist, own, shapes)[0]


def var(dist: Any, own: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return moments(dist, own, shapes)[1] * scale * scale


def std(dist: Any, own: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    return np.sqrt(var(dist, own, loc, scale, *shapes))


def entropy(dist: Any, own: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
    size = np.broadcast_shapes(*[np.shape(shape) for shape in shapes])
    lines = [np.ravel(np.broadcast_to(regular(shape), size)) for shape in shapes]
    return np.reshape(dist._entropy(*lines), size) + np.log(scale)


def moments(dist: Any, own: Any, shapes: Any) -> Any:
    """The mean and the variance of the standard distribution."""
    size = np.broadcast_shapes(*[np.shape(shape) for shape in shapes])
    lines = [np.ravel(np.broadcast_to(regular(shape), size)) for shape in shapes]
    first = second = None
    if "_stats" in own:
        first, second, *_ = dist._stats(*lines)
    if first is None:
        first = dist._munp(1, *lines)
    if second is None:
        second = dist._munp(2, *lines) - first * first
    return np.reshape(first, size), np.reshape(second, size)


MOMENTS = {text.__name__: text for text in (mean, var, std, entropy)}
