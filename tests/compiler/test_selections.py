"""Functions in pieces: the cotangents of both sides in one selection."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes

X = np.array([-2.0, -0.5, 0.0, 0.25, 1.5, 3.0])


def huber(x, k):
    a = np.abs(x)
    return np.mean(np.where(a <= k, 0.5 * x**2, k * (a - 0.5 * k)))


def elu(x, k):
    return np.sum(np.where(x > 0, x, k * (np.exp(x) - 1)) ** 2)


def leaky(x, k):
    y = np.where(x > 0, x, k * x)
    return np.sum(y * y * x)


def in_three_pieces(x, k):
    return np.sum(np.where(x < -1, x**2, np.where(x > 1, k * x, -x / k)) * x)


def singular_where_not_chosen(x, k):
    return np.sum(np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), x * k))


def two_conditions(x, k):
    return np.sum(np.where(x > 0, x * k, 0.0) ** 2 + np.where(x > k, 0.0, x) * x)


def negative_and_divided(x, k):
    return np.sum(-np.where(x > k, x / 3, -x * x) / (k + x**2))


def broadcast(x, k):
    y = np.where(x[:, None] > 0, x * k, x[:, None])
    return np.sum(y * y)


def of_a_mask_of_one(x, k):
    return np.sum(np.where(x[:1] > 0, x * k, x**2) ** 2)


def mixed_reads(x, k):
    y = np.where(x > k, x, -x)
    return np.sum(y * x) + y[0]


def in_a_loop(x, k):
    for _ in range(3):
        x = x + 0.1 * np.where(x > 0, k * x, np.sin(x) * x)
    return np.sum(x**2)


def written_between(x, k):
    x = x * 1.0
    for _ in range(2):
        y = np.where(x > 0, k * x, x * x)
        x[1:] = 0.5 * x[:-1]
        x += y
    return np.sum(x**2)


def one_after_another(x, k):
    return np.sum(np.where(x > 0, x, k) ** 2) + np.sum(np.tanh(np.where(x > 0, x, x)[1:]))


PROGRAMS = [huber, elu, leaky, in_three_pieces, singular_where_not_chosen, two_conditions, negative_and_divided]
PROGRAMS += [broadcast, of_a_mask_of_one, mixed_reads, in_a_loop, written_between, one_after_another]


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("x", [X, X[:1], X[:0], X[4:], X[:2]] + [X.astype(np.float32)], ids=range(6))
def test_gradients(fn, x):
    if fn is mixed_reads and not len(x):
        return
    for wrt in (0, (0, 1)):
        found = ad.grad(fn, wrt)(x, 0.7)
        with passes.without("one_selection"):
            other = ad.grad(fn, wrt)(x, 0.7)
        for a, b in zip(found, other) if wrt else [(found, other)]:
            assert type(a) is type(b) and np.shape(a) == np.shape(b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-12 if x.dtype == np.float64 else 2e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid", "ignore:divide")
def test_zeros_are_not_multiplied_by_infinities():
    def root(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 2 * x))

    assert np.array_equal(ad.grad(root)(np.array([0.0, 4.0])), [2.0, 0.25])


def test_written_out():
    assert "np.where(condition, d_t * x, d_t * k * np.sign(x))" in ad.adjoint_source(huber, X, 1.0)
    assert "np.where(condition, d_y, d_y * k)" in ad.adjoint_source(leaky, X, 1.0)
