"""Programs that overwrite arrays row by row are right on both sides of every length of a row, and in every order."""

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

SIZES = (1, 3, 127, 128, 129, 130, 1000)
ORDERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "turned": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}


def halved(x):
    A = x * 2.0
    s = np.sum(A**2)
    for i in range(len(A)):
        A[i] *= 0.5
    return s


def gram_schmidt(x):
    Q = x + 0.0
    for i in range(len(Q)):
        for j in range(i):
            Q[i] -= (Q[j] @ Q[i]) * Q[j]
        Q[i] /= np.sqrt(Q[i] @ Q[i] + 0.1)
    return np.sum(np.cos(Q) * x)


def standardised(x):
    A = x.copy()
    for i in range(len(A)):
        A[i] -= A[i].mean()
        A[i] /= np.sqrt(np.sum(A[i] ** 2) + 0.1)
    return np.sum(A**3) + A[0, -1]


def softmax_of_row_views(x):
    A = x * 1.0
    for row in A:
        row -= row.max()
        row[:] = np.exp(row)
        row /= row.sum()
    return np.sum(A * np.sin(x))


def gauss_seidel(x):
    u = x.copy()
    for _ in range(3):
        for i in range(1, len(u) - 1):
            u[i] = 0.3 * (u[i - 1] + u[i + 1]) + 0.4 * np.sin(x[i])
    return np.sum(u**2)


def smoothed(x):
    u, old = x.copy(), np.zeros_like(x)
    for k in range(3):
        old[:] = u
        for i in range(len(u)):
            u[i] = np.tanh(old[i - 1] * old[i] + u[i - 1])
            u[i, 0] = u[i, -1] * old[i, 0]
    return np.sum(u * old)


def stored_rows(x):
    n = len(x)
    Y, weights = np.zeros(n), np.cos(x[:, 0])
    for i in range(n):
        Y[i] = x[0] @ np.sin(x[i])
    return np.sum(weights * Y)


PROGRAMS = (halved, gram_schmidt, standardised, softmax_of_row_views, gauss_seidel, smoothed, stored_rows)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_rows(fn, size, order):
    rng = np.random.default_rng(size)
    x, direction = ORDERS[order](rng.normal(size=(5, size))), rng.normal(size=(5, size))
    value, gradient = ad.value_and_grad(fn)(x)
    assert value == fn(x)
    expected = (fn(x + 1e-6 * direction) - fn(x - 1e-6 * direction)) / 2e-6
    scale = 1.0 + np.sum(np.abs(gradient * direction))
    np.testing.assert_allclose(np.sum(gradient * direction), expected, rtol=1e-6, atol=2e-8 * scale)
    np.testing.assert_allclose(ad.jvp(fn, (x,), (direction,))[1], expected, rtol=1e-6, atol=2e-8 * scale)
    np.testing.assert_allclose(ad.vjp(fn, x)[1](1.0)[0], gradient, rtol=1e-10, atol=1e-12 * scale)


@pytest.mark.parametrize("steps", (0, 1, 31, 32, 33, 100))
def test_a_shadow_that_each_step_clears_is_not_read_later(steps):
    def weighed(a, x, w):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = a @ np.sin(x[i])
        return np.sum(w * y)

    rng = np.random.default_rng(0)
    a, x, w = rng.normal(size=3), rng.normal(size=(steps, 3)), rng.normal(size=steps)
    np.testing.assert_allclose(ad.grad(weighed)(a, x, w), w @ np.sin(x), rtol=1e-12, atol=1e-12)
