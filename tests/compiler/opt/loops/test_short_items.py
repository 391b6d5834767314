"""Arrays of a few numbers in the body of a loop are lists where their items are touched by literal indices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry

pytestmark = pytest.mark.once


def field(s, p):
    return np.array([p[0] * (s[1] - s[0]), s[0] * (p[1] - s[2]) - s[1], s[0] * s[1] - p[2] * s[2]])


def runge_kutta(s, p, n):
    for _ in range(n):
        k1 = field(s, p)
        k2 = field(s + 0.05 * k1, p)
        s = s + 0.1 * (k1 + 2 * k2) / 3
    return np.sum(s**2)


def jacobians(s, p, n):
    for _ in range(n):
        j = np.array([[1.0, s[0] * p[0]], [s[1] - p[1], s[2] * s[2]]])
        s = s + 0.1 * np.array([j[0, 0] * s[1], j[0, 1] + j[1, 0], j[1, 1] * j[0, 1]])
    return np.sum(s**2)


def written_in_place(s, p, n):
    for t in range(n):
        v = np.array([s[0] + p[0], s[1] * p[1], s[2]])
        v[0] = v[1] * v[2]
        v[1] += v[0] * p[2]
        v[2] *= v[1] + v[0]
        s = s + 0.1 * v
    return np.sum(s**2)


def seen_by_another_name(s, p, n):
    for _ in range(n):
        v = np.array([s[0] * 1.0, s[1], s[2]])
        w = v
        v[0] = v[1] * v[2]
        w[1] = v[0] * w[2] + p[0]
        v[2] = w[0] * v[1]
        s = 0.5 * s + 0.1 * w + 0.1 * v
    return np.sum(s**2)


def a_view_is_written(s, p, n):
    for _ in range(n):
        v = np.array([s[0] * 1.0, s[1], s[2]])
        tail = v[1:]
        tail[0] = v[0] * v[2] * p[0]
        v[2] = v[1] * tail[0] + tail[1] + v[0]
        s = 0.5 * s + 0.1 * v
    return np.sum(s**2)


def changed_as_a_whole(s, p, n):
    for _ in range(n):
        v = np.array([s[0] * 1.0, s[1], s[2]])
        a = v[0] * v[1] + v[2]
        v *= p
        b = v[0] * v[1] * v[2] - v[0]
        v += a
        s = 0.5 * s + 0.1 * v + b * 0.01
    return np.sum(s**2)


def of_one_or_three(s, p, n):
    for _ in range(n):
        s = s + 0.1 * np.array([s[0] * s[-1], p[0], s[0]])
    return np.sum(s**2)


def in_branches(s, p, n):
    for t in range(n):
        if t % 2:
            k = np.array([s[1] * s[2], s[0], s[0] * p[1]])
        else:
            k = field(s, p)
        s = s + 0.1 * k * k[0]
    return np.sum(s**2)


def inner_loops(s, p, n):
    total = 0.0
    for t in range(n):
        for i in range(3):
            s = s + 0.05 * np.array([s[1] * s[2], s[2] * s[0], s[i] * p[0]])
        total = total + s[0] * s[1] * s[2]
    return total + s[0]


def an_item_is_returned(s, p, n):
    last = p[0]
    for _ in range(n):
        s = s + 0.1 * np.array([s[1] * s[2], -s[0], s[0] * s[1]])
        last = s[0] * s[1] + s[2]
    return last


def items_are_kept(s, p, n):
    found = []
    for _ in range(n):
        s = s + 0.1 * np.array([s[1] * s[2], -s[0], s[0] * s[1]])
        found.append(s[0] * s[1])
    return np.sum(s) + sum(found) * p[0]


def quotients_and_powers(s, p, n):
    for _ in range(n):
        s = s + 0.1 * np.array([s[1] / (s[2] - s[2] + p[0]), s[0] ** 2, np.sqrt(s[1] ** 2 + 1) * s[2]])
    return np.sum(s**2)


def integers_among_them(s, p, n):
    for t in range(n):
        s = s + 0.1 * np.array([t, s[0] * s[1], 1]) * p
    return np.sum(s**2)


def until(s, p, n):
    while s[0] * s[0] + s[1] * s[1] < n:
        s = s + 0.3 * np.array([s[1] + 1, s[0] * s[2] + 1, p[0] * s[1]])
    return np.sum(s**2)


PROGRAMS = [runge_kutta, jacobians, written_in_place, seen_by_another_name, a_view_is_written, changed_as_a_whole]
PROGRAMS += [of_one_or_three, in_branches, inner_loops, an_item_is_returned, items_are_kept, quotients_and_powers]
PROGRAMS += [integers_among_them, until]
S, P = np.array([0.9, -0.4, 0.3]), np.array([0.5, 1.2, 0.7])


def both(fn, *args):
    found = ad.grad(fn, (0, 1))(*args)
    with pass_registry.without(*pass_registry.PASSES):
        return found, ad.grad(fn, (0, 1))(*args)


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_gradients(fn, n):
    for a, b in zip(*both(fn, S, P, n)):
        assert type(a) is type(b) and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    value, found = ad.value_and_grad(fn, (0, 1))(S, P, n)
    assert value == fn(S, P, n) and type(value) is type(fn(S, P, n))
    np.testing.assert_allclose(found[0], ad.grad(fn)(S, P, n), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_single_precision(fn):
    for a, b in zip(*both(fn, S.astype(np.float32), P.astype(np.float32), 2)):
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("fn", [runge_kutta, written_in_place, quotients_and_powers])
@pytest.mark.parametrize("number", [0.0, np.inf, np.nan, 1e200])
def test_what_floats_refuse_is_done_as_numpy_does_it(fn, number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a, b in zip(*both(fn, S, np.array([number, 1.0, 1.0]), 3)):
            assert np.array_equal(np.isfinite(a), np.isfinite(b))


def test_an_error_of_the_program_is_its_own():
    def beyond(s):
        for _ in range(2):
            s = s + np.array([s[0], s[1] * s[2], s[3]])
        return np.sum(s)

    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
        ad.grad(beyond)(S)


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="broadcast"):
        ad.grad(of_one_or_three)(np.ones(4), P, 2)
    for a, b in zip(*both(of_one_or_three, np.ones(1), P, 3)):
        np.testing.assert_allclose(a, b)


def test_written_out():
    with pass_registry.without("sroa"):
        text = ad.adjoint_source(runge_kutta, S, P, 3)
    assert "s_items[0]" in text and "p_items[0]" in text


def ends_of_a_long_array(u, p, n):
    total = 0.0
    for _ in range(n):
        u = 0.5 * u + p
        total = total + u[0] * u[-1] * u[1]
    return total


def test_a_long_array_is_not_saved_for_its_items():
    assert "saved_u" not in ad.adjoint_source(ends_of_a_long_array, np.ones(9), 0.5, 3)
    with pass_registry.without("sroa"):
        assert "saved_s" in ad.adjoint_source(runge_kutta, S, P, 3)
