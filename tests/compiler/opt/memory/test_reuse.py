"""Augmented assignments that stay in place, and those that must not."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.core import thresholds
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, differences, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
W = np.array([1.0, 2.0, 3.0, 4.0])


@case((V, 3), (V, 0), (V, 1))
def leapfrog(x, n):
    u = x.copy()
    v = np.zeros_like(u)
    for _ in range(n):
        force = np.zeros_like(u)
        force[1:-1] = u[:-2] + u[2:] - 2 * u[1:-1]
        v += 0.3 * force
        u += v
    return np.sum(u**2)


@case((V, 3))
def old_value_is_squared(x, n):
    v = x * 1.0
    total = 0.0
    for _ in range(n):
        total = total + np.sum(v**2)
        v += 0.5 * x
    return total


@case((V, 3))
def two_names_for_one_array(x, n):
    v = x * 1.0
    w = v
    for _ in range(n):
        v += w * 0.5
    return np.sum(w * v)


@case((V, 3))
def kept_in_a_list(x, n):
    v = x * 1.0
    kept = []
    for _ in range(n):
        kept.append(v)
        v = v * 0.5
        v += x
    return np.sum(kept[0] * kept[1]) + np.sum(v)


@case((V, 3))
def number_in_an_array_kept_in_a_list(x, n):
    total = np.zeros(())
    kept = []
    for k in range(n):
        total += x[k]
        kept.append(total)
    return kept[0] * kept[1]


@case((np.array(0.7), 3), (V, 3))
def like_a_number(x, n):
    y = np.zeros_like(x)
    kept = []
    for _ in range(n):
        y += x * x
        kept.append(y)
    return np.sum(kept[0] * kept[-1])


@case((V, 2))
def stays_an_array(x, n):
    total = np.zeros(())
    for k in range(n):
        total += x[k] ** 2
    assert type(total) is np.ndarray
    return total


@case((V, 3))
def started_from_another(x, n):
    start = x * 1.0
    v = start
    total = 0.0
    for _ in range(n):
        v = v + 0.0
        v += x
        total = total + np.sum(v * start)
    return total + np.sum(start**2)


@case((V, 3))
def handed_to_another_name(x, n):
    v = x * 1.0
    before = x * 0.0
    for _ in range(n):
        before = v * 1.0
        v += before * 0.5
    return np.sum(v * before)


@case((V, 3))
def last_two(x, n):
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a + b
        b += 1.0
    return np.sum(a * b)


@case((V, 3))
def in_a_branch(x, n):
    v = x * 1.0
    for k in range(n):
        if k % 2:
            v += x
        else:
            v = np.sin(v)
    return np.sum(v)


@case((V, 0.5), (V, -0.5))
def view_is_read_in_reverse_after_a_branch(x, c):
    v = x * 2.0
    a = np.sum((1.0 - v[:-1]) ** 2)
    w = x
    if c > 0:
        w = np.sin(x) * w
    v += x
    return a + np.sum(v**3) * np.sum(w**2)


@case((V, 3), (V, 0))
def view_is_read_in_reverse_after_a_loop(x, n):
    v = x * 2.0
    a = np.sum(np.exp(1.0 - v[:-1]))
    w = x * 1.0
    for _ in range(n):
        w = np.sin(w) * x
    v += w
    return a + np.sum(v**3) * np.sum(w**2)


@case((V, 2))
def view_of_a_part_of_a_loop(x, n):
    total = 0.0
    for k in range(n):
        v = x * 2.0
        a = np.sum(np.exp(1.0 - v[:-1]))
        w = np.sin(x) * x if k > 0 else x
        v += w
        total += a + np.sum(v**3) * np.sum(w**2)
    return total


@case((V, 3), (V, 0))
def in_two_loops(x, n):
    total = np.zeros(len(x))
    for i in range(n):
        for j in range(n):
            total += x**2 * (i - j)
    return np.sum(total * x)


@case((V, 3), (V, 0))
def read_between_two_loops(x, n):
    total = x * 1.0
    sums = 0.0
    for i in range(n):
        before = total
        for j in range(n):
            total += x * j
        sums = sums + np.sum(before * total**2)
    return sums


@case((V, 3), (V, 0))
def kept_after_an_inner_loop(x, n):
    total = x * 1.0
    kept = [total]
    for i in range(n):
        total = total * 0.5
        for j in range(n):
            total += x * j
        kept.append(total)
    return np.sum(kept[0] * kept[-1] ** 2)


@case((V, 3), (V, 0))
def one_loop_after_another(x, n):
    total = x * 1.0
    for i in range(n):
        total += x * i
    first = total
    for j in range(n):
        total += first * j
    for j in range(n):
        total += x**2
    return np.sum(total * x)


@case((V, W))
def new_value_of_a_name(x, w):
    p = np.exp(x - np.max(x))
    p = p / np.sum(p)
    p = p * w
    return np.sum(p * p)


@case((V, W))
def old_value_in_a_view(x, w):
    p = np.exp(x)
    first = p[:2]
    p = p * w
    return np.sum(p * p) + np.sum(first * first)


@case((V, W))
def old_value_in_what_may_be_a_view(x, w):
    p = np.exp(x)
    same, row, first = np.ravel(p), np.expand_dims(p, 0), np.split(p, 2)[0]
    p = p * w
    return np.sum(p * p) + np.sum(same * row) + np.sum(first)


@case((V, W))
def old_value_in_a_list(x, w):
    p = np.exp(x)
    kept = [p]
    p = p + w
    kept.append(p)
    return np.sum(kept[0] * kept[1] * x)


@case((V, W))
def old_value_under_another_name(x, w):
    p = np.exp(x)
    q = p
    p = p - w
    return np.sum(p * q)


@case((V, 1.0), (V, 0.0))
def old_value_after_an_exception(x, c):
    p = np.exp(x)
    try:
        p = p * (1.0 / float(c))
    except ZeroDivisionError:
        p = p * x
    return np.sum(p * p)


@case((V, 3), (V, 0))
def new_value_in_each_step(x, n):
    v = np.sin(x)
    total = 0.0
    for k in range(n):
        v = v + 0.5 * np.cos(x * k)
        total = total + np.sum(v)
    return total + np.sum(v)


@case((V, 3), (V, 0))
def begun_with_one_array_again_and_again(x, n):
    h = np.tanh(x)
    total = x * 1.0
    for k in range(n):
        a = h
        terms = []
        for j in range(2):
            terms.append(a * (j + 1))
            a = a * 0.5
        total = total * sum(terms)
    return np.sum(total)


@case((V, 3), (V, 0))
def handed_an_array_from_outside(x, n):
    a, h = x * 1.0, x * 2.0
    total = 0.0
    for _ in range(n):
        a = a * W
        total = total + np.sum(a)
        a = h
    return total


@case(V)
def broadcast_to_more_axes(x):
    p = np.exp(x)
    p = p + x[:, None]
    return np.sum(p * p)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn, args):
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullbacks_repeat(fn, args):
    value, pullback = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    assert np.array_equal(value, fn(*args))
    found = np.copy(pullback(np.ones_like(value)))
    assert np.array_equal(pullback(np.ones_like(value)), found)


def test_name_with_a_new_value_is_overwritten():
    text = ad.adjoint_source(new_value_of_a_name, V, W)
    assert "p /= np.sum(p)" in text
    with pass_registry.without("reuse_buffers"):
        assert "p = p / np.sum(p)" in ad.adjoint_source(new_value_of_a_name, V, W)


def test_what_is_kept_outside_is_not_overwritten():
    class Shelf:
        pass

    def fn(x, shelf):
        p = np.exp(x)
        shelf.p = p
        p = p * 2.0
        return np.sum(p * p)

    shelf = Shelf()
    ad.value_and_grad(lambda x: fn(x, shelf))(V)
    assert np.array_equal(shelf.p, np.exp(V))


def of_another_order(x, w):
    p = np.exp(x.T)
    p = p * w
    return np.sum(p)


def carried_in_another_order(x, w):
    v = x.T * 2.0
    m = v * 1.0
    for _ in range(2):
        v = v - 0.1 * np.cos(m)
        m = m + w
    return np.sum(v)


def augmented_after_a_square(x, w):
    p = np.exp(x.T)
    squares = np.sum(p**2)
    p += w
    return np.sum(p) + squares


def augmented_in_a_loop(x, w):
    p = np.exp(x)
    for _ in range(3):
        p -= w.T
    return np.sum(p)


OF_ORDERS = [of_another_order, carried_in_another_order, augmented_after_a_square, augmented_in_a_loop]


@pytest.mark.parametrize("fn", OF_ORDERS)
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_sums_follow_the_order_in_memory(fn, orders):
    rng = np.random.default_rng(5)
    for _ in range(20):
        x, w = (np.asarray(rng.normal(size=(17, 17)), order=order) for order in orders)
        value = fn(x, w)
        assert ad.value_and_grad(fn)(x, w)[0] == value
        assert ad.jvp(fn, (x, w), (x, w))[0] == value
        assert ad.vjp(fn, x, w)[0] == value
    check_gradient(fn, (x, w))


def of_one_order(x, w, b):
    h = x @ w
    h = h + b
    h = h * (0.5 * b)
    h = h - np.sum(h, axis=1, keepdims=True)
    h = h - 0.1 * np.tanh(h)
    v = x.T * 2.0
    for _ in range(3):
        v = v - 0.1 * b
    return np.sum(h * h) + np.sum(v)


def test_matrices_of_one_order_are_overwritten():
    x, b = np.arange(16.0).reshape(4, 4) / 9, np.array([0.3, 0.5, -0.2, 0.1])
    check_gradient(of_one_order, (x, x + 0.3, b))
    text = ad.adjoint_source(of_one_order, x, x, b)
    for line in ("h += b", "h *= ", "h -= np.sum(h, axis=1, keepdims=True)", "v -= 0.1 * b"):
        assert line in text


def along_the_first_axis(x):
    p = np.exp(x)
    p = p / np.sum(p, axis=0, keepdims=True)
    return np.sum(p * p[::-1])


def along_the_last_axis(x):
    p = np.exp(x)
    p = p / p.sum(axis=-1, keepdims=True)
    return np.sum(p * p[::-1])


def along_two_axes(x):
    p = np.exp(x)
    p = p - np.mean(p, axis=(0, 2), keepdims=True)
    return np.sum(p * p[::-1])


@pytest.mark.parametrize("fn", [along_the_first_axis, along_the_last_axis, along_two_axes])
def test_sum_that_keeps_its_axes_has_the_order_of_the_array(fn):
    text = ad.adjoint_source(fn, np.ones((2, 3, 4)))
    assert "p /= " in text or "p -= " in text
    rng = np.random.default_rng(3)
    for order in itertools.permutations(range(3)):
        x = rng.normal(size=(6, 7, 8)).transpose(order)
        assert ad.value_and_grad(fn)(x)[0] == fn(x)


def test_leapfrog_stays_in_place():
    text = ad.adjoint_source(leapfrog, V, 3)
    assert "v += 0.3 * force" in text and "u += v" in text


def doubled(a, n):
    if n == 0:
        return np.sum(a)
    a *= 2
    return doubled(a, n - 1)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_argument_of_a_recursive_function(n):
    """What a recursive function does to its argument is seen by its caller."""

    def program(x):
        y = x * 1
        total = doubled(y, n)
        return total + np.sum(y * y)

    check_gradient(program, (V,))


def both_doubled(a, b, n):
    if n == 0:
        return np.sum(a * b)
    a *= 2
    return both_doubled(a, b, n - 1) + np.sum(b)


def test_one_array_twice_in_a_recursion():
    def program(x, n):
        y = x * 1
        return both_doubled(y, y, n)

    np.testing.assert_allclose(ad.grad(program)(V, 3), differences(program, (V, 3)), rtol=1e-6)
    with pytest.raises(ad.AutodiffError, match="share memory"):
        ad.grad(program)(V, thresholds.INTEGER + 1)


def scaled(a, b):
    a *= 2
    return np.sum(a * b)


def with_a_global(a):
    a *= 2
    return np.sum(a * W)


@pytest.mark.parametrize(
    "fn, args", [(scaled, (W, W)), (scaled, (W[1:], W[:-1])), (scaled, (W, W[::-1])), (with_a_global, (W,))]
)
def test_augmented_argument_that_is_another_too(fn, args):
    """Nobody would see the change of one in the other."""
    run = ad.value_and_grad(fn)
    apart = tuple(a + 0 for a in args)
    assert run(*apart)[0] == fn(*[a.copy() for a in apart])
    with pytest.raises(ad.AutodiffError, match="share memory"):
        run(*args)


def test_a_number_is_augmented_as_the_user_wrote_it():
    def f(x):
        total = 0.0
        for v in x:
            total += v * v
            total = total + v
        return total * total

    source = ad.adjoint_source(f, V)
    assert "        total += v * v\n" in source
    assert "        total = total + v\n" in source


@pytest.mark.parametrize("start", [2.0, np.float64(2.0), np.array(2.0)])
def test_number_or_array_without_axes_that_is_augmented(start):
    def f(s, x):
        before = s
        for v in x:
            s += v * v
        return s * before * np.sum(x)

    fresh = copy.deepcopy(start)
    value, (d_s, d_x) = ad.value_and_grad(f, (0, 1))(start, V)
    assert value == f(copy.deepcopy(start), V)
    assert start == fresh
    alone = np.sum(V**2) + 2.0
    both = isinstance(start, np.ndarray)  # `before` sees the array change
    np.testing.assert_allclose(d_s, (2 * alone if both else alone + 2.0) * np.sum(V))
    np.testing.assert_allclose(d_x, alone * (alone if both else 2.0) + (2 * alone if both else 2.0) * 2 * V * np.sum(V))


def test_in_place_in_two_loops():
    assert "total += x" in ad.adjoint_source(in_two_loops, V, 3)
