"""Assumptions on sizes: programs rely on what holds of the call they are compiled for, and serve no other call."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.api import entry
from autodiff_sct.compiler.domain.assumptions import ITSELF, Assumption, check_of, sizes_of
from autodiff_sct.compiler.driver.specialization import ASSUMING
from tests.compiler.checked import differences

pytestmark = pytest.mark.once
LENGTHS = (0, 1, 2, 3, 5, 15, 16, 17, 40, 129)


def window(u, v):
    n = len(v)
    return np.sum(u[1 : n + 1] * v)


def ends(u, m, k):
    return np.sum(u[k : m - 1] ** 2) + np.sum(np.sin(u[:3]))


def upwind(u, n, c):
    u = u.copy()
    for _ in range(3):
        old = u.copy()
        u[1 : n - 1] = old[1 : n - 1] - c * (old[1 : n - 1] - old[0 : n - 2])
    return np.sum(u**2)


def columns(p):
    x, y, z = p[:, 0:1], p[:, 1:2], p[:, 2:3]
    return np.sum((x.T - x) ** 2 * np.cos(y) + z)


def check(g, fn, *args):
    """Compare a call with the primal's errors, and with differences."""
    try:
        value = fn(*args)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            g(*args)
        assert str(raised.value).splitlines()[0] == str(error)
        return
    if not np.isfinite(value):
        return
    expected = differences(lambda x: fn(x, *args[1:]), (args[0],))
    np.testing.assert_allclose(g(*args), expected, rtol=1e-5, atol=1e-7)


def test_window_at_all_lengths():
    g, rng = ad.grad(window), np.random.default_rng(0)
    for n in LENGTHS:
        for m in LENGTHS:
            check(g, window, rng.normal(size=n), rng.normal(size=m))


@pytest.mark.parametrize("first", [(8, 8, 2), (8, 12, 2), (8, 3, 5), (8, -1, -3), (2, 8, 0)])
def test_integers_at_all_values(first):
    g, rng = ad.grad(ends), np.random.default_rng(1)
    n, m, k = first
    check(g, ends, rng.normal(size=n), m, k)
    for n in (0, 1, 2, 3, 4, 16, 20):
        for m in (-20, -2, -1, 0, 1, 2, 3, 8, 17, 40):
            for k in (-2, 0, 1, 5):
                check(g, ends, rng.normal(size=n), m, k)


def test_updates_of_a_part():
    g, rng = ad.grad(upwind), np.random.default_rng(2)
    for n in (8, 9, 10, 1, 0, 30, -3, 20):
        for length in (8, 20, 17):
            check(g, upwind, rng.normal(size=length), n, 0.1)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 16, 20])
def test_columns_that_may_not_be_there(count):
    g, rng = ad.grad(columns), np.random.default_rng(3)
    for width in (3, 4, 2, 1, 0, 17, 3):
        check(g, columns, rng.normal(size=(count, width)))


def test_shorter_text_where_it_holds():
    assert "unbroadcast" not in ad.adjoint_source(window, np.ones(5), np.ones(4))
    assert "unbroadcast" in ad.adjoint_source(window, np.ones(5), np.ones(9))
    assert "unbroadcast" in ad.adjoint_source(window)


def test_few_variants():
    g = ad.grad(window)
    for n in range(3, 15):
        for m in range(3, 15):
            check(g, window, np.arange(float(n)), np.ones(m))
    kinds = g.prepared().variants.by_kinds
    assert max(map(len, kinds.values())) <= ASSUMING + 1
    g = ad.grad(ends)
    for n in range(3, 10):
        for m in range(-5, 15):
            for k in range(-5, 5):
                g(np.arange(float(n)), m, k)
    kinds = g.prepared().variants.by_kinds
    assert max(map(len, kinds.values())) <= ASSUMING + 1


