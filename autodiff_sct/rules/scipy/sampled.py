"""Integrals of samples in ``scipy.integrate``, which are linear in them."""

import numpy as np
from scipy import integrate

from ...errors import NoRule
from .. import scan
from ..shape import upto
from ..table import forward, reverse


@reverse(integrate.trapezoid)
def trapezoid(area, d, y, x=None, dx=1.0, axis=-1):
    return scan.trapezoid(area, d, y, x, dx, axis)


@forward(integrate.trapezoid)
def push_trapezoid(area, d, y, x=None, dx=1.0, axis=-1):
    if x is None:
        return integrate.trapezoid(d, dx=dx, axis=axis), None, integrate.trapezoid(y, dx=d, axis=axis)
    return integrate.trapezoid(d, x, axis=axis), integrate.trapezoid(y, d, axis=axis)


@reverse(integrate.cumulative_trapezoid)
def cumulative_trapezoid(area, d, y, x=None, dx=1.0, axis=-1, initial=None):
    d = np.moveaxis(d if initial is None else np.delete(d, 0, axis), axis, -1)
    rest = np.flip(np.cumsum(np.flip(d, -1), -1), -1)
    heights = np.moveaxis(y, axis, -1)
    d_widths = rest * (heights[..., 1:] + heights[..., :-1]) / 2
    pairs = rest * (dx if x is None else np.diff(x)) / 2
    ends = np.zeros_like(pairs[..., :1])
    d_y = np.moveaxis(np.concatenate([pairs, ends], -1) + np.concatenate([ends, pairs], -1), -1, axis)
    if x is None:
        return d_y, None, d_widths
    check_places(x)
    d_x = np.sum(np.reshape(d_widths, (-1, x.size - 1)), 0)
    return d_y, np.concatenate([-d_x[:1], -np.diff(d_x), d_x[-1:]])


@forward(integrate.cumulative_trapezoid)
def push_cumulative_trapezoid(area, d, y, x=None, dx=1.0, axis=-1, initial=None):
    if x is None:
        return (
            integrate.cumulative_trapezoid(d, dx=dx, axis=axis, initial=initial),
            None,
            integrate.cumulative_trapezoid(y, dx=d, axis=axis, initial=initial),
        )
    check_places(x)
    return (
        integrate.cumulative_trapezoid(d, x, axis=axis, initial=initial),
        integrate.cumulative_trapezoid(y, d, axis=axis, initial=initial),
    )


def check_places(x):
    """Refuse places that differ from line to line."""
    if x.ndim > 1:
        raise NoRule("scipy.integrate.cumulative_trapezoid is differentiable for places in a vector")


@reverse(integrate.simpson)
def simpson(area, d, y, x=None, *, dx=1.0, axis=-1):
    weights = integrate.simpson(np.eye(y.shape[axis], dtype=y.dtype), x=x, dx=dx)
    return np.expand_dims(d, axis) * along(weights, y.ndim, axis)


@forward(integrate.simpson)
def push_simpson(area, d, y, x=None, *, dx=1.0, axis=-1):
    return integrate.simpson(d, x=x, dx=dx, axis=axis)


@reverse(integrate.romb)
def romb(area, d, y, dx=1.0, axis=-1, show=False):
    if np.ndim(dx) != 0:
        raise NoRule("scipy.integrate.romb is differentiable with one spacing for all samples")
    weights = integrate.romb(np.eye(y.shape[axis], dtype=y.dtype), dx)
    return np.expand_dims(d, axis) * along(weights, y.ndim, axis)


@forward(integrate.romb)
def push_romb(area, d, y, dx=1.0, axis=-1, show=False):
    return integrate.romb(d, dx, axis)


def along(weights, ndim, axis):
    """A vector as an array that lies along one of several axes."""
    return np.reshape(weights, tuple([weights.size if k == axis % ndim else 1 for k in upto(ndim)]))
