"""Rules for functions that make arrays, and functions through which no derivative flows.

What an array is filled with is differentiable; its shape is not.

Either their results are integers, booleans or descriptions of an array, or they are constant between isolated steps.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator

import numpy as np

from ..errors import NoRule
from ..runtime import ones_like, spread, unbroadcast, zeros_like
from ..runtime.broadcast import common_length
from ..runtime.linalg.degenerate import (
    away_from_mean,
    away_from_zero,
    infinite_at_equal,
    infinite_at_zero,
    nan_at_equal,
    nan_at_zero,
)
from ..runtime.linalg.slopes import nan_at_zero_norm
from ..runtime.scatter import strided_places
from ..runtime.segments import steps_within
from ..runtime.sorting import interval_of, order_in_memory, order_of
from .table import broadcasting, forward, nondifferentiable, reverse

broadcasting(np.full, np.full_like, np.linspace, np.logspace, np.geomspace, unbroadcast, spread)

nondifferentiable(zeros_like, ones_like)
nondifferentiable(
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.zeros_like, np.ones_like, np.empty_like,
    np.bartlett, np.blackman, np.hamming, np.hanning,
    np.linalg.matrix_rank,
)  # fmt: skip


@reverse(np.full)
def full(y, d, shape, fill_value, dtype=None):
    return None, d


@forward(np.full)
def push_full(y, d, shape, fill_value, dtype=None):
    return None, np.full(shape, d)


@reverse(np.full_like)
def full_like(y, d, a, fill_value, dtype=None):
    return 0.0, d


@forward(np.full_like)
def push_full_like(y, d, a, fill_value, dtype=None):
    return 0.0, np.full_like(y, d)


@reverse(np.linspace)
def linspace(y, d, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    share = np.linspace(0.0, 1.0, num, endpoint, dtype=d.dtype)
    if d.ndim == 1:
        return d @ (1.0 - share), d @ share
    return np.tensordot(1.0 - share, d, (0, axis)), np.tensordot(share, d, (0, axis))


@forward(np.linspace)
def push_linspace(y, d, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    return (
        np.linspace(d, np.zeros_like(stop), num, endpoint, axis=axis),
        np.linspace(np.zeros_like(start), d, num, endpoint, axis=axis),
    )


@reverse(np.arange)
def arange(y, d, start_or_stop, stop=None, step=1, *, dtype=None):
    if stop is None:
        return 0.0, None, d @ np.arange(y.size, dtype=d.dtype)
    return np.sum(d), 0.0, d @ np.arange(y.size, dtype=d.dtype)


@forward(np.arange)
def push_arange(y, d, start_or_stop, stop=None, step=1, *, dtype=None):
    first = 0.0 if stop is None else 1.0
    return np.full_like(y, first * d), 0.0, d * np.arange(y.size)


@reverse(np.logspace)
def logspace(y, d, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    d_start, d_stop = linspace(exponents, d * y * log_of(base), start, stop, num, endpoint, axis=axis)
    return d_start, d_stop, None, None, np.sum(d * y * exponents) / base


@forward(np.logspace)
def push_logspace(y, d, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    of_start, of_stop = push_linspace(exponents, d, start, stop, num, endpoint, axis=axis)
    return y * log_of(base) * of_start, y * log_of(base) * of_stop, None, None, d * y * exponents / base


def log_of(base):
    if np.ndim(base) > 0:
        raise NoRule("np.logspace is differentiable with one number as base")
    return math.log(base) if isinstance(base, (int, float)) else np.log(base)


@reverse(np.geomspace)
def geomspace(y, d, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    # y = start ** (1 - share) * stop ** share
    d_start, d_stop = linspace(y, d * y, start, stop, num, endpoint, axis=axis)
    return d_start / start, d_stop / stop


@forward(np.geomspace)
def push_geomspace(y, d, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    of_start, of_stop = push_linspace(y, d / start, start, stop, num, endpoint, axis=axis)[0], d / stop
    return y * of_start, y * push_linspace(y, of_stop, start, stop, num, endpoint, axis=axis)[1]


@reverse(np.fft.fftfreq, np.fft.rfftfreq)
def fftfreq(y, cotangent, n, d=1.0):
    return None, -np.sum(cotangent * y) / d


@forward(np.fft.fftfreq, np.fft.rfftfreq)
def push_fftfreq(y, tangent, n, d=1.0):
    return None, -tangent * y / d


# Fitting a derivative to its value: sums and repetitions, whose transposes are repetitions and sums.


# The value that is fitted to lends its shape only.


@reverse(unbroadcast, spread)
def unbroadcast_rule(y, d, cotangent, like):
    return unbroadcast(d, cotangent), 0.0


@forward(unbroadcast, spread)
def push_unbroadcast(y, d, cotangent, like):
    return unbroadcast(d, like), 0.0


# Comparisons and logic

nondifferentiable(
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    operator.not_, operator.truth, operator.is_, operator.is_not, operator.contains,
    np.allclose, np.isclose, np.array_equal, np.array_equiv, math.isclose, cmath.isclose,
    np.any, np.all, np.isin, strided_places, infinite_at_equal, infinite_at_zero,
    nan_at_equal, nan_at_zero, nan_at_zero_norm, away_from_zero, away_from_mean,
    order_of, order_in_memory,
)  # fmt: skip

nondifferentiable(
    np.isfinite, np.isinf, np.isnan, np.isneginf, np.isposinf, np.signbit,
    math.isfinite, math.isinf, math.isnan, cmath.isfinite, cmath.isinf, cmath.isnan,
    np.isnat, np.isreal, np.isrealobj, np.iscomplex, np.iscomplexobj, np.isscalar,
)  # fmt: skip

# Steps

nondifferentiable(
    np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix, np.floor_divide,
    np.spacing, math.ulp, operator.floordiv, math.floor, math.ceil, math.trunc, round,
)  # fmt: skip

# Integers and bits

nondifferentiable(
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
    operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift,
    operator.index, np.bitwise_count, np.packbits, np.unpackbits,
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.intp,
    np.gcd, np.lcm, math.gcd, math.lcm, math.comb, math.factorial, math.isqrt, math.perm,
)  # fmt: skip

# Where something is, and how often

nondifferentiable(
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.lexsort, np.argpartition, np.searchsorted,
    np.nonzero, np.flatnonzero, np.argwhere, np.count_nonzero, np.digitize,
    np.unravel_index, np.ravel_multi_index, np.indices, np.ndindex,
    np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from, np.diag_indices,
    np.diag_indices_from, np.mask_indices, operator.indexOf, operator.countOf, interval_of,
)  # fmt: skip

# What an array is like, not what is in it

nondifferentiable(
    np.shape, np.size, np.ndim, np.result_type, np.can_cast, np.promote_types, np.finfo, np.iinfo, np.dtype,
    np.issubdtype, np.isdtype, np.min_scalar_type, np.common_type, np.iterable, np.isfortran,
    np.broadcast_shapes, np.shares_memory, np.may_share_memory, np.einsum_path,
    np.zeros_like, np.ones_like, np.empty_like,
    builtins.len, builtins.int, builtins.bool, builtins.isinstance, builtins.range, builtins.type,
    builtins.callable, builtins.hasattr, builtins.id, builtins.hash, builtins.str, builtins.repr,
    common_length, steps_within,
)  # fmt: skip
