"""Numbers that are one thing on one path and another on the next: where Python's floats may stand for NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.compiler.opt.loops.unboxing import driver
from tests.bank.checks import source_of
from tests.bank.registry import load_bank

pytestmark = pytest.mark.once


def accepted(x, k, noise):
    total = 0.0
    for t in range(len(noise)):
        proposal = x + 0.3 * noise[t]
        if k * (proposal * proposal - 1) ** 2 < k * (x * x - 1) ** 2:
            x = proposal
        else:
            x = x - 0.01 * k * (x * x - 1) ** 2
        total += x * x
    return total / 7


def begins_as_integer(x, k, noise):
    s = 0
    for t in range(len(noise)):
        p = s + 0.3 * noise[t]
        if p < x:
            s = p * k
        else:
            s = s**2 + 1
    return s * x


def stays_integer(x, k, noise):
    s, c = x, 1
    for t in range(len(noise)):
        if noise[t] > 0:
            c = c * 2
        else:
            c = c + noise[t]
        s = s + c**2 * noise[t] * x * k
    return s


def integer_for_a_step(x, k, noise):
    s = x
    for t in range(len(noise)):
        z = s if noise[t] > 0 else 1
        s = s + 0.1 * noise[t] * z**3 * k
    return s


def truth_value(x, k, noise):
    s, total = True, x
    for t in range(len(noise)):
        total = total + s * noise[t] * x
        s = noise[t] * x if noise[t] > 0.5 else False
    return total * k


def remainders(x, k, noise):
    s, total = 1, x
    for t in range(len(noise)):
        if noise[t] > 0:
            s = s + noise[t] * x
        total = total * 0.5 + s // 2 + s % 2 + k * noise[t]
    return total


def squares_overflow(x, k, noise):
    s = x
    for t in range(len(noise)):
        s = s + k * noise[t]
        if s > 0.5:
            s = (s * 1e160) ** 2 / 1e300
        else:
            s = s * 0.99
    return s


def counted(x, k, noise):
    s, m = x, 1
    for t in range(len(noise)):
        y = s * m * noise[t]
        if y > 0:
            m = m + 1
        else:
            m = m * noise[t]
        s = s + np.sin(y) * m**2 * k
    return s


PROGRAMS = [accepted, begins_as_integer, stays_integer, integer_for_a_step]
PROGRAMS += [truth_value, remainders, squares_overflow, counted]
R = np.random.default_rng(3)
NOISES = [R.normal(size=12), np.abs(R.normal(size=6)), -np.abs(R.normal(size=5)), np.zeros(0), np.ones(1)]


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("noise", NOISES, ids=range(len(NOISES)))
@pytest.mark.parametrize("wrt", [0, (0, 1), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("number", [float, np.float64])
def test_the_same_numbers_of_the_same_types(fn, noise, wrt, number):
    args = number(0.7), 0.3, noise.copy()
    found = ad.grad(fn, wrt)(*args)
    with pass_registry.without("unbox_arrays", "scalar_math"):
        other = ad.grad(fn, wrt)(*args)
    for a, b in zip(found, other, strict=True) if isinstance(wrt, tuple) else [(found, other)]:
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_written_out():
    assert "noise_items[t]" in ad.adjoint_source(accepted, 0.7, 0.3, NOISES[0])
    assert "noise_items" not in ad.adjoint_source(stays_integer, 0.7, 0.3, NOISES[0])


def after_a_loop_that_is_left(x, n):
    total = 0.0
    for i in range(len(x)):
        if i == n:
            break
        total = total + x[i]
    for i in range(n, len(x)):
        total = total + i * x[i]
    return total


def after_another_loop(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i]
    for i in range(n, len(x)):
        total = total + i * x[i]
    return total


@pytest.mark.parametrize("fn", [after_a_loop_that_is_left, after_another_loop])
def test_what_an_empty_loop_leaves_is_of_the_type_of_before(fn):
    for size, n in ((3, 1), (1, 1), (2, 0), (3, 3), (1, 0), (0, 0)):
        x = np.ones(size)
        for value in (ad.value_and_grad(fn)(x, n)[0], ad.vjp(lambda x, n=n: fn(x, n), x)[0]):
            assert type(value) is type(fn(x, n)) and value == fn(x, n)


@pytest.mark.parametrize("name", ["convex_hull", "ctc_loss"])
def test_no_stretch_of_statements_is_asked_for_twice(name, monkeypatch):
    asked = []

    class Noted(driver.Flow):
        def __init__(self, s, program, lists, owner):
            asked.append((id(owner), sorted((array, sorted(places)) for array, places in lists.items())))
            super().__init__(s, program, lists, owner)

    monkeypatch.setattr(driver, "Flow", Noted)
    source_of(load_bank()[0][name])
    assert asked
    assert all(asked.count(each) == 1 for each in asked)
