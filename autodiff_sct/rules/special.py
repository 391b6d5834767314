"""Polynomials by their coefficients, complex numbers, conversions between kinds of numbers, and special functions.

For complex numbers ``d`` is not conjugated in a holomorphic function's rule: with the pairing ``Re(sum(a * b))``, the
convention of JAX and HIPS autograd, ``d -> f'(z) * d`` is its own transpose, and so are ``d -> conj(d)`` and, for a
real result, ``d -> c * d``, whose real part the engine takes in forward mode.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from ..errors import NoRule
from ..runtime import unbroadcast
from ..runtime.memory import with_imag
from ..runtime.scalar_functions import polygamma
from .elementwise import nonzero
from .scan import vander_slope
from .shape import like_part, upto
from .table import elementwise, forward, linear, reverse, steps_of_reals

# Complex numbers


@elementwise(np.real)
def real(y, d, val):
    return d


@elementwise(np.imag)
def imag(y, d, val):
    return -1j * d if np.iscomplexobj(val) else 0.0


@reverse(with_imag)
def of_with_imag(y, d, z, part):
    return np.real(d), unbroadcast(-np.imag(d), part)


@forward(with_imag)
def push_with_imag(y, d, z, part):
    return np.real(d) + 0j, np.broadcast_to(1j * d, np.shape(y))


@elementwise(np.conjugate)
def conjugate(y, d, x):
    return np.conj(d) if np.iscomplexobj(x) else d


@elementwise(cmath.phase)
def phase(y, d, z):
    return -1j * d / z if np.iscomplexobj(z) else 0.0


@reverse(cmath.polar)
def polar(y, d, z):
    d_size = 0.0 if d[0] is None else d[0]
    d_phase = 0.0 if d[1] is None else d[1]
    return (d_size - 1j * d_phase / nonzero(y[0])) * cmath.rect(1.0, -y[1])


@forward(cmath.polar)
def push_polar(y, d, z):
    turned = d * cmath.rect(1.0, -y[1])
    return ((np.real(turned), np.imag(turned) / nonzero(y[0])),)


@elementwise(cmath.rect)
def rect(y, d, r, phi, /):
    return d * cmath.rect(1.0, phi), 1j * d * y


@elementwise(np.angle)
def angle(y, d, z, deg=False):
    if not np.iscomplexobj(z):
        return 0.0
    return -1j * (d * (180 / np.pi)) / z if deg else -1j * d / z


steps_of_reals(np.sign)


@reverse(np.sign)
def sign(y, d, x, /):
    # Of a complex number it is z / |z|, which only a turn changes; 0 at 0.
    return 1j * np.imag(d * y) * np.conj(y) / nonzero(np.abs(x)) if np.iscomplexobj(x) else 0.0


@forward(np.sign)
def push_sign(y, d, x, /):
    return 1j * np.imag(d * np.conj(y)) * y / nonzero(np.abs(x)) if np.iscomplexobj(x) else 0.0


@elementwise(complex)
def make_complex(y, d, x=0, imag=0, /):
    return d, 1j * d


@elementwise(np.float32, np.longdouble, np.complex64, np.complex128, np.clongdouble)
def convert(y, d, x=0):
    return d


# Special functions


@elementwise(np.sinc)
def sinc(y, d, x):
    return d * sinc_slope(y, x)


def sinc_slope(y, x):
    """The derivative of ``sin(pi x) / (pi x)``; by its Taylor series where the quotient would cancel."""
    small = np.abs(x) < 0.1
    square = (np.pi * x) ** 2
    series = -(np.pi**2) * x / 3 * (1 - square / 10 * (1 - square / 28 * (1 - square / 54 * (1 - square / 88))))
    return np.where(small, series, (np.cos(np.pi * x) - y) / np.where(small, 1, x))


@elementwise(np.i0)
def i0(y, d, x):
    return d * bessel_slope(x)


def bessel_slope(x):
    """The derivative of ``np.i0``: the mean of ``cos(t) * exp(x * cos(t))`` over a circle, by the midpoint rule.

    That converges faster than any power: 128 points on half of the circle are exact wherever the value is finite.
    """
    c = np.cos((np.arange(128) + 0.5) * (np.pi / 128)).astype(np.result_type(x))
    return np.mean(c * np.exp(np.expand_dims(x, -1) * c), -1)


@elementwise(math.erf)
def erf(y, d, x):
    return d * (2 / math.sqrt(math.pi)) * math.exp(-x * x)


@elementwise(math.erfc)
def erfc(y, d, x):
    return -d * (2 / math.sqrt(math.pi)) * math.exp(-x * x)


@elementwise(math.gamma)
def gamma(y, d, x):
    return d * y * polygamma(0, x)


@elementwise(math.lgamma)
def lgamma(y, d, x):
    return d * polygamma(0, x)


@elementwise(polygamma)
def of_polygamma(y, d, order, x):
    return None, d * polygamma(order + 1, x)


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
