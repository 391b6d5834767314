"""Elliptic, exponential and hypergeometric functions, orthogonal polynomials, and distribution functions.

Numbers in parentheses are equations of the NIST Digital Library of Mathematical Functions (DLMF).  Parameters of
hypergeometric functions and orders of polynomials are settings.

Derivatives of the incomplete functions with respect to their shapes are integrals (``runtime/scipy/incomplete.py``).
"""

import math

import numpy as np
from scipy import special

from ...errors import NoRule
from ...runtime.scipy.incomplete import betainc_moved, gammainc_moved
from ..table import elementwise, forward, reverse
from . import fitted

# Elliptic integrals (19.4).  Near 0 the formulas in terms of both integrals cancel: there the hypergeometric series do.


@elementwise(special.ellipk)
def ellipk(y, d, m):
    return d * slope_of_ellipk(y, m, 1 - m)


@elementwise(special.ellipkm1)
def ellipkm1(y, d, p):
    return -d * slope_of_ellipk(y, 1 - p, p)


@elementwise(special.ellipe)
def ellipe(y, d, m):
    small = np.abs(m) < 0.25
    series = (-math.pi / 8) * fitted(special.hyp2f1(0.5, 1.5, 2, np.where(small, m, 0)), y)
    return d * np.where(small, series, (y - special.ellipk(m)) / (2 * np.where(small, 1, m)))


def slope_of_ellipk(y, m, p):
    """The derivative of the complete integral `y` with respect to the parameter ``m = 1 - p``."""
    small = np.abs(m) < 0.25
    series = (math.pi / 8) * fitted(special.hyp2f1(1.5, 1.5, 2, np.where(small, m, 0)), y)
    return np.where(small, series, (special.ellipe(m) / p - y) / (2 * np.where(small, 1, m)))


@elementwise(special.ellipkinc)
def ellipkinc(y, d, phi, m):
    sine, cosine = np.sin(phi), np.cos(phi)
    root = np.sqrt(1 - m * sine * sine)
    small = np.abs(m) < 1e-4
    n = np.where(small, 0.5, m)
    exact = special.ellipeinc(phi, m) / (2 * n * (1 - n)) - y / (2 * n) - sine * cosine / (2 * (1 - n) * root)
    first, second, third = sines(phi, sine, cosine)
    series = first / 2 + m * (3 / 4 * second + m * (15 / 16) * third)
    return d / root, d * np.where(small, series, exact)


@elementwise(special.ellipeinc)
def ellipeinc(y, d, phi, m):
    sine, cosine = np.sin(phi), np.cos(phi)
    small = np.abs(m) < 1e-4
    first, second, third = sines(phi, sine, cosine)
    series = -first / 2 - m * (second / 4 + m * (3 / 16) * third)
    exact = (y - special.ellipkinc(phi, m)) / (2 * np.where(small, 1, m))
    return d * np.sqrt(1 - m * sine * sine), d * np.where(small, series, exact)


def sines(phi, sine, cosine):
    """The integrals of the second, fourth and sixth power of the sine."""
    second = (phi - sine * cosine) / 2
    fourth = (3 * second - sine**3 * cosine) / 4
    return second, fourth, (5 * fourth - sine**5 * cosine) / 6


@reverse(special.ellipj)
def ellipj(y, d, u, m):
    slopes = (y[1] * y[2], -y[0] * y[2], -m * y[0] * y[1], y[2])
    return sum([d[k] * slopes[k] for k in range(4) if d[k] is not None])


@forward(special.ellipj)
def push_ellipj(y, d, u, m):
    return ((d * y[1] * y[2], -d * y[0] * y[2], -d * m * y[0] * y[1], d * y[2]),)


@elementwise(special.elliprf)
def elliprf(y, d, x, y_, z):
    return (
        -d / 6 * special.elliprd(y_, z, x),
        -d / 6 * special.elliprd(z, x, y_),
        -d / 6 * special.elliprd(x, y_, z),
    )


# Exponential, trigonometric and Fresnel integrals (6.2, 7.2, 8.19.13)


@elementwise(special.exp1)
def exp1(y, d, z):
    return -d * np.exp(-z) / z


@elementwise(special.expi)
def expi(y, d, x):
    return d * np.exp(x) / x


@elementwise(special.expn)
def expn(y, d, n, x):
    whole = np.trunc(n)  # as SciPy cuts off an order that is no integer
    lowest = whole == 0
    below = special.expn(np.where(lowest, 0, whole - 1), x)
    return None, -d * np.where(lowest, (1 + 1 / x) * np.exp(-x) / x, below)


