"""Integrals over regions of ``scipy.integrate``, as integrals inside integrals."""

from __future__ import annotations

from typing import Any

from scipy import integrate

__all__ = ["double", "end", "single", "swapped", "triple", "with_arguments"]


def with_arguments(func: Any, args: Any, *variables: Any) -> Any:
    """The value of a function of the variables, with other arguments behind them."""
    return func(*variables, *args)


def end(limits: Any, k: int, args: Any, *later: Any) -> Any:
    """One of both limits that a function of ``nquad`` returns."""
    return limits(*later, *args)[k]


def swapped(limit: Any, y: Any, x: Any) -> Any:
    """A limit of ``tplquad``, which takes the variables in the other order."""
    return limit(x, y)


def limits(limit: Any, *later: Any) -> Any:
    """A limit, which may be a function of the variables that are integrated later."""
    return limit(*later) if callable(limit) else limit


def single(func: Any, low: Any, high: Any, settings: Any, *later: Any) -> Any:
    """The integral over the first variable, at the values of the others."""

    def integrand(x: Any) -> Any:
        return func(x, *later)

    return integrate.quad(integrand, limits(low, *later), limits(high, *later), **dict(settings))


def double(func: Any, lows: Any, highs: Any, settings: Any, *later: Any) -> Any:
    """The integral over the first two variables."""

    def integrand(y: Any) -> Any:
        return single(func, lows[0], highs[0], settings, y, *later)[0]

    return integrate.quad(integrand, limits(lows[1], *later), limits(highs[1], *later), **dict(settings))


def triple(func: Any, lows: Any, highs: Any, settings: Any, *later: Any) -> Any:
    """The integral over the first three variables."""

    def integrand(z: Any) -> Any:
        return double(func, lows, highs, settings, z, *later)[0]

    return integrate.quad(integrand, limits(lows[2], *later), limits(highs[2], *later), **dict(settings))
