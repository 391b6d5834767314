"""Elementary functions that a compiler can run several elements at a time.

The C library's are called one element after the other.  These are polynomials and bit operations only, so that they
are inlined into loops and become vector code.  Reassociation is not allowed inside: their accuracy hangs on the order
of the operations.  Errors stay below 2 units in the last place (3 for `tanh` of small arguments).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from ...core import thresholds
from . import NoRoom

__all__ = [
    "NoRoom", "add_carried", "add_items", "add_part", "exp", "floor_divide", "greatest_item", "half_power", "inside",
    "least_item", "log", "logaddexp", "matrix_matrix", "matrix_vector", "maximum", "minimum", "products_of_others",
    "remainder", "reserve", "reserve_parts", "sign", "tanh", "vector_matrix",
]  # fmt: skip

native = numba.njit(error_model="numpy", fastmath={"contract"})

LOG2E = 1.4426950408889634
# The logarithm of 2 in two parts; the first has trailing zeros, so that its products with exponents are exact.
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10


@native
def power_of_two(k):  # type: ignore[no-untyped-def]
    """2**k for a whole k of normal exponents."""
    return np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@native
def exponential_tail(r):  # type: ignore[no-untyped-def]
    """exp(r) - 1 - r for abs(r) < 0.35, by Taylor's series."""
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    return p * r * r


@native
def exp(x):  # type: ignore[no-untyped-def]
    """The exponential of a float64."""
    y = min(max(x, -746.0), 710.0)
    k = math.floor(y * LOG2E + 0.5)
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    # Two factors, so that neither leaves the normal range.
    half = math.floor(k * 0.5)
    result = (1.0 + (r + exponential_tail(r))) * power_of_two(half) * power_of_two(k - half)
    return result if x == x else x


@native
def tanh(x):  # type: ignore[no-untyped-def]
    """The hyperbolic tangent of a float64."""
    y = min(2.0 * abs(x), 44.0)
    k = math.floor(y * LOG2E + 0.5)
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    scale = power_of_two(k)
    e = (r + exponential_tail(r)) * scale + (scale - 1.0)  # exp(y) - 1, exact near zero too
    t = e / (e + 2.0)
    return math.copysign(t, x) if x == x else x


@native
def log(x):  # type: ignore[no-untyped-def]
    """The natural logarithm of a float64."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    bits = np.float64(y).view(np.int64)
    # The mantissa in [sqrt(1/2), sqrt(2)), the rest in the exponent.
    shifted = bits - np.int64(0x3FE6A09E667F3BCD)
    k = shifted >> 52
    m = np.int64(bits - (k << 52)).view(np.float64)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 23.0
    p = p * z + 2.0 / 21.0
    p = p * z + 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    e = float(k) - 54.0 if tiny else float(k)
    h = 0.5 * f * f
    result = e * LN2_HIGH + (f - (h - (s * (h + z * p) + e * LN2_LOW)))
    result = result if x < math.inf else x
    return result if x > 0.0 else (-math.inf if x == 0.0 else math.nan)


@native
def logaddexp(x, y):  # type: ignore[no-untyped-def]
    """log(exp(x) + exp(y))."""
    if x == y:
        return x + LN2_HIGH + LN2_LOW
    return max(x, y) + math.log1p(math.exp(-abs(x - y))) if x == x and y == y else x + y


@native
def half_power(x, k):  # type: ignore[no-untyped-def]
    """x**(k + 0.5) for a k from 0 to 3; of -inf and -0.0 it is what it is of inf and 0.0."""
    z = abs(x)
    y = 1.0 if k == 0 else (z if k == 1 else (z * z if k == 2 else z * z * z))
    return z if x == -math.inf else y * math.sqrt(x + 0.0)


@native
def sign(x):  # type: ignore[no-untyped-def]
    """1, -1, or the number itself where it is zero or NaN."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)


@native
def maximum(x, y):  # type: ignore[no-untyped-def]
    """The greater of two numbers, NaN if either is."""
    return x if x >= y or x != x else y


@native
def minimum(x, y):  # type: ignore[no-untyped-def]
    """The smaller of two numbers, NaN if either is."""
    return x if x <= y or x != x else y


@native
def remainder(x, y):  # type: ignore[no-untyped-def]
    """``x % y`` of floats, with the sign of `y`."""
    if x - x != 0.0:
        return math.nan
    r = np.fmod(x, y)
    if r != 0.0:
        return r + y if (r < 0.0) != (y < 0.0) else r
    return math.copysign(0.0, y)