@reverse(special.sici)
def sici(y, d, x):
    return both(d, np.sinc(x / math.pi), 0 if d[1] is None else np.cos(x) / x)


@forward(special.sici)
def push_sici(y, d, x):
    return ((d * np.sinc(x / math.pi), d * np.cos(x) / x),)


@reverse(special.shichi)
def shichi(y, d, x):
    return both(d, fitted(special.spherical_in(0, x), y[0]), 0 if d[1] is None else np.cosh(x) / x)


@forward(special.shichi)
def push_shichi(y, d, x):
    return ((d * fitted(special.spherical_in(0, x), y[0]), d * np.cosh(x) / x),)


@reverse(special.fresnel)
def fresnel(y, d, z):
    return both(d, np.sin(math.pi / 2 * z * z), np.cos(math.pi / 2 * z * z))


@forward(special.fresnel)
def push_fresnel(y, d, z):
    return ((d * np.sin(math.pi / 2 * z * z), d * np.cos(math.pi / 2 * z * z)),)


def both(d, first, second):
    """The cotangent of the argument of two functions with these slopes."""
    if d[1] is None:
        return d[0] * first
    return d[1] * second if d[0] is None else d[0] * first + d[1] * second


# Lambert's W (4.13.4), the dilogarithm (25.12.2)


@elementwise(special.lambertw)
def lambertw(y, d, z, k=0, tol=1e-8):
    return d * np.exp(-y) / (1 + y)


@elementwise(special.wrightomega)
def wrightomega(y, d, z):
    return d * y / (1 + y)


@elementwise(special.spence)
def spence(y, d, z):
    return -d * fitted(special.hyp2f1(1, 1, 2, 1 - z), y)


# Hypergeometric functions (13.3.15, 13.3.22, 15.5.1)


@elementwise(special.hyp0f1)
def hyp0f1(y, d, v, z):
    return None, d * special.hyp0f1(v + 1, z) / v


@elementwise(special.hyp1f1)
def hyp1f1(y, d, a, b, x):
    return None, None, d * (a / b) * special.hyp1f1(a + 1, b + 1, x)


@elementwise(special.hyperu)
def hyperu(y, d, a, b, x):
    return None, None, -d * a * special.hyperu(a + 1, b + 1, x)


@elementwise(special.hyp2f1)
def hyp2f1(y, d, a, b, c, z):
    return None, None, None, d * (a * b / c) * special.hyp2f1(a + 1, b + 1, c + 1, z)


# Orthogonal polynomials (18.9.15 and what follows it), spherical harmonics


@elementwise(special.eval_legendre)
def eval_legendre(y, d, n, x):
    return None, d * (n != 0) * ((n + 1) / 2) * special.eval_jacobi(n - (n != 0), 1, 1, x)


@elementwise(special.eval_jacobi)
def eval_jacobi(y, d, n, alpha, beta, x):
    factor = (n != 0) * (n + alpha + beta + 1) / 2
    return None, None, None, d * factor * special.eval_jacobi(n - (n != 0), alpha + 1, beta + 1, x)


@elementwise(special.eval_chebyt)
def eval_chebyt(y, d, n, x):
    return None, d * n * special.eval_chebyu(n - (n != 0), x)


@elementwise(special.eval_chebyu)
def eval_chebyu(y, d, n, x):
    return None, d * (n != 0) * 2 * special.eval_gegenbauer(n - (n != 0), 2, x)


@elementwise(special.eval_sh_legendre)
def eval_sh_legendre(y, d, n, x):
    return None, d * (n != 0) * (n + 1) * special.eval_jacobi(n - (n != 0), 1, 1, 2 * x - 1)


@elementwise(special.eval_sh_chebyt)
def eval_sh_chebyt(y, d, n, x):
    return None, d * 2 * n * special.eval_sh_chebyu(n - (n != 0), x)


@elementwise(special.eval_sh_chebyu)
def eval_sh_chebyu(y, d, n, x):
    return None, d * (n != 0) * 4 * special.eval_gegenbauer(n - (n != 0), 2, 2 * x - 1)


@elementwise(special.eval_chebyc)
def eval_chebyc(y, d, n, x):
    return None, d * n * special.eval_chebys(n - (n != 0), x)


@elementwise(special.eval_chebys)
def eval_chebys(y, d, n, x):
    return None, d * (n != 0) * special.eval_gegenbauer(n - (n != 0), 2, x / 2)


