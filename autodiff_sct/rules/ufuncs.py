"""Rules for the methods of ufuncs: ``outer`` and ``reduceat``; the reductions are in ``reduce`` and ``scan``.

``ufunc.outer(A, B)`` is the ufunc of `A`, with an axis of length 1 for each axis of `B`, and `B`.
"""

from __future__ import annotations

import numpy as np

from ..runtime import gather_adjoint
from . import elementwise
from .shape import along
from .table import forward, reverse, static


def columns(a, b):
    """`a` with an axis of length 1 for each axis of `b`."""
    return np.expand_dims(a, last_axes(np.ndim(b))) if np.ndim(b) > 0 else a


@static
def last_axes(count: int) -> tuple[int, ...]:
    return tuple(range(-count, 0))


def outer_adjoints(rule, y, d, a, b):
    """The entries that the ufunc's own `rule` gives, summed to the shape of `a`; the engine fits that of `b`."""
    d_a, d_b = rule(y, d, columns(a, b), b)
    return np.sum(d_a, last_axes(np.ndim(b))) if np.ndim(b) > 0 else d_a, d_b


def first_tangent(rule, y, d, a, b):
    return rule(y, columns(d, b), columns(a, b), b)[0]


def second_tangent(rule, y, d, a, b):
    return rule(y, d, columns(a, b), b)[1]


@reverse(np.add.outer)
def add_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.add, y, d, A, B)


@forward(np.add.outer)
def push_add_outer(y, d, A, B, /):
    return first_tangent(elementwise.add, y, d, A, B), second_tangent(elementwise.add, y, d, A, B)


@reverse(np.subtract.outer)
def subtract_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.subtract, y, d, A, B)


@forward(np.subtract.outer)
def push_subtract_outer(y, d, A, B, /):
    return first_tangent(elementwise.subtract, y, d, A, B), second_tangent(elementwise.subtract, y, d, A, B)


@reverse(np.multiply.outer)
def multiply_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.multiply, y, d, A, B)


@forward(np.multiply.outer)
def push_multiply_outer(y, d, A, B, /):
    return first_tangent(elementwise.multiply, y, d, A, B), second_tangent(elementwise.multiply, y, d, A, B)


@reverse(np.divide.outer)
def divide_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.divide, y, d, A, B)


@forward(np.divide.outer)
def push_divide_outer(y, d, A, B, /):
    return first_tangent(elementwise.divide, y, d, A, B), second_tangent(elementwise.divide, y, d, A, B)


@reverse(np.power.outer)
def power_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.power, y, d, A, B)


@forward(np.power.outer)
def push_power_outer(y, d, A, B, /):
    return first_tangent(elementwise.power, y, d, A, B), second_tangent(elementwise.power, y, d, A, B)


@reverse(np.maximum.outer)
def maximum_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.maximum, y, d, A, B)


@forward(np.maximum.outer)
def push_maximum_outer(y, d, A, B, /):
    return first_tangent(elementwise.maximum, y, d, A, B), second_tangent(elementwise.maximum, y, d, A, B)


@reverse(np.minimum.outer)
def minimum_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.minimum, y, d, A, B)


@forward(np.minimum.outer)
def push_minimum_outer(y, d, A, B, /):
    return first_tangent(elementwise.minimum, y, d, A, B), second_tangent(elementwise.minimum, y, d, A, B)


@reverse(np.arctan2.outer)
def arctan2_outer(y, d, A, B, /):
    return outer_adjoints(elementwise.arctan2, y, d, A, B)


@forward(np.arctan2.outer)
def push_arctan2_outer(y, d, A, B, /):
    return first_tangent(elementwise.arctan2, y, d, A, B), second_tangent(elementwise.arctan2, y, d, A, B)


@reverse(np.add.reduceat)
def add_reduceat(y, d, array, indices, axis=0):
    segment, place = segments(indices, array.shape[axis])
    return gather_adjoint(np.take(d, segment, axis), array, along(place, axis, array.ndim))


@forward(np.add.reduceat)
def push_add_reduceat(y, d, array, indices, axis=0):
    return np.add.reduceat(d, indices, axis)


def segments(indices, size):
    """Pairs of sums and elements: each sum ends where the next one starts, and has one element."""
    start = np.asarray(indices)
    lengths = np.maximum(np.append(start[1:], size) - start, 1)
    segment = np.repeat(np.arange(start.size), lengths)
    return segment, np.arange(segment.size) - np.repeat(np.cumsum(lengths) - lengths - start, lengths)
