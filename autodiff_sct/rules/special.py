"""Complex numbers, conversions between kinds of numbers, and special functions.

For complex numbers ``d`` is not conjugated in a holomorphic function's rule: with the pairing ``Re(sum(a * b))``, the
convention of JAX and HIPS autograd, ``d -> f'(z) * d`` is its own transpose, and so are ``d -> conj(d)`` and, for a
real result, ``d -> c * d``, whose real part the engine takes in forward mode.
"""

import math

import numpy as np

from .table import elementwise

# Complex numbers


@elementwise(np.real)
def real(y, d, val):
    return d


@elementwise(np.imag)
def imag(y, d, val):
    return -1j * d if np.iscomplexobj(val) else 0.0


@elementwise(np.conjugate)
def conjugate(y, d, x):
    return np.conj(d) if np.iscomplexobj(x) else d


@elementwise(np.angle)
def angle(y, d, z, deg=False):
    if not np.iscomplexobj(z):
        return 0.0
    return -1j * (d * (180 / np.pi)) / z if deg else -1j * d / z


@elementwise(complex)
def make_complex(y, d, x=0, imag=0, /):
    return d, 1j * d


@elementwise(np.float32, np.complex64, np.complex128)
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


@elementwise(math.erf)
def erf(y, d, x):
    return d * (2 / math.sqrt(math.pi)) * math.exp(-x * x)


@elementwise(math.erfc)
def erfc(y, d, x):
    return -d * (2 / math.sqrt(math.pi)) * math.exp(-x * x)
