"""Copies of what is then overwritten: their cotangents are added to that of the original, where nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes

U = np.random.default_rng(6).normal(size=(7, 6))


def burgers(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1] = old[1:-1] - k * old[1:-1] * (old[1:-1] - old[:-2]) + k * (old[2:] - 2 * old[1:-1])
    return np.sum(u**2)


def scaled(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1] = k * np.sin(old[:-2]) * old[2:]
    return np.sum(u**2)


def two_fields(u, k, n):
    u, v = u.copy(), np.cos(u)
    for _ in range(n):
        old_u, old_v = u.copy(), v.copy()
        u[1:-1, 1:-1] = old_u[1:-1, 1:-1] - k * old_v[1:-1, 1:-1] * old_u[2:, 1:-1]
        v[1:-1, 1:-1] = old_v[1:-1, 1:-1] - k * old_u[1:-1, 1:-1] * old_v[1:-1, :-2]
    return np.sum(u * v)


def boundaries(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        u[0] = u[1] * old[2]
        u[-1] = 0.5 * u[-2]
    return np.sum(u**2)


def two_parts(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:4] = old[1:4] + k * old[:3] ** 2
        u[2:6] = old[2:6] + k * old[1:5] ** 2
    return np.sum(u**2)


def read_between(u, k, n):
    u, total = u.copy(), 0.0
    for _ in range(n):
        old = u.copy()
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        total = total + np.sum(u * old)
        u[0] = old[1] * u[0]
    return np.sum(u**2) + total


def in_place(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1] += k * old[:-2] * old[2:]
        u *= old
        u /= 2.0 + old**2
    return np.sum(u**2)


def branches(u, k, n):
    u = u.copy()
    for t in range(n):
        old = u.copy()
        if t % 2:
            u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        else:
            u[:-1] = old[1:] * k
    return np.sum(u**2)


def inner_loop(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = old[i] + k * (old[i - 1] * old[i + 1])
    return np.sum(u**2)


def whole(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[:] = k * np.sin(old) + old[::-1]
    return np.sum(u**2)


def bounds_by_name(u, k, n):
    u, m = u.copy(), len(u)
    for _ in range(n):
        old = u.copy()
        u[1 : m - 1] = old[1 : m - 1] + k * old[: m - 2] ** 2
    return np.sum(u**2)


def copy_is_kept(u, k, n):
    u, states = u.copy(), []
    for _ in range(n):
        old = u.copy()
        states.append(old)
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
    return np.sum(u**2) + sum(np.sum(state**3) for state in states)


def copy_is_written(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        old[0] = u[1] * k
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        old[1:] = 0.0
        u[0] = old[0]
    return np.sum(u**2)


def no_loop(u, k, n):
    u = u * n
    old = u.copy()
    u[1:-1] = old[1:-1] + k * old[:-2] ** 2
    return np.sum(u**2)


PROGRAMS = [burgers, scaled, two_fields, boundaries, two_parts, read_between, in_place, branches, inner_loop, whole]
PROGRAMS += [bounds_by_name, copy_is_kept, copy_is_written, no_loop]


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_gradients(fn, n):
    new = ad.grad(fn, (0, 1))(U, 0.3, n)
    with passes.without(*passes.PASSES):
        old = ad.grad(fn, (0, 1))(U, 0.3, n)
    np.testing.assert_allclose(new[0], old[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(new[1], old[1], rtol=1e-9, atol=1e-12)
    back = ad.vjp(lambda u, k: fn(u, k, n), U, 0.3)[1]
    for _ in range(2):
        np.testing.assert_allclose(back(1.0)[0], old[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_against_differences(fn):
    direction, step = np.cos(3 * U), 1e-6
    slope = (fn(U + step * direction, 0.3, 2) - fn(U - step * direction, 0.3, 2)) / (2 * step)
    np.testing.assert_allclose(np.sum(ad.grad(fn)(U, 0.3, 2) * direction), slope, rtol=1e-6)


def text(fn):
    return ad.adjoint_source(fn, U, 0.3, 2, grad_position=(0, 1))


@pytest.mark.parametrize("fn", [burgers, scaled, two_fields, bounds_by_name, no_loop])
def test_no_array_for_the_copy(fn):
    assert "d_old = np.zeros" not in text(fn)
    assert "d_old" not in text(fn).replace("d_old_u", "").replace("d_old_v", "")


def test_a_part_keeps_its_numbers():
    assert "= 0.0\n" not in text(burgers).partition("d_k")[2].partition("for")[2]
    assert "d_u[1:-1] = 0.0" in text(scaled)


@pytest.mark.parametrize("fn", [boundaries, read_between, copy_is_written])
def test_others_keep_theirs(fn):
    assert "d_old" in text(fn)