@elementwise(special.lpmv)
def lpmv(y, d, m, v, x):
    return None, None, d * fitted((v * x * y - (v + m) * special.lpmv(m, v - 1, x)) / (x * x - 1), y)  # (14.10.5)


@elementwise(special.eval_gegenbauer)
def eval_gegenbauer(y, d, n, alpha, x):
    return None, None, d * (n != 0) * 2 * alpha * special.eval_gegenbauer(n - (n != 0), alpha + 1, x)


@elementwise(special.eval_hermite)
def eval_hermite(y, d, n, x):
    return None, d * 2 * n * special.eval_hermite(n - (n != 0), x)


@elementwise(special.eval_hermitenorm)
def eval_hermitenorm(y, d, n, x):
    return None, d * n * special.eval_hermitenorm(n - (n != 0), x)


@elementwise(special.eval_laguerre)
def eval_laguerre(y, d, n, x):
    return None, -d * (n != 0) * special.eval_genlaguerre(n - (n != 0), 1, x)


@elementwise(special.eval_genlaguerre)
def eval_genlaguerre(y, d, n, alpha, x):
    return None, None, -d * (n != 0) * special.eval_genlaguerre(n - (n != 0), alpha + 1, x)


@elementwise(special.sph_harm_y)
def sph_harm_y(y, d, n, m, theta, phi):
    turn = np.exp(1j * phi)
    side = np.copysign(1, np.sin(theta))  # of the pole: what is read of an angle is its cosine
    up = np.sqrt((n - m) * (n + m + 1)) * special.sph_harm_y(n, m + 1, theta, phi) / turn
    down = np.sqrt((n + m) * (n - m + 1)) * special.sph_harm_y(n, m - 1, theta, phi) * turn
    return None, None, d * fitted(side * (up - down) / 2, y), d * (1j * m) * y


# The incomplete gamma function (8.8.13).  Derivatives with respect to the shape are integrals of those of the density.


@elementwise(special.gammainc)
def gammainc(y, d, a, x):
    return d * fitted(gammainc_moved(1, a, x), y), d * fitted(gamma_density(a, x), y)


@elementwise(special.gammaincc)
def gammaincc(y, d, a, x):
    return -d * fitted(gammainc_moved(1, a, x), y), -d * fitted(gamma_density(a, x), y)


@elementwise(special.gammaincinv)
def gammaincinv(y, d, a, p):
    d_p = d / fitted(gamma_density(a, y), y)
    return -d_p * fitted(gammainc_moved(1, a, y), y), d_p


@elementwise(special.gammainccinv)
def gammainccinv(y, d, a, p):
    d_p = -d / fitted(gamma_density(a, y), y)
    return d_p * fitted(gammainc_moved(1, a, y), y), d_p


@elementwise(gammainc_moved)
def of_gammainc_moved(y, d, order, a, x):
    log = np.log(x) - special.digamma(a)
    factor = log if order == 1 else log * log - special.zeta(2, a)
    return None, shape_again(order, d, gammainc_moved, a, x), d * fitted(gamma_density(a, x) * factor, y)


def shape_again(order, d, moved, *given):
    """The next derivative with respect to the shape."""
    if order > 1:
        raise NoRule("the third derivative with respect to the shape of an incomplete gamma function is not known")
    return d * moved(2, *given)


@elementwise(special.gdtr)
def gdtr(y, d, a, b, x):
    density = fitted(gamma_density(b, a * x), y)
    return d * x * density, d * fitted(gammainc_moved(1, b, a * x), y), d * a * density


@elementwise(special.gdtrc)
def gdtrc(y, d, a, b, x):
    density = fitted(gamma_density(b, a * x), y)
    return -d * x * density, -d * fitted(gammainc_moved(1, b, a * x), y), -d * a * density


@elementwise(special.chdtr)
def chdtr(y, d, v, x):
    moved = fitted(gammainc_moved(1, v / 2, x / 2), y)
    return d * moved / 2, d * fitted(gamma_density(v / 2, x / 2), y) / 2


@elementwise(special.chdtrc)
def chdtrc(y, d, v, x):
    moved = fitted(gammainc_moved(1, v / 2, x / 2), y)
    return -d * moved / 2, -d * fitted(gamma_density(v / 2, x / 2), y) / 2


@elementwise(special.chdtri)
def chdtri(y, d, v, p):
    d_p = -2 * d / fitted(gamma_density(v / 2, y / 2), y)
    return d_p * fitted(gammainc_moved(1, v / 2, y / 2), y) / 2, d_p


