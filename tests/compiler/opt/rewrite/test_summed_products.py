"""Products that are only summed along two axes are not made; every gradient is right."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)
RNG = np.random.default_rng(0)
P = RNG.normal(size=(4, 3))
Q = RNG.normal(size=(4, 4))
V = np.array([0.3, -0.8, 1.2, 0.5])


@case(P, P[:1], P[:, :1].copy(), P[:0])
def distances(p):
    d = p[:, None, :] - p[None, :, :]
    return np.sum(np.sqrt(np.sum(d**2, axis=-1) + 1e-3))


@case((P, V), (P, V[:1].copy()))
def weighted(p, w):
    d = p[:, None, :] - p[None, :, :]
    return np.sum(w[:, None] * w * np.sqrt(np.sum(d**2, axis=-1) + 1e-3))


@case((P, Q))
def in_a_loop(p, m):
    for _ in range(3):
        d = p[:, None, :] - p[None, :, :]
        p = p + 0.1 * np.sum(d * m[:, :, None], axis=1)
    return np.sum(p * p)


@case(P)
def also_read_otherwise(p):
    d = p[:, None, :] - p[None, :, :]
    e = d * np.sin(d)
    return np.sum(e * np.cos(d)) + np.sum(e**2)


@case(V, V[:1])
def of_pairs(v):
    d = v[:, None] - v[None, :]
    return np.sum(np.exp(-d * d) * np.tanh(d) ** 2)


@case((V, Q))
def two_vectors(v, m):
    return np.sum(np.sin(m * v[:, None] * v[None, :]))


@case(P)
def factor_overwritten(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1) + 0.1)
    total = np.sum(r)
    d[0] = 2.0 * d[1]
    return total * np.sum(d * d)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    wrt = tuple(range(len(args)))
    with pass_registry.without("fuse_contractions"):
        expected = ad.grad(lambda *a: fn(*a), wrt)(*args)
    for a, b in zip(ad.grad(fn, wrt)(*args), expected):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_second_derivative(fn, args):
    def slope(x):
        return np.sum(ad.grad(fn)(x, *args[1:]) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(args[0]), differences(slope, (args[0],)), rtol=1e-5, atol=1e-7)


def test_single_precision():
    found = ad.grad(distances)(P.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(distances)(P), rtol=1e-4, atol=1e-5)


def code(fn, *args):
    """The emitted text without the user's lines."""
    lines = ad.adjoint_source(fn, *args).splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("#"))


def test_what_the_text_says():
    assert ".sum(" not in code(distances, P)
    with pass_registry.without("fuse_contractions"):
        assert code(lambda p: distances(p), P).count(".sum(") == 3
