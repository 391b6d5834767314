"""From the forward to the backward function: what shares memory is changed as one, also where it is copied."""

import numpy as np
import pytest

import autodiff_sct as ad

X = np.random.default_rng(5).normal(size=6)


def exchanged(x):
    u, v = x.copy(), np.empty_like(x)
    for _ in range(5):
        v[1:-1] = np.sin(u[1:-1]) + 0.3 * u[2:] * u[:-2]
        v[0], v[-1] = u[0], u[-1] * u[0]
        u, v = v, u
    return u


def exchanged_pair(x):
    u, v = x.copy(), np.zeros_like(x)
    for k in range(4):
        v[1:] = np.sin(u[1:]) * u[:-1] + v[:-1] * 0.5
        if k == 2:
            v[:2] *= u[-2:]
        u, v = v, u
    return u, v


def chosen(x):
    u, v = x.copy(), 2.0 * x
    rows = []
    for k in range(3):
        w = u if x[k] > 0.0 else v
        rows.append(w)
        w[1:] *= w[:-1]
        w[0] = np.sin(w[0]) * v[1]
    return u, rows[1]


@pytest.mark.parametrize("fn", [exchanged, exchanged_pair, chosen], ids=lambda fn: fn.__name__)
def test_what_shares_memory_is_put_back_as_one(fn):
    expected = ad.grad(fn)(X)
    value, pull = ad.vjp(fn, X)
    ones = np.ones_like(X) if fn is exchanged else (np.ones_like(X), np.ones_like(X))
    for part in value if isinstance(value, tuple) else (value,):
        part[:] = np.nan  # the caller's
    for _ in range(2):
        (found,) = pull(ones)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    direction = np.cos(X)
    _, tangent = ad.jvp(fn, X, direction)
    np.testing.assert_allclose(np.sum(tangent), np.sum(expected * direction), rtol=1e-12)
