"""What is the same in every step of a loop, also where it may raise or the loop has no steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
W = np.array([0.7, -0.2, 1.1, 0.3])


@case((V, W, 3), (V, W, 0), (V[:1], W[:1], 2), (V[:0], W[:0], 2))
def diffused(x, w, steps):
    x = x.copy()
    for _ in range(steps):
        x[1:-1] += 0.1 * w[1:-1] ** 2 * (x[2:] - 2 * x[1:-1] + x[:-2])
    return np.sum(x**2)


@case((W, V, 3), (W, V, 0), (W, V, 1))
def with_respect_to_what_stays(w, x, steps):
    for _ in range(steps):
        x = x * np.sin(w) ** 2 + np.exp(w)
    return np.sum(x * w)


@case((V, W, 3))
def operand_written_in_the_loop(x, w, steps):
    a, total = w.copy(), 0.0
    for k in range(steps):
        total += np.sum(x * np.exp(a))
        a[k] = 2.0
    return total


@case((V, W, 3))
def operand_written_through_a_view(x, w, steps):
    a, total = w.copy(), 0.0
    part = a[1:]
    for k in range(steps):
        total = total + np.sum(x * np.exp(a))
        part[k] += 0.5
    return total


@case((V, W, 3))
def operand_written_between_two_loops(x, w, steps):
    a, total = w.copy(), 0.0
    for _ in range(steps):
        total = total + np.sum(x * np.exp(a))
    a[0] = -1.0
    for _ in range(steps):
        total = total + np.sum(x**2 * np.exp(a))
    return total


@case((V, W, 3))
def result_written_in_the_loop(x, w, steps):
    total = 0.0
    for k in range(steps):
        a = np.exp(w)
        a[k] = 3.0
        total = total + np.sum(x * a)
    return total


@case((V, W, 3), (V, W, 0))
def result_carried_on(x, w, steps):
    y = x * 1.0
    for _ in range(steps):
        x = x * y
        y = np.exp(w)
    return np.sum(x * y)


@case((V, W, 3))
def result_changed_in_place_later(x, w, steps):
    total = x * 0.0
    for _ in range(steps):
        step = w * 2.0
        step += x
        total += step * x
    return np.sum(total**2)


@case((V, W, 3))
def collected(x, w, steps):
    found = []
    for _ in range(steps):
        found.append(np.cos(w))
    found[0][1] = 0.5
    return sum(np.sum(x * f) for f in found)


@case((V, W, 3), (V, -W, 3))
def in_branches(x, w, steps):
    total = 0.0
    for k in range(steps):
        if w[k] > 0:
            total = total + np.sum(x / w**2)
        else:
            total = total - np.sum(x * w**2)
    return total


@case((V, W, 2), (V, W, 0))
def nested(x, w, steps):
    total = 0.0
    for k in range(steps):
        y = x * (k + 1.0)
        for _ in range(k):
            total = total + np.sum(y**2 * np.tanh(w) ** 2)
        total = total + np.sum(np.sin(y) * np.tanh(w) ** 2)
    return total


@case((0.3, 2.0, 4), (0.3, 2.0, 0))
def of_numbers(x, y, steps):
    for _ in range(steps):
        x = x + 0.01 * (y * 2.0 + 3.0 * y + y * y * y - 1.0) * np.sin(x)
    return x


@case((V, W))
def until_it_is_small(x, w):
    while np.sum(x**2) > 0.3:
        x = x * 0.5 + 0.01 * w**2
        if x[0] < -5:
            break
    return np.sum(x**3)


@case((V, W, 3))
def the_weights_themselves(x, w, steps):
    loss = 0.0
    for k in range(steps):
        loss = loss + k * np.sum(np.tanh(x * w) ** 2) + 0.1 * np.sum(x**2)
    return loss


@case((V, W, 3), (V, W, 0))
def identities(x, w, steps):
    for _ in range(steps):
        x = (np.eye(4) - np.outer(x, w)) @ x + np.eye(4)[0] * x
        changed = np.eye(4)
        changed[0] += x
        x = changed @ x
    return np.sum(x)


@case((V, W, 2), (V, W, 0))
def defined_in_a_loop_before(x, w, steps):
    total = 0.0
    for k in range(steps):
        y = w * (k + 0.5)
    for _ in range(steps):
        total = total + np.sum(x**2 * np.sin(y) ** 2)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    for k in [k for k, v in enumerate(args) if k and not isinstance(v, int)]:
        np.testing.assert_allclose(ad.grad(fn, k)(*args), differences(fn, args, k), rtol=1e-5, atol=1e-7)


def test_without_steps_nothing_raises():
    def f(x, w, steps):
        for _ in range(steps):
            x = x * (1.0 / w) + w**2
        return x * x

    assert ad.grad(f)(2.0, 0.0, 0) == 4.0
    assert ad.grad(f)(2.0, 1e300, 0) == 4.0
    with pytest.raises(ZeroDivisionError):
        ad.grad(f)(2.0, 0.0, 1)


def test_lengths_that_meet_in_the_loop_only():
    def f(x, v, w, steps):
        for _ in range(steps):
            x = x + np.sum(v**2 * w)
        return x * x

    assert ad.grad(f)(2.0, V, V[:2], 0) == 4.0
    with pytest.raises(ValueError, match="broadcast"):
        ad.grad(f)(2.0, V, V[:2], 1)


def test_what_two_loops_compute_alike_is_handed_on():
    def f(x):
        for _ in range(2):
            b = 0.9 * math.tanh(x)
        for _ in range(3):
            a = 0.9 * math.tanh(x)
            if np.sin(2.0 - a) > 0.4:
                break
        return math.cos(a) + b * b

    slope = 0.9 * (1 - math.tanh(0.5) ** 2)
    a = 0.9 * math.tanh(0.5)
    assert ad.grad(f)(0.5) == pytest.approx(slope * (2 * a - math.sin(a)))


def test_a_name_without_a_value_is_not_read():
    def f(x, w, steps):
        if steps > 0:
            y = w * 2.0
        for _ in range(steps):
            x = x * np.sum(np.exp(y) ** 2)
        return x * x

    assert ad.grad(f)(2.0, V, 0) == 4.0
    assert ad.grad(f)(2.0, V, 1) == pytest.approx(4.0 * np.sum(np.exp(2 * V) ** 2) ** 2)


def test_gradients_share_no_memory():
    def f(a, b, steps):
        total = 0.0
        for _ in range(steps):
            total = total + np.sum(a * 2.0) + np.sum(b * np.exp(W))
        return total

    d_a, d_b = ad.grad(f, (0, 1))(V, W, 2)
    d_a += 1.0
    np.testing.assert_allclose(d_b, 2 * np.exp(W))


def test_pulled_back_twice():
    _, pull = ad.vjp(lambda x, w: diffused(x, w, 3), V, W)
    first, second = pull(1.0), pull(1.0)
    for one, other, expected in zip(first, second, ad.grad(diffused, (0, 1))(V, W, 3)):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, expected, rtol=1e-13)


def test_second_order():
    found = ad.grad(lambda x: np.sum(ad.grad(diffused)(x, W, 3) ** 2))(V)
    expected = differences(lambda x: np.sum(ad.grad(diffused)(x, W, 3) ** 2), (V,))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


# What may raise in the first step


def ends(x, c, steps):
    for _ in range(steps):
        k = (c[0] - 1.0) / (c[-1] + 1.0)
        x = x + k * np.sin(x)
    return np.sum(x)


def quotients(x, a, b, steps):
    for _ in range(steps):
        x = x + (0.5 * a / b + a**2) * x * x
    return np.sum(x)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_gradients_with_what_is_moved(steps):
    check_gradient(ends, (V, W, steps))
    check_gradient(lambda c, x: ends(x, c, steps), (W, V))
    check_gradient(quotients, (V, 0.3, 0.7, steps))
    check_gradient(lambda a, x: quotients(x, a, 0.7, steps), (0.3, V))


def test_loops_without_steps_raise_nothing():
    np.testing.assert_array_equal(ad.grad(ends)(V, W[:0], 0), np.ones(4))
    np.testing.assert_array_equal(ad.grad(quotients)(V, 0.3, 0.0, 0), np.ones(4))
    np.testing.assert_array_equal(ad.grad(quotients)(V, 1e200, 1.0, 0), np.ones(4))


def test_loops_with_steps_raise_as_they_do():
    with pytest.raises(IndexError):
        ad.grad(ends)(V, W[:0], 2)
    with pytest.raises(ZeroDivisionError):
        ad.grad(quotients)(V, 0.3, 0.0, 2)
    with pytest.raises(OverflowError):
        ad.grad(quotients)(V, 1e200, 1.0, 2)


def test_items_that_the_loop_writes_stay():
    def written(x, c, steps):
        c = c.copy()
        for _ in range(steps):
            k = (c[0] - 1.0) / (c[1] + 1.0)
            c[0] = 0.5 * c[0]
            x = x + k * np.sin(x)
        return np.sum(x)

    check_gradient(written, (V, W, 3))
    check_gradient(lambda c, x: written(x, c, 3), (W, V))
