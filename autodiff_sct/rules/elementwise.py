"""Elementwise functions of real numbers: NumPy's ufuncs, their twins in ``math`` and ``operator``, and their friends.

Conventions at points without a derivative, each as in PyTorch: 0 for ``abs`` and ``hypot`` at 0, halves for ties of
``maximum`` and ``minimum``, and ``clip`` passes the derivative on at its bounds.  Steps (``floor``, the sign of
``copysign``) have derivative 0, also at the steps.
"""

import cmath
import math
import operator
from typing import Any

import numpy as np

from ..runtime import real_power
from ..runtime.selection import select
from .table import elementwise, forward, reverse, static

EXPONENTS = {"float64": 700.0, "float32": 88.0}

# Arithmetic


@elementwise(np.add, operator.add)
def add(y, d, a, b):
    return d, d


@elementwise(np.subtract, operator.sub)
def subtract(y, d, a, b):
    return d, -d


@elementwise(np.multiply, operator.mul)
def multiply(y, d, a, b):
    return d * b, d * a


@elementwise(np.divide, operator.truediv)
def divide(y, d, a, b):
    if is_literal(a) and a == 1:
        return d / b, -d * y * y
    if is_narrower(b, d):  # and divides the sum
        return d / b, -d * y / b
    t = d / b
    return t, -t * y


@elementwise(np.negative, operator.neg)
def negative(y, d, x):
    return -d


@elementwise(np.positive, operator.pos, float, np.float64)
def positive(y, d, x=0):
    return d


@elementwise(np.reciprocal)
def reciprocal(y, d, x):
    return -d * y * y


@elementwise(np.square)
def square(y, d, x):
    return d * (2 * x)


def nonzero(x):
    """`x`, or one where it is zero: for the denominators and logarithms of terms that vanish there anyway."""
    return x + (x == 0)


@elementwise(np.power, np.float_power, operator.pow, math.pow, pow, real_power)
def power(y, d, base, exp):
    return d * (exp * power_below(y, base, exp)), d * (y * log_of_base(base, exp))


def power_below(y, base, exp):
    """``base ** (exp - 1)``, but not 1 / 0 where base and exponent are 0: there the slope is 0."""
    if compiled_as_negative(exp, base):
        return y / base
    if isinstance(exp, int):
        return base ** (exp - (exp != 0))
    if isinstance(exp, float):
        return real_power(nonzero(base) if exp == 0 else base, exp - 1)
    return base ** (exp - ((exp != 0) | (base != 0)))


def log_of_base(base, exp):
    """The logarithm, but 0 at 0, where the power does not depend on its (positive) exponent."""
    if isinstance(exp, int):
        return 0.0
    if isinstance(base, (int, float)):
        # NumPy's logarithm of a Python number would be a double, and widen single precision.
        return math.nan if base < 0 else math.log(nonzero(base))
    return np.log(nonzero(base))


