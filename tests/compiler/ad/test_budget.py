"""Budgets of memory: what loops save fits, or a warning says that it does not."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import segments
from autodiff_sct.checkpoints import MemoryWarning
from autodiff_sct.runtime.segments import steps_within

pytestmark = pytest.mark.once

X = np.linspace(0.1, 0.9, 20_000)
MB = 1_000_000


def squared(x, w, n):
    for _ in range(n):
        x = np.sin(x) * x * w
    return np.sum(x)


def stencil(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u * u)


def with_inner_loop(x, n):
    total = 0.0
    for i in range(n):
        x = np.tanh(x) + 0.001 * i
        for _ in range(3):
            total = total + np.sum(np.cos(x) * x)
    return total


def in_two_loops(x, n):
    y = x * 1.0
    for _ in range(n):
        x = np.sin(x) * x
    for _ in range(n):
        y = y * np.cos(x + y)
    return np.sum(x * y)


def branching(x, n):
    for i in range(n):
        if i % 3:
            x = x * np.sin(x)
        else:
            x = np.exp(-x * x)
    return np.sum(x)


PROGRAMS = [
    (squared, (X, X, 400), 16 * MB),
    (stencil, (X, 400), 16 * MB),
    (with_inner_loop, (X, 300), 30 * MB),
    (in_two_loops, (X, 300), 32 * MB),
    (branching, (X, 400), 24 * MB),
]


def peak(fn: Any, *args: Any) -> int:
    """The most memory that a call holds at once, in bytes."""
    fn(*args)
    tracemalloc.start()
    fn(*args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize(("fn", "args", "budget"), PROGRAMS, ids=[fn.__name__ for fn, _, _ in PROGRAMS])
def test_the_peak_is_within_the_budget(fn: Any, args: Any, budget: int) -> None:
    assert peak(ad.grad(fn), *args) > 2 * budget
    within = ad.grad(fn, memory=budget)
    assert peak(within, *args) < budget
    np.testing.assert_array_equal(within(*args), ad.grad(fn)(*args))


def test_other_calls() -> None:
    value, gradient = ad.value_and_grad(squared, memory="16 MB")(X, X, 50)
    assert value == squared(X, X, 50)
    expected = ad.grad(squared)(X, X, 50)
    np.testing.assert_array_equal(gradient, expected)
    value, pull = ad.vjp(lambda x: squared(x, X, 50), X, memory="6 MB")
    assert value == squared(X, X, 50)
    np.testing.assert_array_equal(pull(1.0)[0], expected)
    np.testing.assert_array_equal(pull(1.0)[0], expected)
    assert "steps_within(16000000, n, (x,), (x, x))" in ad.adjoint_source(squared, X, X, 3, memory="16 MB")
    decorated = ad.grad(memory="16 MB")(squared)
    np.testing.assert_array_equal(decorated(X, X, 50), expected)


def test_one_segment_where_all_fits() -> None:
    assert steps_within(100 * MB, 50, (X,), (X, X)) == 50
    assert steps_within(6 * MB, 50, (X,), (X, X)) == 5
    assert steps_within(MB, 0, (1.0,), (1.0,)) == 1
    assert steps_within(10_000, 10**6, (), ()) == 10**6


def test_what_cannot_fit_is_said() -> None:
    with pytest.warns(MemoryWarning, match="a loop of 400 steps needs about"):
        found = ad.grad(squared, memory="2 MB")(X, X, 400)
    np.testing.assert_array_equal(found, ad.grad(squared)(X, X, 400))


def test_what_cannot_run_in_segments_is_said() -> None:
    def guarded(x, n):
        for i in range(n):
            try:
                x = x * [1.5, 2.0][i]
            except IndexError:
                x = np.sin(x)
        return np.sum(x)

    with pytest.warns(MemoryWarning, match="this loop saves every step: `try`"):
        found = ad.grad(guarded, memory="2 MB")(X, 4)
    np.testing.assert_array_equal(found, ad.grad(guarded)(X, 4))


def test_own_segments_stay() -> None:
    def own(x, n):
        for _ in segments(range(n), every=7):
            x = np.sin(x) * x
        return np.sum(x)

    assert "range(0, n, 7)" in ad.adjoint_source(own, X, 3, memory="16 MB")
    assert "steps_within" not in ad.adjoint_source(own, X, 3, memory="16 MB")


def test_loops_that_save_nothing_stay() -> None:
    def linear(x, n):
        x = x.copy()
        for _ in range(n):
            x[1:-1] = 0.5 * (x[:-2] + x[2:])
        return np.sum(x)

    assert "steps_within" not in ad.adjoint_source(linear, X, 3, memory="16 MB")


def test_second_order() -> None:
    def first(x):
        return np.sum(ad.grad(squared, memory=3000)(x, x, 4) * np.cos(x))

    def first_plain(x):
        return np.sum(ad.grad(squared)(x, x, 4) * np.cos(x))

    x = X[::2000]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MemoryWarning)
        np.testing.assert_allclose(ad.grad(first)(x), ad.grad(first_plain)(x), rtol=1e-9)


@pytest.mark.parametrize("wrong", ["lots", "-3 MB", "3 megs", 0, -1, "", "3 mb/s"])
def test_wrong_budgets(wrong: Any) -> None:
    with pytest.raises(ValueError, match="memory is"):
        ad.grad(squared, memory=wrong)


@pytest.mark.parametrize("wrong", [True, [1], 2.5])
def test_wrong_kinds_of_budgets(wrong: Any) -> None:
    for call in (ad.grad, ad.value_and_grad):
        with pytest.raises(TypeError, match="memory is"):
            call(squared, memory=wrong)


def test_a_loop_in_a_try_saves_every_step() -> None:
    def fn(x):
        kept = []
        try:
            kept = [item * item for item in x if item > -0.3]
        except ValueError:
            pass
        return sum(kept)

    x = np.array([0.3, -0.4, 0.7])
    with pytest.warns(MemoryWarning, match="may end early"):
        np.testing.assert_allclose(ad.grad(fn, memory=1)(x), [0.6, 0.0, 1.4])


def test_items_of_lists_in_a_list_are_put_back_before_steps_run_again() -> None:
    def fn(x):
        n, u = len(x), np.zeros(len(x))
        rows = [[v * 2.0 for v in x] for _ in range(2)]
        for i in range(n):
            for j in range(n):
                u[j] = np.tanh(rows[1][0] * u[j - 1] + x[i])
        for i in range(2):
            rows[i][0] -= 0.3
        return np.sum(u) + rows[1][0]

    x = np.array([0.3, 0.5, -0.7, 0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MemoryWarning)
        found = ad.grad(fn, memory=1)(x)
    np.testing.assert_allclose(found, ad.grad(fn)(x), rtol=1e-12)