@native
def floor_divide(x, y):  # type: ignore[no-untyped-def]
    """``x // y`` of floats, as Python and NumPy have it."""
    if y == 0.0:
        return x / y
    if x - x != 0.0:
        return math.nan
    r = np.fmod(x, y)
    q = (x - r) / y
    if r != 0.0 and (r < 0.0) != (y < 0.0):
        q -= 1.0
    if q == 0.0:
        return math.copysign(0.0, x / y)
    whole = np.floor(q)
    return whole + 1.0 if q - whole > 0.5 else whole


@native
def inside(places, length):  # type: ignore[no-untyped-def]
    """The test whether all places are inside an axis; from -1 down they count from its end."""
    for place in places.flat:
        if place < -length or place >= length:
            return False
    return True


summing = numba.njit(error_model="numpy", fastmath={"afn", "arcp", "contract", "nsz", "reassoc"})


@summing
def matrix_vector(a, x, y):  # type: ignore[no-untyped-def]
    """``a @ x``, put into `y`."""
    n, m = a.shape
    if n * m > thresholds.PRODUCTS_IN_LOOPS:
        return np.dot(a, x, y)
    for i in range(n):
        total = a.dtype.type(0)
        for j in range(m):
            total += a[i, j] * x[j]
        y[i] = total
    return y


@summing
def vector_matrix(x, a, y):  # type: ignore[no-untyped-def]
    """``x @ a``, put into `y`."""
    n, m = a.shape
    if n * m > thresholds.PRODUCTS_IN_LOOPS:
        return np.dot(x, a, y)
    for j in range(m):
        y[j] = 0
    for i in range(n):
        for j in range(m):
            y[j] += x[i] * a[i, j]
    return y


@summing
def matrix_matrix(a, b, c):  # type: ignore[no-untyped-def]
    """``a @ b``, put into `c`."""
    n, m = a.shape
    k = b.shape[1]
    if n * m * k > thresholds.PRODUCTS_IN_LOOPS:
        return np.dot(a, b, c)
    for i in range(n):
        for l in range(k):
            c[i, l] = 0
        for j in range(m):
            for l in range(k):
                c[i, l] += a[i, j] * b[j, l]
    return c


@native
def products_of_others(a, result):  # type: ignore[no-untyped-def]
    """The product of all other elements of a vector for each, put into `result`."""
    before = after = a.dtype.type(1)
    for k in range(len(a)):
        result[k] = before
        before *= a[k]
    for k in range(len(a) - 1, -1, -1):
        result[k] *= after
        after *= a[k]
    return result


@native
def copy(old, new):  # type: ignore[no-untyped-def]
    """Begin an array with the elements of another: an assignment of slices takes seconds to compile."""
    source, target = old.flat, new.flat
    for k in range(old.size):
        target[k] = source[k]


@native
def reserve(saved, used, more):  # type: ignore[no-untyped-def]
    """An array that starts with the first `used` items of `saved` and has room for `more`."""
    if used + more <= len(saved):
        return saved
    result = np.empty((max(used + more, 4 * len(saved)), *saved.shape[1:]), saved.dtype)
    copy(saved, result)
    return result


@native
def reserve_parts(saved, used, more, shape):  # type: ignore[no-untyped-def]
    """An array that starts with the first `used` items of `saved` and has room for `more`, all of one shape."""
    if used + more <= len(saved):
        return saved
    result = np.empty((max(used + more, 2 * len(saved)), *shape), saved.dtype)
    copy(saved, result)
    return result


# -- lists of numbers: as the functions of these names in `runtime`, an error where the NumPy program is to run


@native
def add_items(shadow, cotangents):  # type: ignore[no-untyped-def]
    """Add a list to another, item by item."""
    if len(shadow) != len(cotangents):
        raise ValueError
    for k in range(len(shadow)):
        shadow[k] += cotangents[k]


@native
def add_part(shadow, part, cotangents):  # type: ignore[no-untyped-def]
    """Add a list to the items of another that a slice shows."""
    start, stop, step = part.indices(len(shadow))
    if len(range(start, stop, step)) != len(cotangents):
        raise ValueError
    for k in range(len(cotangents)):
        shadow[start + k * step] += cotangents[k]


@native
def add_carried(shadow, cotangents):  # type: ignore[no-untyped-def]
    """Add a list to another, which becomes as long."""
    while len(shadow) > len(cotangents):
        if shadow.pop() != 0.0:
            raise ValueError
    while len(shadow) < len(cotangents):
        shadow.append(0.0)
    for k in range(len(cotangents)):
        shadow[k] += cotangents[k]


@native
def greatest_item(items):  # type: ignore[no-untyped-def]
    """``max(items)``: the first of those that no later one beats."""
    result = items[0]
    for item in items:
        if item > result:
            result = item
    return result


@native
def least_item(items):  # type: ignore[no-untyped-def]
    """``min(items)``: the first of those that no later one beats."""
    result = items[0]
    for item in items:
        if item < result:
            result = item
    return result
