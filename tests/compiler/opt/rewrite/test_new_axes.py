"""First axes of length one that broadcasting puts in by itself, and sums of products with vectors."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

pytestmark = pytest.mark.once
RNG = np.random.default_rng(3)
SHAPES = [(6, 4), (1, 4), (6, 1), (1, 1), (150, 3)]


def centred(x):
    return np.sum((x - x.mean(axis=0)) ** 3) + np.sum(x / np.sqrt(x.var(axis=0) + 0.3))


def mixture_step(x):
    r = np.exp(-(x**2)) / np.sum(np.exp(-(x**2)), axis=1, keepdims=True)
    n = r.sum(axis=0)
    mu = (r * x).sum(axis=0) / n
    return np.sum((r * (x - mu) ** 2).sum(axis=0) / n) + np.sum(np.tanh(mu))


def used_as_it_is(x):
    m = x.sum(axis=0)
    return np.sum(np.sin(m) * x) + np.sum(np.outer(m, m)) + np.sum((m[None] * x) @ m)


def weighted_rows(x):
    return np.sum(np.cos((x * np.sin(x[0])).sum(axis=1)))


@pytest.mark.parametrize("fn", [centred, mixture_step, used_as_it_is, weighted_rows], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", "CF")
def test_gradient(fn, shape, order):
    check_gradient(fn, (np.asarray(RNG.normal(size=shape), order=order),))


def test_what_the_text_says():
    text = ad.adjoint_source(mixture_step, RNG.normal(size=(6, 4)))
    assert "[None]" not in text


def weighted(x, v):
    return np.sum(np.sin((x * v).sum(axis=1)))


@pytest.mark.parametrize("k", [0, 1])
def test_vectors(k):
    """A vector may be as long as the rows, or of one number, which is not the length of the rows."""
    for v in (RNG.normal(size=4), RNG.normal(size=1)):
        args = (RNG.normal(size=(6, 4)), v)
        check_gradient(weighted, args) if k == 0 else check_gradient(lambda v, x: weighted(x, v), args[::-1])


def test_an_empty_index_makes_a_number_of_an_array_without_axes():
    def matern(x):
        r = np.linalg.norm(x)
        return (1 + r) * np.exp(-r)

    x = np.full(2, 1e-3)
    np.testing.assert_allclose(ad.jacrev(ad.jacfwd(matern))(x), ad.hessian(matern)(x), rtol=1e-6, atol=1e-9)
