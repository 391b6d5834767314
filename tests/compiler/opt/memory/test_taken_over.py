"""Copies of which a part is overwritten: the cotangent is changed in place, where nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

pytestmark = pytest.mark.once

U = np.random.default_rng(5).normal(size=(6, 5))


def heat(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1] * u[1:-1, 2:])
        u = new
    return np.sum(u**2)


def scaled(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = k * np.sin(u[:-2])
        u = new
    return np.sum(u**2)


def two_parts(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        new[0] = u[0] * u[-1]
        u = new
    return np.sum(u**2)


def bounds_of_the_new(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        new[0] = new[1]
        new[-1] = 0.5 * new[-2]
        u = new
    return np.sum(u**2)


def other_part(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[:-2] + k * u[1:-1] ** 2
        u = new
    return np.sum(u**2)


def old_is_read(u, k, n):
    total = 0.0
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        total = total + np.sum(u * new)
        u = new
    return np.sum(u**2) + total


def new_is_read_before(u, k, n):
    total = 0.0
    for _ in range(n):
        new = u.copy()
        total = total + np.sum(new[1:-1] ** 2)
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        u = new
    return np.sum(u**2) + total


def twice(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        u = new
        new = u.copy()
        new[:, 1:-1] = u[:, 1:-1] + k * u[:, :-2] ** 2
        u = new
    return np.sum(u**2)


def two_fields(u, k, n):
    v = 0.5 * u
    for _ in range(n):
        new, other = u.copy(), v.copy()
        new[1:-1] = u[1:-1] + k * v[:-2] * u[2:]
        other[1:-1] = v[1:-1] - k * u[:-2]
        u, v = other, new
    return np.sum(u**2 * v)


def start_is_read(u, k, n):
    first = u
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] * first[1:-1]
        u = new
    return np.sum(u**2 * first)


def augmented(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] += k * u[:-2] ** 2
        u = new
    return np.sum(u**2)


def in_an_outer_loop(u, k, n):
    for _ in range(2):
        for _ in range(n):
            new = u.copy()
            new[1:-1] = u[1:-1] + k * u[:-2] ** 2
            u = new
        u = np.sin(u)
    return np.sum(u**2)


def left_early(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        u = new
        if np.max(u) > 3.0:
            break
    return np.sum(u**2)


def result_is_the_field(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        u = new
    return u


PROGRAMS = [
    heat, scaled, two_parts, bounds_of_the_new, other_part, old_is_read, new_is_read_before, twice, two_fields,
    start_is_read, augmented, in_an_outer_loop, left_early, result_is_the_field,
]  # fmt: skip


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_gradients(fn, dtype, steps):
    args = U.astype(dtype), 0.1, steps
    value, found = ad.value_and_grad(fn, (0, 1))(*args)
    alone = ad.grad(fn, (0, 1))(*args)
    with pass_registry.without("lower_accumulation"):
        expected = ad.grad(fn, (0, 1))(*args)
    assert np.array_equal(value, fn(*args))
    for each, other, right in zip(found, alone, expected, strict=True):
        np.testing.assert_allclose(each, right, rtol=1e-12 if dtype is np.float64 else 1e-4, atol=1e-6)
        np.testing.assert_allclose(other, right, rtol=1e-12 if dtype is np.float64 else 1e-4, atol=1e-6)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_against_differences_and_as_pullback(fn):
    def total(u):
        return np.sum(fn(u, 0.1, 3))

    direction = np.cos(np.arange(U.size)).reshape(U.shape)
    slope = (total(U + 1e-5 * direction) - total(U - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(np.sum(ad.grad(total)(U) * direction), slope, rtol=1e-6)
    _, pull = ad.vjp(total, U)
    np.testing.assert_array_equal(pull(1.0), pull(1.0))
    np.testing.assert_allclose(pull(1.0)[0], ad.grad(total)(U), rtol=1e-12)


def test_written_out():
    assert "np.zeros" not in ad.adjoint_source(heat, U, 0.1, 3)
    assert "saved_shape" not in ad.adjoint_source(heat, U, 0.1, 3)
