"""Recursive functions whose activations save into the same lists, from loops, branches, handlers and each other."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AliasError, AutodiffError
from tests.compiler.checked import check_gradient, differences

pytestmark = pytest.mark.once

PROGRAMS = []


def program(*args):
    def register(fn):
        PROGRAMS.append(pytest.param(fn, args, id=fn.__name__))
        return fn

    return register


@program(0.7, 6)
def fib(x, n):
    if n < 2:
        return x ** (n + 1)
    return fib(x, n - 1) * np.sin(x) + fib(x * 0.9, n - 2)


@program(0.7, 4)
def loopcalls(x, n):
    if n == 0:
        return np.cos(x)
    total = 0.0
    for k in range(n):
        y = np.sin(x * (k + 1))
        total = total + y * loopcalls(x * 0.5, n - k - 1)
    return total


@program(0.7, 5)
def catches(x, n):
    if n == 0:
        raise ValueError("end")
    try:
        a = catches(x * 0.9, n - 1) * x
        if n == 3:
            raise KeyError("three")
    except ValueError:
        a = np.sin(x)
    except KeyError:
        a = np.cos(x) * 2
    return a * x


@program(0.7, 5)
def halves(x, n):
    if n <= 1:
        return x * x
    if n % 2:
        t = np.sin(x)
    s = halves(x * 0.8, n // 2) + halves(x * 0.7, n - n // 2)
    if n % 2:
        s = s * t
    return s


def is_even(x, n):
    return np.exp(-x) if n == 0 else x * is_odd(x * 0.9, n - 1)


def is_odd(x, n):
    return np.sin(x) if n == 0 else np.cos(x) * is_even(x + 0.1, n - 1)


@program(0.7, 5)
def mutual(x, n):
    return is_even(x, n)


@program(np.array([0.3, 0.5, 0.9, 0.2, 0.7]), 4)
def local_arrays(x, n):
    if n == 0:
        return np.sum(x**2)
    y = x.copy()
    for i in range(len(y) - 1):
        y[i] = y[i] * y[i + 1]
    z = y[1:]
    z *= 1.5
    r = local_arrays(y, n - 1)
    y[0] = r
    return np.sum(y * x)


@program(np.array([0.3, 0.5, 0.9, 0.2, 0.7, 0.4]))
def tree(x):
    if len(x) == 1:
        return x[0]
    m = len(x) // 2
    l, r = tree(x[:m]), tree(x[m:])
    return l * r + np.sin(l)


@program(np.array([0.3, 0.5, 0.9]), 3)
def captured(w, n):
    scale = np.exp(w[0])

    def go(v, k):
        if k == 0:
            return v * scale
        v = v + w * scale
        return go(np.tanh(v), k - 1) * v

    return np.sum(go(w * 2, n))


@program(0.6, 9)
def inner_loop_state(x, n):
    def go(x, n):
        acc = 1.0
        for _ in range(n % 3):
            acc = acc * np.sin(x + acc)
        if n <= 0:
            return acc
        return acc * go(x * acc, n - 2)

    total = 0.0
    for k in range(3):
        total += go(x + k * 0.1, n - k)
    return total


@program(0.6, 4)
def tuples(x, n):
    def go(x, n):
        if n == 0:
            return x, x * x
        a, b = go(np.sin(x), n - 1)
        return a * b, b + x

    a, b = go(x, n)
    return a * b


@program(0.6, 4)
def withwhile(x, n):
    if n == 0:
        return x
    k = 0
    while x < 1.0:
        x = x * 1.4 + 0.01 * k
        k += 1
    return withwhile(x * 0.3, n - 1) * x


@program(np.array([1.0, 2.0, 3.0]), 3)
def fills(x, n):
    out = []

    def go(v, k):
        if k > 0:
            out.append(v * v)
            go(np.sin(v), k - 1)
            out.append(v)

    go(x, n)
    s = 0.0
    for v in out:
        s = s + np.sum(v) * np.sum(out[0])
    return s


# What a list holds is another argument of the calls, too: the list is written, and not what it holds.


@program(np.array([0.1, 0.2, 0.3]), 30)
def holds_an_argument(x, n):
    weights, log = x * 2, []

    def go(v, k, other):
        if k == 0:
            return np.sum(v)
        log.append(weights if k % 2 else v)
        return 0.1 * np.sum(v * other) + go(np.sin(v) * weights, k - 1, other)

    return go(x + 1, n, weights) + sum(np.sum(item**2) for item in log)


@program(np.array([0.1, 0.2, 0.3]), 30)
def moves_items(x, n):
    weights = x * 2
    last = [weights, x * 1.0]

    def go(v, k):
        if k == 0:
            return np.sum(v)
        last[0] = last[1]
        last[1] = v
        return np.sum(v * weights) + go(np.sin(v) * last[0], k - 1)

    return go(x + 1, n) + sum(np.sum(item**2) for item in last)


@program(np.array([0.1, 0.2, 0.3]), 30)
def takes_and_puts(x, n):
    weights = x * 2
    stack = [weights, x * 1.0]

    def go(v, k):
        if k == 0:
            return np.sum(v)
        y = stack.pop()
        stack.append(weights)
        return np.sum(v * y) + go(np.sin(v) * y, k - 1)

    return go(x + 1, n) + sum(np.sum(item**2) for item in stack)


def test_a_shared_array_that_is_written_is_refused():
    def program(x, n):
        weights, log = x * 2, []

        def go(v, k):
            if k == 0:
                return np.sum(v)
            log.append(weights)
            weights[k % 3] *= v[0]
            return np.sum(v * weights) + go(np.sin(v), k - 1)

        return go(x + 1, n) + sum(np.sum(item**2) for item in log)

    with pytest.raises(AliasError, match="share memory"):
        ad.grad(program)(np.array([0.1, 0.2, 0.3]), 30)


@pytest.mark.parametrize(("fn", "args"), PROGRAMS)
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), PROGRAMS)
def test_pullback_may_be_run_again(fn, args):
    try:
        _, pull = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    except AutodiffError as error:
        assert fn.__name__ in PULLED_ONCE and "keeps for its derivative is written" in str(error)
        return
    first, second = (found[0] if isinstance(found, tuple) else found for found in (pull(1.0), pull(1.0)))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, differences(fn, args), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("fn", "args"), PROGRAMS)
def test_second_order(fn, args):
    """Right, or refused with a place."""

    def slope(x, *rest):
        return np.sum(ad.grad(fn)(x, *rest) ** 2)

    try:
        found = ad.grad(slope)(*args)
    except AutodiffError as error:
        assert fn.__name__ in REFUSED_TWICE and ":" in str(error)
        return
    assert fn.__name__ not in REFUSED_TWICE
    np.testing.assert_allclose(found, differences(slope, args), rtol=1e-4, atol=1e-6)


REFUSED_TWICE = {"catches", "moves_items"}
PULLED_ONCE = {"local_arrays", "holds_an_argument", "moves_items", "takes_and_puts"}
