"""Sums over pairs as products of matrices: the same gradients, and only where two axes are equally long."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(5)
X, Y, W = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3)), RNG.normal(size=4)
NONE = np.zeros((0, 3))


def energy(x):
    d = x[:, None] - x[None]
    return np.sum(1.0 / np.sqrt(np.sum(d**2, axis=-1) + 0.1))


def forces(x, w):
    d = x[None, :, :] - x[:, None, :]
    r = np.sum(d**2, axis=-1) + 0.05
    a = np.sum(d * (w[None, :] / r**1.5)[:, :, None], axis=1)
    b = np.sum(d * np.sin(r)[:, :, None], axis=0)
    return np.sum(np.cos(a) * b)


def two_sets(x, y):
    d = x[:, None] - y[None]
    return np.sum(np.exp(-np.sum(d**2, axis=2)))


def along_pairs(x):
    d = x[:, None] - x
    return np.sum(np.tanh(np.sum(d * x[:, None], axis=-1)))


def widened_by_one(x, w):
    pairs = np.outer(w, w)[:, :, None]
    return np.sum(np.sin(pairs) * (x[:, None] * x[None])) + np.sum(np.cos(pairs * (x[:1] + x[None])))


def gram(x):
    c = x.T @ x
    k = x @ x.T
    return np.sum(np.sin(c) * np.arange(9.0).reshape(3, 3)) + np.sum(np.cos(k) * np.arange(len(x)))


def skew(x):
    m = x.T @ x
    return np.sum((x @ m - x @ m.T) ** 2) + np.sum(np.sin(m)[0])


def beside_a_row(x, w):
    first = x @ x.T
    for rows in [first]:
        last = rows
    return np.sum(np.sum(x, axis=0, keepdims=True) * w[0] + np.sum(np.sin(last)))


CASES = [
    (energy, (X,)), (energy, (X[:1],)), (energy, (X[:, :1],)), (energy, (X.T,)), (forces, (X, W)),
    (forces, (X[:1], W[:1])), (two_sets, (X, Y)), (two_sets, (X, Y[:1])), (two_sets, (X[:1], Y)), (two_sets, (X, X)),
    (along_pairs, (X,)), (along_pairs, (X[:1],)), (along_pairs, (X[:3],)), (widened_by_one, (X, W)), (gram, (X,)),
    (gram, (X[:1],)), (skew, (X,)), (beside_a_row, (X, W)),
]  # fmt: skip
IDS = [f"{fn.__name__}-{k}" for k, (fn, _) in enumerate(CASES)]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=IDS)
def test_gradient(fn, args):
    positions = tuple(range(len(args)))
    found = ad.grad(fn, grad_position=positions)(*args)
    with pass_registry.without("fuse_contractions"):
        plain = ad.grad(fn, grad_position=positions)(*args)
    found, plain = (found, plain) if len(args) > 1 else ((found,), (plain,))
    for k in positions:
        assert np.shape(found[k]) == np.shape(args[k])
        np.testing.assert_allclose(found[k], plain[k], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fn", [energy, along_pairs, gram])
def test_nothing_at_all(fn):
    assert ad.grad(fn)(NONE).shape == (0, 3)


def test_single_precision():
    single = ad.grad(energy)(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, ad.grad(energy)(X), rtol=1e-3, atol=1e-4)


def test_products():
    assert ad.adjoint_source(energy, X).count("einsum") == 1
    assert "@ d)[:, 0]" in ad.adjoint_source(forces, X, W)
    assert "@" not in ad.adjoint_source(two_sets, X, Y)
    text = ad.adjoint_source(gram, X)
    assert "(d_k + d_k.T) @ x" in text and "x @ (d_c + d_c.T)" in text
    with pass_registry.without("fuse_contractions"):
        assert "@" not in ad.adjoint_source(energy, X)


@pytest.mark.parametrize("fn", [energy, along_pairs, gram])
def test_differentiated_again(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(X), differences(slope, (X,)), rtol=1e-5, atol=1e-5)


def test_two_sets_of_which_one_is_long():
    def to_centres(x, c):
        d = np.sum((x[:, None] - c[None]) ** 2, axis=2)
        return np.sum(np.log(np.sum(np.exp(-d), axis=1)))

    rng = np.random.default_rng(1)
    x, c = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    assert ".swapaxes(0, 1))[:, 0]" in ad.adjoint_source(to_centres, x, c, grad_position=1)
    for k in range(2):
        np.testing.assert_allclose(ad.grad(to_centres, k)(x, c), differences(to_centres, (x, c), k), rtol=1e-5)
