"""Subscripts by arrays and masks, shapes, factorisations: the same results as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, positions

X = np.linspace(0.4, 2.0, 6)
M = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.5, 0.1, 2.5]])


def masked(x, mask):
    y = x * x
    y[mask] = 0.5
    return np.sum(y * x) + np.sum(x[mask] ** 3)


def masked_matrix(m, limit):
    big = m > limit
    z = m * 2.0
    z[big] = m[big] ** 2
    return np.sum(z * m)


def repeated(x, k):
    return np.sum(x[k] ** 2 * np.sin(x[k]))


def scattered(x, k):
    y = np.zeros(4)
    y[k] = x[:3] * x[0]
    return np.sum(y * y) + y[1]


def rows(m, k):
    picked = m[k]
    return np.sum(picked * picked[0])


def pairs(m, i, j):
    return np.sum(m[i, j] ** 3)


def left_early(x):
    while x < 10:
        x = x * 1.5
        if x > 7:
            break
    return x * x


def systems(m, b):
    x = np.linalg.solve(m, b)
    c = np.linalg.cholesky(m @ m.T)
    return np.sum(x * x) + np.sum(np.linalg.inv(m)) + np.sum(c * c[0]) + np.linalg.slogdet(m)[1]


def shapes(x, n):
    a = x.reshape(2, -1) * 2.0
    b = np.concatenate((a, a[:1] * x[:3]))
    c = np.stack((b[0], b[2])).ravel()
    return np.sum(c * x) + np.sum(np.eye(n) * b) + np.sum(np.linspace(0.0, 1.0, n) * b[1])


def spreads(m):
    return np.sum(np.var(m, axis=0) * np.std(m, axis=1)) + np.linalg.norm(m[0]) + np.prod(m[1]) + np.argmax(m[2])


def stacks(a, b):
    p = a.reshape(2, 2, 3) @ b.reshape(2, 3, 2)
    return np.sum(p**2 * np.logaddexp(p, 1.0))


CASES = {
    masked: (X, X > 1.0),
    masked_matrix: (M, 0.35),
    repeated: (X, np.array([0, 2, 2, -1])),
    scattered: (X, np.array([1, 3, 1])),
    rows: (M, np.array([2, 0, 2])),
    pairs: (M, np.array([0, 1, 1]), np.array([2, 1, 1])),
    left_early: (1.1,),
    systems: (M, X[:3].copy()),
    shapes: (X, 3),
    spreads: (M,),
    stacks: (np.linspace(0.1, 1.2, 12), np.linspace(-0.5, 0.7, 12)),
}


def differentiable(args):
    return tuple(k for k in positions(args) if np.asarray(args[k]).dtype == float)


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_same_results(fn):
    args = CASES[fn]
    wrt = differentiable(args)
    found = ad.value_and_grad(fn, wrt, backend="numba")(*args)
    assert_alike(found, ad.value_and_grad(fn, wrt)(*args))


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.parametrize("filled", [2, 4])
def test_places_that_are_written(filled):
    def f(x, places):
        k = places.copy()
        k[k] = filled
        return np.sum(x[k] ** 2)

    x = np.linspace(0.1, 1.0, 5)
    for places in ([1, 2, 0], [0, 0, 1]):
        np.testing.assert_allclose(ad.grad(f, backend="numba")(x, np.array(places)), ad.grad(f)(x, np.array(places)))


@pytest.mark.parametrize("place", [6, -7])
def test_places_outside_raise_as_numpy_does(place):
    gradient = ad.grad(repeated, backend="numba")
    gradient(*CASES[repeated])
    with pytest.raises(IndexError, match="out of bounds"):
        gradient(X, np.array([0, place]))


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
def test_singular_raises_as_numpy_does():
    gradient = ad.grad(systems, backend="numba")
    gradient(*CASES[systems])
    with pytest.raises(np.linalg.LinAlgError):
        gradient(np.zeros((3, 3)), X[:3].copy())


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
def test_written_in_place_stays_numpy_or_is_right():
    def f(x):
        y = x.reshape(2, 3)
        y = y * 1.0
        z = y.T.reshape(6)
        y[0, 0] = x[5] * x[0]
        return np.sum(z * x) + y[0, 0]

    assert_alike(ad.value_and_grad(f, backend="numba")(X), ad.value_and_grad(f)(X))


@pytest.mark.parametrize("fn", [repeated, masked, left_early, systems, shapes, stacks], ids=lambda fn: fn.__name__)
def test_native_without_a_warning(fn):
    text = ad.value_and_grad(fn, differentiable(CASES[fn]), backend="numba").source_for(*CASES[fn])
    assert "njit" in text
