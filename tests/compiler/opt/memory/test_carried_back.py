"""What a step leaves is what the next one began with: programs whose loops carry values back, and such that may not."""

import math

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import segments
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES: list = []
case = registrar(CASES)
GIVEN = [(V, 3), (V, 1), (V, 0)]


@case(*GIVEN)
def cell(x, n):
    for _ in range(n):
        x = np.tanh(x * np.roll(x, 1) + 0.5)
    return np.sum(x * x)


@case(*GIVEN)
def value_read_after(x, n):
    h = x
    for k in range(n):
        h = np.exp(-h * x) * h + k
    return np.sum(h * np.sin(h)) + np.sum(x * h)


@case(*GIVEN)
def exchanged(x, n):
    a, b = x, np.cos(x)
    for _ in range(n):
        a, b = b, np.tanh(a * b) * b
    return np.sum(a * a * b)


@case(*GIVEN)
def three_in_turn(x, n):
    a, b, c = x, 2 * x, np.sin(x)
    for _ in range(n):
        a, b, c = np.exp(b * 0.3), np.sqrt(c * c + 1.0) * a, np.tanh(a) * c
    return np.sum(a * b * c)


@case(*GIVEN)
def read_twice_in_a_step(x, n):
    for _ in range(n):
        y = np.tanh(x)
        x = np.tanh(x * y) * x
    return np.sum(x**3)


@case((V, 5), (V, 0))
def sometimes(x, n):
    for k in range(n):
        if k % 2 == 0:
            x = np.tanh(x) * 1.5
        elif np.sum(x) > 0:
            x = np.exp(x * 0.1) * x
    return np.sum(x * x)


@case((V, 4))
def left_early(x, n):
    for k in range(n):
        x = np.tanh(x * 2.0)
        if np.sum(x * x) > 1.5 and k > 0:
            break
        x = np.exp(x) * x
    return np.sum(x * x)


@case((V, 4))
def step_left_out(x, n):
    for k in range(n):
        if k == 2:
            continue
        x = np.tanh(x * 2.0)
    return np.sum(x * x)


@case((0.7, 3), (0.7, 0))
def number(x, n):
    while n > 0:
        x = math.exp(-x) * x + math.sin(x)
        n -= 1
    return x * x


@case((V, 3), (V, 0))
def item(x, n):
    t = x[1]
    for k in range(n):
        t = np.exp(-t) * t * x[k]
    return t * t


@case((V, 3))
def nested(x, n):
    for i in range(n):
        for _ in range(i):
            x = np.tanh(x * 1.2)
        x = x * np.exp(-x)
    return np.sum(x * x)


@case((V, 3))
def nested_alone(x, n):
    for i in range(n):
        for _ in range(i):
            x = np.tanh(x * 1.2) * x
    return np.sum(x * x)


@case((V, 3))
def begun_again(x, n):
    total = 0.0
    for i in range(n):
        h = x * i
        for _ in range(2):
            h = np.tanh(h * h + 0.3)
        total = total + np.sum(h * h)
    return total


@case((V, 3), (V, 0))
def written_in_the_step(x, n):
    h = x
    for _ in range(n):
        h = np.tanh(h * x)
        h[1] = h[0] * h[2]
        h += 0.1 * h * h
    return np.sum(h * h)


@case((V, 3), (V, 0))
def written_after_the_loop(x, n):
    h = x.copy()
    for _ in range(n):
        h = np.tanh(h * h + 0.2)
    h[0] = h[1] ** 2
    h *= 2.0
    return np.sum(h * h)


@case((V, 3), (V, 0))
def first_written_after(x, n):
    first = x * 1.0
    h = first
    for _ in range(n):
        h = np.tanh(h * h + 0.2)
    first[0] = h[1] ** 2
    return np.sum(h * h) + np.sum(first * first)


@case((V, 3))
def kept_in_a_list(x, n):
    states = [x]
    for _ in range(n):
        x = np.tanh(x * states[-1] + 0.2)
        states.append(x)
    states[1][0] = 3.0
    return sum(np.sum(h * h) for h in states)


@case((V, 3))
def grows(x, n):
    h = x[:1]
    for _ in range(n):
        h = np.tanh(h * x)
    return np.sum(h * h)


@case((V, 3))
def becomes_an_array(x, n):
    h = 0.5
    for _ in range(n):
        h = np.tanh(h * x + 0.1)
    return np.sum(h * h)


@case((V, 3))
def bound_in_the_loop(x, n):
    for k in range(n):
        if k == 0:
            h = x
        h = np.tanh(h * h + 0.2)
    return np.sum(h * h)


@case((V, 3))
def caught(x, n):
    for k in range(n):
        try:
            x = np.tanh(x) * 1.1
            if k == 1:
                raise ValueError
            x = x * np.exp(x)
        except ValueError:
            x = np.sin(x) * x
    return np.sum(x * x)


@case((V, 3))
def in_a_context(x, n):
    for _ in range(n):
        with np.errstate(over="ignore"):
            x = np.tanh(x * x)
        x = np.exp(x) * x
    return np.sum(x)


@case((V, 3))
def view_of_the_last(x, n):
    h = x
    for _ in range(n):
        last = h[::-1]
        h = np.tanh(last * h)
        h = h * np.exp(-last)
    return np.sum(h * h)


@case((V, 5))
def in_segments(x, n):
    for _ in segments(range(n), every=2):
        x = np.tanh(x * 1.5) * x
        for _ in range(2):
            x = np.exp(-x) * x
    return np.sum(x * x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with pass_registry.without("plan_tape"):
        plain = ad.grad(fn)(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_pullback_may_be_called_again(fn, args):
    value, pull = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    (first,), (second,) = pull(1.0), pull(1.0)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, ad.grad(fn)(*args), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fn", [cell, exchanged, nested, sometimes])
def test_differentiated_again(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x, 3) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(V), differences(slope, (V,)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fn", [cell, value_read_after, exchanged, sometimes])
def test_single_precision(fn):
    found = ad.grad(fn)(V.astype(np.float32), 3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(fn)(V, 3), rtol=1e-3)


@pytest.mark.parametrize(("fn", "saved"), [(cell, 2), (value_read_after, 2), (left_early, 3), (number, 1)])
def test_saved_once(fn, saved):
    with pass_registry.without("tape_rows", "tape_tuples"):
        text = ad.adjoint_source(fn, 0.7 if fn is number else V, 3)
    assert text.count(".append(") == saved


def test_memory_of_a_state_a_step():
    import tracemalloc

    gradient = ad.grad(cell)
    gradient(np.ones(10_000), 2)
    tracemalloc.start()
    gradient(np.ones(10_000), 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * 100 * 80_000 * 2  # the state, and the other one that it is multiplied by
