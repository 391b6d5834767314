"""Cotangents are overwritten where nobody can tell, temporaries computed where they are read."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)
W = np.array([0.3, -0.2, 0.9, 1.4])
A = np.arange(12.0).reshape(3, 4) / 5 - 1


@case((V, 0), (V, 1), (V, 3))
def decay(x, n):
    y = x * x
    for _ in range(n):
        y = y * np.cos(y) + x
    return np.sum(y)


@case((V, 2))
def passed_on_whole(x, n):
    y = x + 0.0
    for _ in range(n):
        z = y
        y = y * 2.0 + z
    return np.sum(y * x)


@case(V)
def given_to_two(x):
    a = x * 3.0
    b = a + 1.0
    c = a + b
    return np.sum(b * c) + np.sum(c * a)


@case((V, W))
def broadcast_or_not(x, y):
    z = x * 2.0
    w = z + y
    return np.sum(w * z) + np.sum((z + y) ** 3)


@case((V, A), (A, V), (A[:1].copy(), A), (A[:, :1].copy(), A))
def broadcast(x, y):
    t = x * 1.5
    for _ in range(2):
        t = t * x
    return np.sum(t * y + t)


@case((V, True), (V, False))
def branches(x, flag):
    y = x * x
    for i in range(3):
        if flag and i == 1:
            y = y + x
        else:
            z = y
            y = y * z
    return np.sum(y)


@case(V)
def saved_in_a_list(x):
    kept = []
    y = x * 1.0
    for _ in range(3):
        y = y * x
        kept.append(y)
    total = 0.0
    for k in kept:
        total = total + np.sum(k * k)
    return total


@case(A)
def views_of_one(x):
    y = x * 2.0
    top, rest = y[0], y[1:]
    t = y.T
    return np.sum(top * rest) + np.sum(t**2) + np.sum(y.reshape(-1)[::2] ** 3)


@case(A)
def transposed_back(x):
    y = x * x
    z = y.T
    w = z.T
    return np.sum(y * w) + np.sum(w)


@case((V, W))
def shared_by_two_inputs(x, y):
    z = x + y
    return np.sum(z * z)


@case(V)
def stencil(x):
    x = x.copy()
    for _ in range(2):
        x[1:] = x[1:] * x[:-1]
        x = x * 2.0
    return np.sum(x**2)


@case((V, W))
def overwritten_operand(x, y):
    y = y.copy()
    z = np.sum((x - y * 2.0) ** 2)
    y[0] = 5.0
    return z + np.sum(y * x)


@case(V)
def caught(x):
    total = 0.0
    for i in range(3):
        try:
            y = x * 2.0
            if i == 1:
                raise ValueError
            y = y * x
        except ValueError:
            y = x * 1.0
        total = total + np.sum(y * y)
    return total


def stencil_of_two(u, v):
    v[1:-1] = 0.5 * (u[:-2] + u[2:]) * u[1:-1]


@case((V, W))
def swapped(x, y):
    u, v = x.copy(), y.copy()
    for _ in range(3):
        stencil_of_two(u, v)
        u, v = v, u
    return np.sum(u * u) + np.sum(v)


@case((V, W))
def handed_to_both(x, y):
    u, v = x.copy(), y.copy()
    for k in range(3):
        stencil_of_two(u, v)
        if k == 1:
            u = v
        else:
            u, v = v, u
    return np.sum(u * u) + np.sum(v)


@case((V, W))
def one_that_is_made_before(x, y):
    u, v = x * 1.0, y * 1.0
    z = x * y
    for _ in range(3):
        u, v = z, u
    return np.sum(u * u) + np.sum(v * x)


@case((V, W))
def both_are_read_again(x, y):
    u, v = x * 1.0, y * 1.0
    for _ in range(3):
        u, v = v + u, v
    return np.sum(u) + np.sum(v)


@case((V, W, 0), (V, W, 3))
def one_at_first(x, y, n):
    u = x * y
    v = u
    for _ in range(n):
        u, v = v, u
        u = u * 2.0
    return np.sum(u) + np.sum(v * x)


@case((V, A), (V, A * 2))
def one_name_after_another(x, a):
    h = np.tanh(a @ x)
    p = np.exp(h) * h
    return np.sum(p * p / (1.0 + h * h))


@case((V, W))
def both_are_read_later(x, y):
    h = np.sin(x * y)
    g = h * x
    return np.sum(g * g) + np.sum(np.cos(h) * y) + np.sum(x * x)


@case((V, W))
def one_of_two_is_a_result(x, y):
    t = x * y
    s = t * 3.0 * x
    return np.sum(s * s * y)


@case((V, 3), (V, 0))
def from_outside_into_a_loop(x, n):
    h = np.sin(x)
    total = 0.0
    for k in range(n):
        g = h * (x + k)
        total = total + np.sum(g * g * h)
    return total


@case((V, True), (V, False))
def on_one_side(x, flag):
    h = x * x
    if flag:
        g = np.cos(h) * x
        h = g * g
    return np.sum(h * x)


@case((V, W))
def view_of_it_lives_on(x, y):
    h = x * y
    first = h[:2]
    g = h * x
    return np.sum(g * g) + np.sum(first * first * first)


@case((A, V), (A, A * 2))
def broadcast_between_the_two(x, y):
    s = np.sum(np.sin(x), axis=0)
    t = s * y
    return np.sum(t * t * x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    before = [np.copy(a) for a in args]
    check_gradient(fn, args)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_without_the_passes(fn, args):
    with pass_registry.without("reuse_buffers"):
        plain = ad.grad(lambda *a: fn(*a))(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), plain, rtol=1e-12, atol=1e-14)


def results(fn, args):
    count = sum(isinstance(a, np.ndarray) for a in args)
    found = ad.grad(fn, grad_position=tuple(range(count)))(*args)
    return [*(found if isinstance(found, tuple) else (found,)), *args]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients_share_no_memory(fn, args):
    arrays = [a for a in results(fn, args) if isinstance(a, np.ndarray)]
    for k, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[k + 1 :])


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_seeds_are_kept_and_pullbacks_repeat(fn, args):
    _, pullback = ad.vjp(lambda x: fn(x, *args[1:]) * x, args[0])
    seed = np.cos(np.arange(np.size(args[0]))).reshape(np.shape(args[0]))
    given = seed.copy()
    first = np.copy(pullback(seed))
    np.testing.assert_array_equal(seed, given)
    np.testing.assert_array_equal(pullback(seed), first)


def test_seed_that_is_the_cotangent():
    _, pullback = ad.vjp(lambda x: x * 2.0 + x, V)
    seed = np.ones(4)
    pullback(seed)
    np.testing.assert_array_equal(seed, 1.0)


def test_single_precision():
    x = V.astype(np.float32)
    gradient = ad.grad(decay)(x, 3)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(decay)(V, 3), rtol=1e-4)


def test_second_derivative():
    def slope(x):
        return np.sum(ad.grad(decay)(x, 2) * np.cos(x))

    check_gradient(slope, (V,))


def test_exceptions_keep_their_order():
    def fails(x, y):
        t = x - y
        if np.sum(x) > 0:
            raise KeyError("first")
        return np.sum(t * t)

    for fn in (fails, ad.grad(fails)):
        with pytest.raises(ValueError):
            fn(V, np.ones(3))
        with pytest.raises(KeyError, match="first"):
            fn(V, W)


def test_what_the_text_says():
    def chain(x):
        y = x * x
        for _ in range(3):
            y = y * 1.5
        return np.sum(y * x - 0.5 * x)

    assert "d_y *= 1.5" in ad.adjoint_source(chain, V)

    def valley(x):
        return np.sum((1.0 - x[:-1]) ** 2)

    assert "d_x[:-1] = -2 * d_out * (1.0 - x[:-1])" in ad.adjoint_source(valley, V)


def test_another_name_for_the_same_memory():
    def layer(w, x):
        h = np.tanh(x @ w)
        return np.sum(h @ w * h)

    text = ad.adjoint_source(layer, A[:3, :3].copy(), A.T.copy(), grad_position=(0, 1))
    assert "d_h *= 1 - h * h" in text and "x.T @ d_h" in text
    with pass_registry.without("reuse_buffers"):
        assert "*=" not in ad.adjoint_source(layer, A[:3, :3].copy(), A.T.copy(), grad_position=(0, 1))


def test_numbers_keep_no_memory():
    """A number that is computed from two arrays does not make them share memory."""

    def walk(spot, x, n):
        ones = np.ones(len(x))
        price, total = spot * ones, np.zeros(len(x))
        for _ in range(n):
            price = price * np.exp(x)
            total = total + price
        return np.sum(total * total)

    assert "d_price += " in ad.adjoint_source(walk, 0.7, V, 3)
    np.testing.assert_allclose(ad.grad(walk)(0.7, V, 3), differences(walk, (0.7, V, 3)), rtol=1e-6)


def test_what_is_the_only_one_is_returned_itself():
    assert ad.adjoint_source(swapped, V, W, grad_position=(0, 1)).endswith("return d_u, d_v\n")
    of_a_table = ad.adjoint_source(lambda p: np.sum(p["a"] * p["a"] * p["b"]), {"a": V, "b": W})
    assert ".copy()" not in of_a_table


def test_what_shares_no_memory_does_not_hinder():
    def orbit(x, v, n):
        for _ in range(n):
            a = np.sin(x) * x
            v = v + 0.1 * np.sum(a * a) * a
            x = x + 0.1 * v
        return np.sum(x * x) + np.sum(v * v)

    text = ad.adjoint_source(orbit, V, W, 3, grad_position=(0, 1))
    assert "d_v += " in text and "copy" not in text
    for found, position in zip(ad.grad(orbit, grad_position=(0, 1))(V, W, 3), (0, 1)):
        np.testing.assert_allclose(found, differences(orbit, (V, W, 3), position), rtol=1e-6)


def test_narrow_cotangent_is_no_place_for_a_sum():
    check_gradient(lambda x: np.sum(np.apply_over_axes(np.sum, np.outer(x, x), -1) * x), (V,))


def test_cotangent_of_another_is_no_place_for_a_sum():
    def f(x, y):
        z = x + y
        return np.sum((z * np.cos(x) + z * x * x) * y)

    check_gradient(f, (V, V + 1.0))
    check_gradient(lambda y, x: f(x, y), (V + 1.0, V))


def test_reads_itself():
    def centred(x, w):
        p = np.exp(x @ w)
        p = p / np.sum(p, axis=-1, keepdims=True)
        return np.sum((p @ w.T) ** 2)

    x, w = np.random.default_rng(0).normal(size=(2, 3, 3))
    check_gradient(centred, (x, w))
    assert "-= np.einsum(" in ad.adjoint_source(centred, x, w)
    assert "return d_s + d_s.T" in ad.adjoint_source(lambda s: np.sum((s + s.T) @ w), x)


def stored_into_a_sorted_copy(x, y, a):
    u = np.array(np.sort(x))
    np.subtract(y, a.sum(axis=1), out=u)
    y = y - np.where(u + y > 0.1, u, 0.5)
    if y[0] > 0.2:
        u[-1] += 1.1
    return u


def test_a_copy_that_is_returned_stays_a_copy():
    """The shadow that it is a copy of is cleared after it, for what was overwritten."""
    found = ad.grad(stored_into_a_sorted_copy, (0, 1, 2))(W, V, A.T)
    np.testing.assert_array_equal(found[0], np.zeros(4))
    np.testing.assert_array_equal(found[1], np.ones(4))
    np.testing.assert_array_equal(found[2], -np.ones((4, 3)))
