"""Bessel functions and their relatives by their argument: orders are settings.

Numbers in parentheses are equations of the NIST Digital Library of Mathematical Functions (DLMF).
"""

import numpy as np
from scipy import special

from ...errors import NoRule
from ..table import elementwise, forward, reverse

# Bessel functions (10.6, 10.29)


@elementwise(special.j0)
def j0(y, d, x):
    return -d * special.j1(x)


@elementwise(special.j1)
def j1(y, d, x):
    return d * (special.j0(x) - special.jv(2, x)) / 2


@elementwise(special.y0)
def y0(y, d, x):
    return -d * special.y1(x)


@elementwise(special.y1)
def y1(y, d, x):
    return d * (special.y0(x) - special.yv(2, x)) / 2


@elementwise(special.i0)
def i0(y, d, x):
    return d * special.i1(x)


@elementwise(special.i1)
def i1(y, d, x):
    return d * (special.i0(x) + special.iv(2, x)) / 2


@elementwise(special.i0e)
def i0e(y, d, x):
    return d * (special.i1e(x) - np.sign(x) * y)


@elementwise(special.i1e)
def i1e(y, d, x):
    return d * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * y)


@elementwise(special.k0)
def k0(y, d, x):
    return -d * special.k1(x)


@elementwise(special.k1)
def k1(y, d, x):
    return -d * (special.k0(x) + special.kv(2, x)) / 2


@elementwise(special.jv)
def jv(y, d, v, z):
    return None, d * (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2


@elementwise(special.yv)
def yv(y, d, v, z):
    return None, d * (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2


@elementwise(special.iv)
def iv(y, d, v, z):
    return None, d * (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2


@elementwise(special.kv)
def kv(y, d, v, z):
    return None, -d * (special.kv(v - 1, z) + special.kv(v + 1, z)) / 2


@elementwise(special.ive)
def ive(y, d, v, z):
    return None, d * ((special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - np.sign(z) * y)


@elementwise(special.yn)
def yn(y, d, n, x):
    whole = np.trunc(n)  # as SciPy cuts off an order that is no integer
    return None, d * (special.yn(whole - 1, x) - special.yn(whole + 1, x)) / 2


@elementwise(special.kn)
def kn(y, d, n, x):
    whole = np.trunc(n)
    return None, -d * (special.kv(whole - 1, x) + special.kv(whole + 1, x)) / 2


@elementwise(special.jve)
def jve(y, d, v, z):
    refuse_complex(z)
    return None, d * (special.jve(v - 1, z) - special.jve(v + 1, z)) / 2


@elementwise(special.yve)
def yve(y, d, v, z):
    refuse_complex(z)
    return None, d * (special.yve(v - 1, z) - special.yve(v + 1, z)) / 2


@elementwise(special.kve)
def kve(y, d, v, z):
    return None, d * (y - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2)


@elementwise(special.k0e)
def k0e(y, d, x):
    return d * (y - special.k1e(x))


@elementwise(special.k1e)
def k1e(y, d, x):
    return d * (y - (special.k0e(x) + special.kve(2, x)) / 2)


@elementwise(special.hankel1)
def hankel1(y, d, v, z):
    return None, d * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)) / 2


@elementwise(special.hankel2)
def hankel2(y, d, v, z):
    return None, d * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)) / 2


@elementwise(special.hankel1e)
def hankel1e(y, d, v, z):
    return None, d * ((special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) / 2 - 1j * y)


@elementwise(special.hankel2e)
def hankel2e(y, d, v, z):
    return None, d * ((special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) / 2 + 1j * y)


def refuse_complex(z):
    """Refuse a scaling by the absolute value of the imaginary part."""
    if np.iscomplexobj(z):
        raise NoRule("scaled Bessel functions of the first and second kind are not analytic")


# Spherical Bessel functions (10.51, 10.47.1): the second derivatives are those of the differential equations


@elementwise(special.spherical_jn)
def spherical_jn(y, d, n, z, derivative=False):
    if derivative:
        return None, d * ((n * (n + 1) / (z * z) - 1) * special.spherical_jn(n, z) - 2 / z * y)
    return None, d * special.spherical_jn(n, z, True)


@elementwise(special.spherical_yn)
def spherical_yn(y, d, n, z, derivative=False):
    if derivative:
        return None, d * ((n * (n + 1) / (z * z) - 1) * special.spherical_yn(n, z) - 2 / z * y)
    return None, d * special.spherical_yn(n, z, True)


@elementwise(special.spherical_in)
def spherical_in(y, d, n, z, derivative=False):
    if derivative:
        return None, d * ((n * (n + 1) / (z * z) + 1) * special.spherical_in(n, z) - 2 / z * y)
    return None, d * special.spherical_in(n, z, True)


@elementwise(special.spherical_kn)
def spherical_kn(y, d, n, z, derivative=False):
    if derivative:
        return None, d * ((n * (n + 1) / (z * z) + 1) * special.spherical_kn(n, z) - 2 / z * y)
    return None, d * special.spherical_kn(n, z, True)


# Airy functions (9.2.1) and Struve functions (11.4.27, 11.4.29)


@reverse(special.airy)
def airy(y, d, z):
    slopes = (y[1], z * y[0], y[3], z * y[2])
    return sum([d[k] * slopes[k] for k in range(4) if d[k] is not None])


@forward(special.airy)
def push_airy(y, d, z):
    return ((d * y[1], d * z * y[0], d * y[3], d * z * y[2]),)


@elementwise(special.struve)
def struve(y, d, v, x):
    return None, d * (special.struve(v - 1, x) - v * y / x)


@elementwise(special.modstruve)
def modstruve(y, d, v, x):
    return None, d * (special.modstruve(v - 1, x) - v * y / x)
