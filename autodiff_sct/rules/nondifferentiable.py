"""Functions through which no derivative flows.

Either their results are integers, booleans or descriptions of an array, or they are constant between isolated steps.
"""

import builtins
import cmath
import math
import operator

import numpy as np

from ..runtime.broadcast import common_length
from ..runtime.intervals import interval_of
from ..runtime.linalg.degenerate import infinite_at_equal, infinite_at_zero, nan_at_equal, nan_at_zero
from ..runtime.linalg.perturbed import away_from_zero
from ..runtime.linalg.slopes import nan_at_zero_norm
from ..runtime.scatter import strided_places
from ..runtime.segments import steps_within
from ..runtime.sorting import order_in_memory, order_of
from .table import nondifferentiable

# Comparisons and logic

nondifferentiable(
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    operator.not_, operator.truth, operator.is_, operator.is_not, operator.contains,
    np.allclose, np.isclose, np.array_equal, np.array_equiv, math.isclose, cmath.isclose,
    np.any, np.all, np.isin, strided_places, infinite_at_equal, infinite_at_zero,
    nan_at_equal, nan_at_zero, nan_at_zero_norm, away_from_zero, order_of, order_in_memory,
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
