"""What is the same in every step of a loop is reversed once, after it, where nobody can tell."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
W = np.array([0.7, -0.2, 1.1, 0.3])


@case(
    (W, V, 0.3, 3), (W, V, 0.3, 0), (W[:1], V[:1], 0.3, 2), (W[:0], V[:0], 0.3, 2), (0.7 * np.ones((2, 4)), V, 0.3, 2)
)
def waves(c, u, r, steps):
    for _ in range(steps):
        u = u + (r * c) ** 2 * np.sin(u) - (r * c) ** 2
    return np.sum(u**2)


@case((W, V, 0.3, 3), (W, V, 0.3, 0), (W[:1], V[:1], 0.3, 2))
def ends(c, u, r, steps):
    for _ in range(steps):
        k = (r * c[0] - 1.0) / (r * c[-1] + 2.0)
        u = u + k * np.sin(u) * (r * c[0] + 1.0)
    return np.sum(u)


@case((0.3, V, 4), (0.3, V, 1), (0.3, V, 0))
def swept(r, u, steps):
    n = len(u)
    c, d = np.zeros(n), np.zeros(n)
    for _ in range(steps):
        c[0] = -0.5 * r / (1.0 + r)
        for i in range(1, n):
            rhs = (1.0 - r) * u[i] + 0.5 * r * u[i - 1]
            if i < n - 1:
                rhs = rhs + 0.5 * r * u[i + 1] * (1.0 - r)
            c[i] = -0.5 * r / (1.0 + r + 0.5 * r * c[i - 1])
            d[i] = rhs * c[i] + d[i - 1]
    return np.sum(c * d)


@case((W, V, 3), (W, V, 0))
def nested(w, x, steps):
    total = 0.0
    for k in range(steps):
        y = x * (k + 1.0) * w
        for _ in range(k):
            total = total + np.sum(y * 2.0 * np.tanh(3.0 * w))
        total = total + np.sum(np.sin(y) * np.tanh(3.0 * w) * (y * 2.0))
    return total


@case((W, V, 3), (-W, V, 3))
def only_in_branches(w, x, steps):
    total = 0.0
    for k in range(steps):
        if w[k] > 0:
            total = total + np.sum(x * w * 2.0)
        else:
            total = total - np.sum(x * (w * 2.0) ** 2)
    return total


@case((W, V))
def until_it_is_small(w, x):
    while np.sum(x**2) > 0.3:
        x = x * 0.5 + 0.01 * w * w
        if x[0] < -5:
            break
    return np.sum(x**3)


@case((W, V, 3))
def collected(w, x, steps):
    found = []
    for _ in range(steps):
        found.append(w * 2.0)
    found[0][1] = 0.5
    return sum(np.sum(x * f) for f in found)


@case((W, V, 3))
def changed_in_place_later(w, x, steps):
    total = x * 0.0
    for _ in range(steps):
        step = w * 2.0
        step += x
        total += step * x
    return np.sum(total**2)


@case((W, V, 3), (W, V, 0))
def carried_on(w, x, steps):
    y = x * 1.0
    for _ in range(steps):
        x = x * y
        y = 0.5 * w
    return np.sum(x * y)


@case((W, V, 3))
def operand_written(w, x, steps):
    a = w.copy()
    total = 0.0
    for k in range(steps):
        total = total + np.sum(x * (a * 2.0))
        a[k] = a[k] * 0.5
    return total


@case((W, V, 3))
def operand_written_through_a_view(w, x, steps):
    a, total = w.copy(), 0.0
    part = a[1:]
    for k in range(steps):
        total = total + np.sum(x * (a * 2.0)) * (a[1] * 3.0)
        part[k] += 0.5
    return total


@case((W, 3), (W, 0))
def transposed(w, steps):
    x = np.ones(2)
    for _ in range(steps):
        k = -w.reshape(2, 2)
        x = k @ x + (2.0 * k.T) @ x
    return np.sum(x**2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
    every = tuple(k for k, v in enumerate(args) if not isinstance(v, int))
    found = ad.grad(fn, every)(*args)
    with pass_registry.without("licm"):
        expected = ad.grad(fn, every)(*args)
    for one, other in zip(found, expected) if len(every) > 1 else [(found, expected)]:
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)
        assert type(one) is type(other)


def test_what_is_stopped():
    def f(r, steps):
        x = 1.0
        for _ in range(steps):
            x = x + ad.stop_gradient(2.0 * r) * x * (2.0 * r)
        return x

    assert ad.grad(f)(0.4, 0) == 0.0
    assert ad.grad(f)(0.4, 3) == pytest.approx(3 * (1 + 0.8**2) ** 2 * 2.0 * 0.8)


def loops(text):
    """The lines of a program that stand in loops, without comments."""
    return "\n".join(x for x in text.splitlines() if x.startswith("        ") and "# " not in x)


def test_the_steps_backwards_only_add_up():
    lines = loops(ad.adjoint_source(waves, W, V, 0.3, 3, grad_position=(0, 2)))
    assert "d_c" not in lines and "d_r" not in lines
    assert "0.5" not in loops(ad.adjoint_source(swept, 0.3, V, 3))


def test_of_single_precision():
    args = W.astype(np.float32), V.astype(np.float32), 0.3, 3
    found = ad.grad(waves, (0, 1))(*args)
    assert [g.dtype for g in found] == [np.float32, np.float32]
    for one, other in zip(found, ad.grad(waves, (0, 1))(W, V, 0.3, 3)):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def test_without_steps_nothing_is_singular():
    def f(x, c, steps):
        for _ in range(steps):
            x = x * np.sqrt(c) + x / c
        return np.sum(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        d_x, d_c = ad.grad(f, (0, 1))(V, np.zeros(4), 0)
    np.testing.assert_array_equal(d_x, np.ones(4))
    np.testing.assert_array_equal(d_c, np.zeros(4))


def test_without_steps_nothing_raises():
    np.testing.assert_array_equal(ad.grad(ends)(W[:0], V, 0.3, 0), W[:0])
    with pytest.raises(IndexError):
        ad.grad(ends)(W[:0], V, 0.3, 2)


def test_lengths_that_meet_in_the_loop_only():
    def f(x, v, w, steps):
        for _ in range(steps):
            x = x + np.sum(v * w * 2.0)
        return x * x

    assert ad.grad(f, (0, 1))(2.0, V, V[:2], 0)[0] == 4.0
    with pytest.raises(ValueError, match="broadcast"):
        ad.grad(f, (0, 1))(2.0, V, V[:2], 1)


def test_a_name_without_a_value_is_not_read():
    def f(w, x, steps):
        if steps > 0:
            y = w * 2.0
        for _ in range(steps):
            x = x * np.sum(3.0 * y)
        return x * x

    np.testing.assert_array_equal(ad.grad(f)(V, 2.0, 0), np.zeros(4))
    np.testing.assert_allclose(ad.grad(f)(V, 2.0, 1), 8 * np.sum(6 * V) * 6 * np.ones(4))


def test_gradients_share_no_memory():
    def f(a, b, steps):
        total = 0.0
        for _ in range(steps):
            total = total + np.sum(a * 2.0) + np.sum(-b)
        return total

    d_a, d_b = ad.grad(f, (0, 1))(V, W, 2)
    d_a += 1.0
    np.testing.assert_array_equal(d_b, -2 * np.ones(4))


def test_pulled_back_twice():
    _, pull = ad.vjp(lambda c, u: waves(c, u, 0.3, 3), W, V)
    first, second = pull(1.0), pull(1.0)
    for one, other, expected in zip(first, second, ad.grad(waves, (0, 1))(W, V, 0.3, 3)):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, expected, rtol=1e-13)


def test_second_order():
    found = ad.grad(lambda c: np.sum(ad.grad(waves)(c, V, 0.3, 3) ** 2))(W)
    with pass_registry.without("licm"):
        expected = ad.grad(lambda c: np.sum(ad.grad(waves)(c, V, 0.3, 3) ** 2))(W)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
