"""Integrals of ``scipy.integrate`` as texts: of samples, and over regions as integrals inside integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

__all__ = ["cumulative_simpson", "double", "end", "single", "swapped", "triple", "with_arguments"]


def cumulative_simpson(y: Any, x: Any, dx: Any, axis: int, initial: Any) -> Any:
    """``cumulative_simpson(y, x=x, dx=dx, axis=axis, initial=initial)``."""
    y = np.moveaxis(y, axis, -1)
    if x is None:
        steps = np.full(y.shape[-1] - 1, 1.0) * (dx if np.ndim(dx) == 0 else np.moveaxis(dx, axis, -1))
    else:
        steps = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    found = np.cumsum(between(y, steps), -1)
    if initial is not None:
        start = initial if np.ndim(initial) == 0 else np.moveaxis(initial, axis, -1)
        found = np.concatenate([np.zeros_like(y[..., :1]), found], -1) + start
    return np.moveaxis(found, -1, axis)


def between(y: Any, steps: Any) -> Any:
    """The integrals over each step: by the parabola through the next point, at the last one through the one before."""
    last = y.shape[-1] - 2
    if last == 0:
        return steps * (y[..., 1:] + y[..., :-1]) / 2
    ahead = over_first(y, steps)
    back = np.flip(over_first(np.flip(y, -1), np.flip(steps, -1)), -1)
    none = np.zeros_like(ahead[..., :1])
    at = np.arange(last + 1)
    own = (at % 2 == 0) & (at < last)
    return np.where(own, np.concatenate([ahead, none], -1), np.concatenate([none, back], -1))


def over_first(y: Any, steps: Any) -> Any:
    """The integrals over the first of two steps of the parabola through three points."""
    h, k = steps[..., :-1], steps[..., 1:]
    part, ratio = h / (h + k), h / k
    mixed = part * ratio
    return h / 6 * ((3 - part) * y[..., :-2] + (3 + mixed + part) * y[..., 1:-1] - mixed * y[..., 2:])


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


def simpson(y: Any, x: Any, axis: Any) -> Any:
    """``simpson(y, x=x, axis=axis)`` by the places, too: of an even number the last interval is that of a parabola."""
    y, x = np.moveaxis(y, axis, -1), x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)
    count = y.shape[-1]
    if count == 2:
        return 0.5 * (x[..., 1] - x[..., 0]) * (y[..., 1] + y[..., 0])
    whole = parabolas(y[..., : count - 1 + count % 2], x[..., : count - 1 + count % 2])
    if count % 2 == 1:
        return whole
    h0, h1 = x[..., -2] - x[..., -3], x[..., -1] - x[..., -2]
    last = (2 * h1**2 + 3 * h0 * h1) / (6 * (h1 + h0)) * y[..., -1]
    return whole + last + (h1**2 + 3 * h0 * h1) / (6 * h0) * y[..., -2] - h1**3 / (6 * h0 * (h0 + h1)) * y[..., -3]


def parabolas(y: Any, x: Any) -> Any:
    """The area below parabolas, each through three points of an odd number."""
    h = x[..., 1:] - x[..., :-1]
    h0, h1 = h[..., ::2], h[..., 1::2]
    outer = y[..., :-2:2] * (2 - h1 / h0) + y[..., 2::2] * (2 - h0 / h1)
    return np.sum((h0 + h1) / 6 * (outer + y[..., 1:-1:2] * (h0 + h1) ** 2 / (h0 * h1)), -1)