def halves(u, w, n):
    coarse = np.zeros(n // 2 + 1)
    coarse[: n // 2] = 0.5 * (u[: 2 * (n // 2) : 2] + u[1 : 2 * (n // 2) : 2])
    return np.sum(coarse[: n // 2] * w) + np.sum(coarse[1:] ** 2)


def blocks(u, k):
    size = len(u) // k
    means = np.zeros(size)
    for i in range(size):
        means[i] = np.mean(u[i * k : (i + 1) * k])
    return np.sum(means**2 * np.cos(u[:size]))


def differences_of(u, w):
    return np.sum((u[1:] - u[:-1]) ** 2 * w) + np.sum(w[1:-1] * u[2:-1])


@pytest.mark.parametrize("first", [(8, 4, 8), (9, 1, 9), (2, 1, 2), (3, 1, 3)])
def test_quotients(first):
    g, rng = ad.grad(halves), np.random.default_rng(9)
    for n, m, k in (first, (8, 4, 8), (8, 1, 8), (9, 4, 9), (9, 4, 8), (20, 10, 20), (3, 1, 3), (2, 1, 2), (1, 0, 1)):
        check(g, halves, rng.normal(size=n), rng.normal(size=m), k)
    g = ad.grad(blocks)
    for n, k in ((9, 3), (9, 2), (4, 0), (9, 20), (40, 5), (9, -2), (9, 3)):
        check(g, blocks, rng.normal(size=n), k)


@pytest.mark.parametrize("first", [(6, 5), (6, 1), (2, 1), (1, 0), (40, 39)])
def test_cuts_that_meet(first):
    g, rng = ad.grad(differences_of), np.random.default_rng(10)
    for n in (first[0], 1, 2, 3, 4, 6, 17, 40):
        for m in (first[1], 0, 1, 2, 3, 5, 16, 39):
            check(g, differences_of, rng.normal(size=n), rng.normal(size=m))
    text = ad.adjoint_source(differences_of, np.ones(6), np.ones(5))
    assert "unbroadcast" not in text


SIZE = 9
WEIGHTS = np.arange(9.0)


def with_globals(u):
    v = u.copy()
    v[1 : SIZE - 1] = v[1 : SIZE - 1] * WEIGHTS[1 : SIZE - 1] + v[0 : SIZE - 2]
    return np.sum(v**2)


def unused_global(u):
    n = u[: SIZE - 1] * 2.0
    return np.sum(n * u[1:SIZE]) + len(WEIGHTS[1:SIZE])


@pytest.mark.parametrize("fn", [with_globals, unused_global])
def test_sizes_outside(fn, monkeypatch):
    g, rng = ad.grad(fn), np.random.default_rng(4)
    for size in (9, 5, 12, 0, 9, 3, 1):
        for length in (9, 7, 12, 9):
            for own in (9, 12, 6):
                monkeypatch.setitem(globals(), "SIZE", size)
                monkeypatch.setitem(globals(), "WEIGHTS", rng.normal(size=length))
                check(g, fn, rng.normal(size=own))


def in_containers(parts, n):
    return np.sum(parts["a"][0][:n] * parts["b"][:n])


def test_sizes_in_containers():
    g, rng = ad.grad(in_containers), np.random.default_rng(5)
    for a, b, n in [(8, 8, 5), (8, 3, 5), (3, 8, 5), (4, 4, 9), (5, 5, -1), (8, 8, 8)]:
        parts = {"a": (rng.normal(size=a),), "b": rng.normal(size=b)}
        try:
            expected = in_containers(parts, n)
        except ValueError:
            with pytest.raises(ValueError):
                g(parts, n)
            continue
        found = g(parts, n)
        d_a, d_b = np.zeros(a), np.zeros(b)
        d_a[:n] += parts["b"][:n]
        d_b[:n] += parts["a"][0][:n]
        assert np.isfinite(expected)
        np.testing.assert_allclose(found["a"][0], d_a)
        np.testing.assert_allclose(found["b"], d_b)


class Model:
    def __init__(self, n):
        self.n = n

    def loss(self, u):
        return np.sum(u[1 : self.n] * u[: self.n - 1])


def test_sizes_in_objects():
    model = Model(5)
    g, rng = ad.grad(model.loss), np.random.default_rng(6)
    for n in (5, 9, 2, 0, 30):
        model.n = n
        for length in (8, 20, 3):
            check(g, model.loss, rng.normal(size=length))


@pytest.mark.parametrize("order", [1, 2])
def test_forward_and_second_order(order):
    g = ad.grad(lambda u, v: np.sum(ad.grad(window)(u, v) ** 2) if order == 2 else window(u, v) ** 2)
    rng = np.random.default_rng(7)
    for n, m in [(9, 8), (9, 12), (5, 4), (3, 2), (1, 1), (40, 39)]:
        u, v, t = rng.normal(size=n), rng.normal(size=m), rng.normal(size=n)
        try:
            value = window(u, v)
        except ValueError:
            with pytest.raises(ValueError):
                g(u, v)
            continue
        # window is linear in u: its gradient does not depend on u.
        expected = 0.0 * u if order == 2 else 2 * value * differences(lambda u, v=v: window(u, v), (u,))
        np.testing.assert_allclose(g(u, v), expected, rtol=1e-5, atol=1e-7)
        tangent = ad.jvp(lambda u, v=v: window(u, v), (u,), (t,))[1]
        np.testing.assert_allclose(tangent, window(t, v), rtol=1e-9, atol=1e-12)
        value_again, pull = ad.vjp(window, u, v)
        np.testing.assert_allclose(value_again, value)
        np.testing.assert_allclose(pull(1.0)[1], differences(lambda v, u=u: window(u, v), (v,)), rtol=1e-5, atol=1e-7)


def test_zero_slopes_at_infinite_ones():
    def fn(u, n):
        return np.sum(np.where(u[1:n] > 0, np.sqrt(u[1:n]), 0.0) * u[: n - 1])

    g = ad.grad(fn)
    for n, length in [(6, 8), (8, 8), (6, 8), (3, 30)]:
        u = np.linspace(-1, 1, length) + 0.01
        u[2] = 0.0
        with np.errstate(invalid="ignore"):
            found = g(u, n)
        assert np.isfinite(found).all() and found.shape == u.shape


def test_examples_of_a_batch():
    found = ad.vmap(ad.grad(ends), in_axes=(0, 0, None))(np.ones((3, 6)), np.array([5, 9, 2]), 1)
    for k, m in enumerate((5, 9, 2)):
        np.testing.assert_allclose(found[k], differences(lambda u, m=m: ends(u, m, 1), (np.ones(6),)), rtol=1e-5)


def test_from_the_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", str(tmp_path))
    rng = np.random.default_rng(8)
    for n, m in [(9, 8), (9, 12), (5, 4), (3, 2), (9, 8), (9, 12)]:
        monkeypatch.setattr(entry, "PRODUCTS", {})
        check(ad.grad(window), window, rng.normal(size=n), rng.normal(size=m))


def test_reason_in_the_log(caplog):
    g = ad.grad(ends)
    with caplog.at_level(logging.INFO, "autodiff_sct.compile"):
        g(np.ones(8), 8, 2)
        g(np.ones(8), 12, 2)
    assert "sizes of the arguments compare otherwise" in caplog.text


def test_what_is_assumed():
    others = {"flag": True, "x": 1.5, "obj": SimpleNamespace()}
    sizes = sizes_of({"u": np.ones((5, 3)), "n": 4, "rest": [np.ones(2)], **others})
    u, n, inner = ("u:", 0, ""), ("n", ITSELF), ("rest[0]:", 0, "")
    sizes.call_integer("n.1", "n")
    assert sizes.assume({u: 1, "n.1": -1}) and not sizes.assume({u: 1, "n.1": -1, None: -2})
    assert sizes.assume({u: 1, "n.1": -1, None: -1}) and sizes.assume({u: 1, "n.1": -1})
    assert not sizes.assume({"flag": 1}) and not sizes.assume({"other.2": 1}) and sizes.assume({inner: 1})
    assert sizes.assume({}) and not sizes.assume({None: -1}) and n in sizes.places
    check = check_of(sizes.assumed({}))
    rest = [np.ones(2)]
    assert check((np.ones((5, 3)), 4, rest)) and not check((np.ones((5, 3)), 5, rest))
    following = sizes.following(sizes.assumed({}))
    assert following.assume({u: 1, "n.1": -1}) and not following.assume({u: 1, None: -5})
    assert check_of([]) is None
    assert not Assumption(((((1,), ITSELF), 1),), 0).is_of_shapes(2)