@elementwise(special.pdtr)
def pdtr(y, d, k, m):
    return None, -d * fitted(gamma_density(np.floor(k) + 1, m), y)


@elementwise(special.pdtrc)
def pdtrc(y, d, k, m):
    return None, d * fitted(gamma_density(np.floor(k) + 1, m), y)


def gamma_density(a, x):
    """The density of the gamma distribution."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


# The incomplete beta function (8.17.7)


@elementwise(special.betainc)
def betainc(y, d, a, b, x):
    moved = fitted(betainc_moved(1, 0, a, b, x), y), fitted(betainc_moved(0, 1, a, b, x), y)
    return d * moved[0], d * moved[1], d * fitted(beta_density(a, b, x), y)


@elementwise(special.betaincc)
def betaincc(y, d, a, b, x):
    moved = fitted(betainc_moved(1, 0, a, b, x), y), fitted(betainc_moved(0, 1, a, b, x), y)
    return -d * moved[0], -d * moved[1], -d * fitted(beta_density(a, b, x), y)


@elementwise(special.betaincinv)
def betaincinv(y, d, a, b, p):
    d_p = d / fitted(beta_density(a, b, y), y)
    moved = fitted(betainc_moved(1, 0, a, b, y), y), fitted(betainc_moved(0, 1, a, b, y), y)
    return -d_p * moved[0], -d_p * moved[1], d_p


@elementwise(special.betainccinv)
def betainccinv(y, d, a, b, p):
    d_p = -d / fitted(beta_density(a, b, y), y)
    moved = fitted(betainc_moved(1, 0, a, b, y), y), fitted(betainc_moved(0, 1, a, b, y), y)
    return d_p * moved[0], d_p * moved[1], d_p


@elementwise(betainc_moved)
def of_betainc_moved(y, d, first, second, a, b, x):
    if first + second > 1:
        raise NoRule("the third derivative with respect to the shapes of an incomplete beta function is not known")
    log = np.log1p(-x) - special.digamma(b) if second else np.log(x) - special.digamma(a)
    factor = log + special.digamma(a + b)
    d_a, d_b = d * betainc_moved(first + 1, second, a, b, x), d * betainc_moved(first, second + 1, a, b, x)
    return None, None, d_a, d_b, d * fitted(beta_density(a, b, x) * factor, y)


@elementwise(special.fdtr)
def fdtr(y, d, dfn, dfd, x):
    moved, density = f_moved(dfn, dfd, x), f_density(dfn, dfd, x)
    return d * fitted(moved[0], y), d * fitted(moved[1], y), d * fitted(density, y)


@elementwise(special.fdtrc)
def fdtrc(y, d, dfn, dfd, x):
    moved, density = f_moved(dfn, dfd, x), f_density(dfn, dfd, x)
    return -d * fitted(moved[0], y), -d * fitted(moved[1], y), -d * fitted(density, y)


def f_moved(dfn, dfd, x):
    """The derivatives of the F distribution function with respect to both degrees of freedom."""
    place, density = dfn * x / (dfn * x + dfd), f_density(dfn, dfd, x)
    first, second = betainc_moved(1, 0, dfn / 2, dfd / 2, place), betainc_moved(0, 1, dfn / 2, dfd / 2, place)
    return first / 2 + density * x / dfn, second / 2 - density * x / dfd


@elementwise(special.stdtr)
def stdtr(y, d, df, t):
    return d * fitted(t_moved(df, t), y), d * fitted(t_density(df, t), y)


@elementwise(special.stdtrit)
def stdtrit(y, d, df, p):
    d_p = d / fitted(t_density(df, y), y)
    return -d_p * fitted(t_moved(df, y), y), d_p


def t_moved(df, t):
    """The derivative of the t distribution function with respect to the degrees of freedom."""
    moved = betainc_moved(1, 0, df / 2, 0.5, df / (df + t * t))
    return -np.sign(t) * moved / 4 - t_density(df, t) * t / (2 * df)


def beta_density(a, b, x):
    """The density of the beta distribution."""
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def f_density(dfn, dfd, x):
    """The density of the F distribution."""
    return beta_density(dfn / 2, dfd / 2, dfn * x / (dfn * x + dfd)) * dfn * dfd / (dfn * x + dfd) ** 2


def t_density(df, t):
    """The density of Student's t distribution."""
    log = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * math.pi) / 2
    return np.exp(log - (df + 1) / 2 * np.log1p(t * t / df))