@elementwise(np.remainder, operator.mod)
def remainder(y, d, a, b):
    return d, -d * (a // b)


@elementwise(np.fmod, math.fmod, math.remainder)
def fmod(y, d, a, b):
    # The quotient is an integer; a / b may round up to the next one.
    return d, -d * np.rint((a - y) / b)


@reverse(np.divmod, divmod)
def divmod_(y, d, a, b, /):
    if d[1] is None:
        return 0.0, 0.0
    return d[1], -d[1] * y[0]


@forward(np.divmod, divmod)
def push_divmod(y, d, a, b, /):
    return (np.zeros_like(y[0]), d), (np.zeros_like(y[0]), -d * y[0])


@reverse(np.modf, math.modf)
def modf(y, d, x, /):
    return 0.0 if d[0] is None else d[0]


@forward(np.modf, math.modf)
def push_modf(y, d, x, /):
    return ((d, np.zeros_like(y[1])),)


@reverse(np.frexp, math.frexp)
def frexp(y, d, x, /):
    return 0.0 if d[0] is None else np.ldexp(d[0], -y[1])


@forward(np.frexp, math.frexp)
def push_frexp(y, d, x, /):
    return ((np.ldexp(d, -y[1]), None),)


# Powers and logarithms


@elementwise(np.exp, math.exp, cmath.exp)
def exp(y, d, x):
    return d * y


@elementwise(np.exp2, math.exp2)
def exp2(y, d, x):
    return d * y * math.log(2)


@elementwise(np.expm1, math.expm1)
def expm1(y, d, x):
    return d * (y + 1)


@elementwise(np.log)
def log(y, d, x):
    return d / x


@elementwise(math.log, cmath.log)
def log_to_base(y, d, x, base=None):
    if base is None:
        return d / x
    return d / (x * math.log(base)), -d * y / (base * math.log(base))


@elementwise(np.log2, math.log2)
def log2(y, d, x):
    return d / (x * math.log(2))


@elementwise(np.log10, math.log10, cmath.log10)
def log10(y, d, x):
    return d / (x * math.log(10))


@elementwise(np.log1p, math.log1p)
def log1p(y, d, x):
    return d / (1 + x)


@elementwise(np.sqrt, math.sqrt, cmath.sqrt)
def sqrt(y, d, x):
    return d / (2 * y)


@elementwise(np.cbrt, math.cbrt)
def cbrt(y, d, x):
    return d / (3 * y * y)


@elementwise(np.logaddexp)
def logaddexp(y, d, a, b):
    if is_literal(a) and exponents(b) is not None:
        return d / odds(a - b), d / odds(b if a == 0 else b - a)
    if is_literal(b) and exponents(a) is not None:
        return d / odds(a if b == 0 else a - b), d / odds(b - a)
    # Two probabilities of zero stay zero: neither has a share.
    total = np.where(y == -np.inf, 0, y)
    return d * np.exp(a - total), d * np.exp(b - total)


def odds(x):
    """The reciprocal of the logistic function; for the least `x` it is less, lest it overflow, and without a kink."""
    return 1 + np.exp(-np.maximum(x, -exponents(x)))


@static
def is_literal(x) -> bool:
    """True if `x` is a finite number that the program spells out; a compiler says no where it cannot know."""
    return isinstance(x, (int, float)) and math.isfinite(x)


@static
def is_narrower(b, d) -> bool:
    """True if an operand has fewer axes than `d` or repeated ones; a compiler says no where it cannot know."""
    return np.ndim(b) < np.ndim(d) or any(n < m for n, m in zip(np.shape(b), np.shape(d)))


@static
def compiled_as_negative(exp, base) -> bool:
    """True if a compiler knows that `exp` is a negative number, and that no power of `base` is complex."""
    return False


@static
def exponents(x) -> Any:
    """Up to where the exponential function does not overflow in the dtype of `x`; None where nobody knows."""
    return EXPONENTS.get(np.dtype(getattr(x, "dtype", type(x))).name)


@elementwise(np.logaddexp2)
def logaddexp2(y, d, a, b):
    total = np.where(y == -np.inf, 0, y)
    return d * np.exp2(a - total), d * np.exp2(b - total)


# Trigonometric and hyperbolic functions.  Those with a square root are differentiated by their results where numbers
# are complex: a root of the argument does not see on which side of a branch cut it lies.


@elementwise(np.sin, math.sin, cmath.sin)
def sin(y, d, x):
    return d * np.cos(x)


@elementwise(np.cos, math.cos, cmath.cos)
def cos(y, d, x):
    return -d * np.sin(x)


@elementwise(np.tan, math.tan, cmath.tan)
def tan(y, d, x):
    return d * (1 + y * y)


@elementwise(np.arcsin, math.asin, cmath.asin)
def arcsin(y, d, x):
    if np.iscomplexobj(x):
        return d / np.cos(y)
    return d / np.sqrt(1 - x * x)


@elementwise(np.arccos, math.acos, cmath.acos)
def arccos(y, d, x):
    if np.iscomplexobj(x):
        return -d / np.sin(y)
    return -d / np.sqrt(1 - x * x)


@elementwise(np.arctan, math.atan, cmath.atan)
def arctan(y, d, x):
    return d / (1 + x * x)


@elementwise(np.arctan2, math.atan2)
def arctan2(y, d, a, b):
    return d * b / (a * a + b * b), -d * a / (a * a + b * b)


@elementwise(np.sinh, math.sinh, cmath.sinh)
def sinh(y, d, x):
    return d * np.cosh(x)


@elementwise(np.cosh, math.cosh, cmath.cosh)
def cosh(y, d, x):
    return d * np.sinh(x)


@elementwise(np.tanh, math.tanh, cmath.tanh)
def tanh(y, d, x):
    return d * (1 - y * y)


@elementwise(np.arcsinh, math.asinh, cmath.asinh)
def arcsinh(y, d, x):
    if np.iscomplexobj(x):
        return d / np.cosh(y)
    return d / np.sqrt(x * x + 1)


@elementwise(np.arccosh, math.acosh, cmath.acosh)
def arccosh(y, d, x):
    if np.iscomplexobj(x):
        return d / np.sinh(y)
    return d / (np.sqrt(x - 1) * np.sqrt(x + 1))


@elementwise(np.arctanh, math.atanh, cmath.atanh)
def arctanh(y, d, x):
    return d / (1 - x * x)


@elementwise(np.hypot)
def hypot(y, d, a, b):
    return d * a / nonzero(y), d * b / nonzero(y)


@elementwise(math.hypot)
def hypot_of_many(y, d, *coordinates):
    return (*[d * c / nonzero(y) for c in coordinates],)


@elementwise(np.deg2rad, np.radians, math.radians)
def radians(y, d, x):
    return d * (np.pi / 180)


@elementwise(np.rad2deg, np.degrees, math.degrees)
def degrees(y, d, x):
    return d * (180 / np.pi)


# Size, sign and choice


@elementwise(np.absolute, np.fabs, math.fabs, operator.abs, abs)
def absolute(y, d, x):
    if np.iscomplexobj(x):
        return d * np.conj(x) / nonzero(y)
    return d * np.sign(x)


@elementwise(np.copysign, math.copysign)
def copysign(y, d, a, b):
    return d * np.sign(a) * np.sign(y), 0.0


@elementwise(np.heaviside)
def heaviside(y, d, a, b):
    return 0.0, np.where(a == 0, d, 0)


@elementwise(np.ldexp, math.ldexp)
def ldexp(y, d, x, i):
    return np.ldexp(d, i)


@elementwise(np.nextafter, math.nextafter)
def nextafter(y, d, x1, x2, /):
    return d, 0.0


@elementwise(np.maximum)
def maximum(y, d, a, b):
    half = np.where(a == b, d / 2, 0)
    return np.where(a > b, d, half), np.where(b > a, d, half)


@elementwise(np.minimum)
def minimum(y, d, a, b):
    half = np.where(a == b, d / 2, 0)
    return np.where(a < b, d, half), np.where(b < a, d, half)


@elementwise(np.fmax, np.fmin)
def fmax(y, d, a, b):
    # A number beside a NaN is the result, and has the whole derivative.
    half = np.where(a == b, d / 2, d)
    return np.where(a == y, half, 0), np.where(b == y, half, 0)


@elementwise(np.clip)
def clip(y, d, a, a_min=None, a_max=None, *, min=None, max=None):
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    if low is None and high is None:
        return d, None, None, None, None
    if low is None:
        d_high = np.where(a > high, d, 0)
        return np.where(a <= high, d, 0), None, d_high, None, d_high
    if high is None:
        d_low = np.where(a < low, d, 0)
        return np.where(a >= low, d, 0), d_low, None, d_low, None
    # Of bounds that cross, NumPy returns the upper one.
    d_low, d_high = np.where((a < low) & (low <= high), d, 0), np.where((a > high) | (low > high), d, 0)
    return np.where((low <= a) & (a <= high), d, 0), d_low, d_high, d_low, d_high


@elementwise(np.where)
def where(y, d, condition, a, b):
    return 0.0, np.where(condition, d, 0.0), np.where(condition, 0.0, d)


@elementwise(select)
def selected(y, d, chosen, cotangent, other):
    return 0.0, np.where(chosen, d, 0.0), np.where(chosen, 0.0, d)


@elementwise(np.nan_to_num)
def nan_to_num(y, d, x, copy=True, nan=0.0, posinf=None, neginf=None):
    if np.iscomplexobj(x):
        real, imag = np.where(np.isfinite(np.real(x)), np.real(d), 0), np.where(np.isfinite(np.imag(x)), np.imag(d), 0)
        return real + 1j * imag
    return (
        np.where(np.isfinite(x), d, 0),
        None,
        np.where(np.isnan(x), d, 0),
        np.where(x == np.inf, d, 0),
        np.where(x == -np.inf, d, 0),
    )
