"""Rules for polynomials by their coefficients, highest power first: values, fits, sums, derivatives and integrals."""

from __future__ import annotations

import numpy as np

from ..errors import NoRule
from .scan import vander_slope
from .shape import like_part, upto
from .table import forward, linear, reverse

# Sums, derivatives, integrals


@reverse(np.polyadd)
def polyadd(y, d, a1, a2):
    return last_of(d, a1), last_of(d, a2)


@forward(np.polyadd)
def push_polyadd(y, d, a1, a2):
    return np.polyadd(d, np.zeros_like(a2)), np.polyadd(np.zeros_like(a1), d)


@reverse(np.polysub)
def polysub(y, d, a1, a2):
    return last_of(d, a1), -last_of(d, a2)


@forward(np.polysub)
def push_polysub(y, d, a1, a2):
    return np.polysub(d, np.zeros_like(a2)), np.polysub(np.zeros_like(a1), d)


def last_of(d, like):
    """The part of `d` that the coefficients `like` were added to: the lowest powers."""
    return like_part(d[d.size - np.size(like) :], like)


@linear(np.polyder)
def polyder(y, d, p, m=1):
    return np.concatenate([d * falling(len(p) - 1, m, d.dtype), np.zeros_like(p[:m])])


@linear(np.polyint)
def polyint(y, d, p, m=1):
    return d[: len(p)] / falling(len(p) - 1 + m, m, d.dtype)


def falling(degree, m, dtype):
    """The factors of coefficients in the `m`-th derivative, from that of the power `degree` down to that of `m`."""
    powers = np.arange(degree, m - 1, -1, dtype=dtype)
    factor = powers if m > 0 else np.ones_like(powers)
    for j in upto(m)[1:]:
        factor = factor * (powers - j)
    return factor


# Fits


@reverse(np.polyfit)
def polyfit(p, d, x, y, deg, rcond=None, full=False, w=None):
    q, r, rest = fit_parts(p, x, y, deg, rcond, full, w)
    half = np.linalg.solve(r.T, d)
    d_y = q @ half
    inner = np.linalg.solve(r, half)
    if y.ndim == 1:
        d_rows = np.outer(rest, inner) - np.outer(d_y, p)
    else:
        d_rows = rest @ inner.T - d_y @ p.T
    d_x = np.sum(weighed(d_rows, w) * vander_slope(np.vander(x, deg + 1), False), -1)
    return d_x, weighed(d_y, w)


@forward(np.polyfit)
def push_polyfit(p, d, x, y, deg, rcond=None, full=False, w=None):
    q, r, rest = fit_parts(p, x, y, deg, rcond, full, w)
    return moved_points(d, p, q, r, rest, x, w), np.linalg.solve(r, q.T @ weighed(d, w))


def moved_points(d, p, q, r, rest, x, w):
    """The contribution of the tangent `d` of the points to the coefficients."""
    rows = weighed(np.expand_dims(d, -1) * vander_slope(np.vander(x, r.shape[0]), False), w)
    return np.linalg.solve(r, np.linalg.solve(r.T, rows.T @ rest) - q.T @ (rows @ p))


def fit_parts(p, x, y, deg, rcond, full, w):
    """The factors of the matrix of powers, and what the fit leaves over."""
    if full or rcond is not None:
        raise NoRule("np.polyfit is differentiable with full=False and without rcond")
    rows = weighed(np.vander(x, deg + 1), w)
    q, r = np.linalg.qr(rows)
    return q, r, weighed(y, w) - rows @ p


def weighed(rows, w):
    """`rows` times the weights of the points."""
    if w is None:
        return rows
    return rows * w if rows.ndim == 1 else rows * w[:, None]
