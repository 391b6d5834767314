"""Negatives of cotangents: subtracted where they would be added, with the same gradients bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import check_gradient, differences

pytestmark = pytest.mark.once

X = np.array([0.4, 1.3, -0.7, 0.9])


def orbit(x, k):
    p = x[::-1]
    for _ in range(3):
        p = p - k * x / np.sum(x**2) ** 1.5
        x = x + 0.1 * p
    return np.sum(x**2) + np.sum(p**3)


def predator(x, k):
    a, b = x[0], x[1]
    for _ in range(4):
        a, b = a - 0.1 * k * a * b, b + 0.1 * a * b - 0.05 * b
    return a * b


def written_between(x, k):
    x = x * 1.0
    for i in range(len(x) - 1):
        x[1:] -= k * x[i] * x[:-1]
        x[i] = x[i] - x[i + 1] * k
    return np.sum(x**2)


def view_of_the_cotangent(x, k):
    y = x * k
    y[1:] = y[:-1] - y[1:] * x[1:]
    y[:2] -= y[2:] * x[:2]
    return np.sum(np.sin(y))


def subtracted_twice(x, k):
    y = x**2 - (k * x - x) - x * np.sin(x)
    return np.sum(y * (y - x * k))


def own_product(x, k):
    for _ in range(3):
        x = x - k * x * np.tanh(x)
    return np.sum(x)


def in_a_branch(x, k):
    y = k - x * np.sin(x)
    for _ in range(2):
        if y[0] > 0:
            y = y - x * y
        else:
            y = x - y * k
    return np.sum(y**2)


def divided(x, k):
    for _ in range(3):
        k = k - np.sum(x) / (k + 2)
        x = x / (1 - k * x)
    return np.sum(x * k)


def transposed(x, k):
    m = np.outer(x, x) + 3 * np.eye(len(x))
    r = x - m @ x * k
    return np.sum(r @ (m - r[:, None]) * r)


def solved(x, k):
    a = np.outer(x, x) + np.eye(len(x))
    for _ in range(2):
        x = x - np.linalg.solve(a, k * x**3)
    return np.sum(x**2)


def recurrence(x, k):
    c, y = np.zeros(len(x)), x.copy()
    for i in range(1, len(x)):
        m = 2 - x[i] * c[i - 1]
        c[i] = k / m
        y[i] = (y[i] - x[i] * y[i - 1]) / m
    for i in range(len(x) - 2, -1, -1):
        y[i] -= c[i] * y[i + 1]
    return np.sum(y**2)


def added_to_the_negative(x, k):
    y = np.exp(-np.cumsum(x))
    flux = np.concatenate([np.array([1.0]), y[:-1]]) - y
    return np.sum((flux - k) ** 2)


def views_of_the_negative(x, k):
    y = x * k
    z = np.stack([y, x * x]) - np.stack([x, y])
    return np.sum(z[0] ** 2 * z[1]) - np.sum((x[1:] - y[:-1]) ** 2 * y[1:])


PROGRAMS = [orbit, predator, written_between, view_of_the_cotangent, subtracted_twice, own_product, in_a_branch]
PROGRAMS += [divided, transposed, solved, recurrence, added_to_the_negative, views_of_the_negative]


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients(fn, dtype):
    x = X.astype(dtype)
    for wrt in (0, (0, 1)):
        found = ad.grad(fn, wrt)(x, 0.3)
        with pass_registry.without("propagate_negations"):
            other = ad.grad(fn, wrt)(x, 0.3)
        for a, b in zip(found, other) if wrt else [(found, other)]:
            assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-12 if dtype == np.float64 else 2e-5)
    np.testing.assert_allclose(ad.grad(fn)(X, 0.3), differences(fn, (X, 0.3)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_second_order_and_pullbacks(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x, 0.3) ** 2)

    np.testing.assert_allclose(ad.grad(slope)(X), differences(slope, (X,)), rtol=1e-4, atol=1e-5)
    _, pullback = ad.vjp(fn, X, 0.3)
    once, again = pullback(1.0), pullback(1.0)
    assert np.array_equal(once[0], again[0]) and np.array_equal(once[1], again[1])
    np.testing.assert_allclose(once[0], ad.grad(fn)(X, 0.3), rtol=1e-12)


def test_infinities_stay_where_they_are():
    with np.errstate(all="ignore"):
        found = ad.grad(subtracted_twice)(np.array([np.inf, 1.0, np.nan]), 0.3)
    assert np.isfinite(found).tolist() == [False, True, False]


def test_written_out():
    text = ad.adjoint_source(orbit, X, 0.3)
    assert "= -d_p\n" not in text and "- d_p / t * k" in text
    with pass_registry.without("propagate_negations"):
        assert "= -d_p\n" in ad.adjoint_source(orbit, X, 0.3)


def test_one_reader_keeps_the_sign():
    text = ad.adjoint_source(recurrence, X, 0.3, grad_position=(0, 1))
    assert "d_y[before] -= " in text and "= -d_" in text


def test_a_part_is_subtracted_from():
    def moves(p, n):
        for _ in range(n):
            d = p[:, 0][:, None] - p[:, 0][None, :]
            p = p + 0.1 * np.stack([np.sum(np.tanh(d), axis=1), p[:, 1]], axis=1)
        return np.sum(p**2)

    points = np.arange(6.0).reshape(3, 2) * 0.3
    assert "+= -" not in ad.adjoint_source(moves, points, 2)
    check_gradient(moves, (points, 2))
