"""Functions that numba compiled, or that remember their values: the Python function behind them is differentiated."""

import functools
import math
import sys

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


@functools.lru_cache
def power(x, n=3):
    return x**n + np.sin(x)


@functools.cache
def nodes(n):
    return np.polynomial.legendre.leggauss(n)


@case(V)
def remembered_inside(x):
    places, weights = nodes(4)
    return np.sum(weights * np.sin(places * x)) + power(x[0], 2)


@case(V)
def smallest_float(x):
    return np.sum(x**2) * math.log(sys.float_info.min) + sys.float_info.max_exp


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def test_a_remembered_function_itself():
    assert ad.grad(power)(2.0) == pytest.approx(12.0 + math.cos(2.0))
    assert ad.grad(power)(2.0, 2) == pytest.approx(4.0 + math.cos(2.0))


def test_compiled_functions():
    numba = pytest.importorskip("numba")

    @numba.njit
    def energy(p):
        e = 0.0
        for i in range(p.shape[0]):
            for j in range(i):
                d = p[i] - p[j]
                e += 1.0 / (1.0 + d * d)
        return e

    @numba.njit(parallel=True)
    def outer(p):
        q = np.empty_like(p)
        for i in numba.prange(len(p)):
            q[i] = math.sin(p[i]) * energy(p)
        return q.sum()

    def inside(p):
        return energy(2 * p) + p[0]

    assert np.array_equal(ad.grad(energy)(V), ad.grad(energy.py_func)(V))
    assert np.array_equal(ad.grad(outer)(V), ad.grad(outer.py_func)(V))
    ad.grad(inside)(V)
    assert not energy.signatures  # numba has compiled nothing
    for fn in (energy.py_func, outer.py_func, inside):
        check_gradient(fn, (V,))


def test_vectorized_functions():
    numba = pytest.importorskip("numba")

    @numba.vectorize
    def larger(a, b):
        return a * a if a > b else a * b

    @numba.vectorize(["float64(float64)"])
    def cubed(a):
        return a**3 + larger(a, 0.3)

    def inside(p):
        return np.sum(cubed(p) * larger(p, p[0])) + cubed(p[1]) + np.sum(larger(p[:, None], p))

    for size in (2, 5, 130):
        p = np.random.default_rng(size).normal(size=size)
        step = 1e-6 * np.cos(np.arange(1.0, p.size + 1))
        slope = (inside(p + step) - inside(p - step)) / 2
        assert np.sum(ad.grad(inside)(p) * step) == pytest.approx(slope, rel=1e-5)
    assert ad.grad(cubed)(0.7) == pytest.approx(3 * 0.7**2 + 2 * 0.7)
