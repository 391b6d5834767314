"""A sign in front of a product turns a difference around."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
W = np.array([0.3, -0.2, 0.9, 1.4])


@case((V, W))
def apart(x, y):
    a = np.tanh(x) - np.tanh(y * x)
    return np.sum(a * a)


@case((V, W))
def quotient(x, y):
    return np.sum((x - y) / (1.0 + x * x)) - np.sum(np.sin(x) * (y - x) / (2.0 + x))


@case((V, 0.3), (V, -1.5))
def of_numbers(x, c):
    t = x[0] * c
    for k in range(3):
        t = t - t * (1.0 - t) * c
    return t * np.sum(x)


@case((V, np.array([3, 5, 1, 0], np.uint8), np.array([5, 3, 2, 1], np.uint8)))
def of_integers_without_a_sign(x, m, n):
    """What is below zero wraps around: turned around, it would be another number."""
    y = np.cos(x) * np.cos(0.01 * (m - n) * x) - np.tanh(x) * (m - n)
    return np.sum(y) - x @ (m - n) * np.sum(x * (1 - m))


@case((V, 3), (V, 0))
def in_a_loop(x, n):
    total = 0.0
    for _ in range(n):
        s = 1.0 / (1.0 + np.exp(-x))
        total = total - np.sum(s * s)
        x = x - 0.1 * s
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with passes.without("turn_differences"):
        plain = ad.grad(lambda *given: fn(*given))(*args)
    np.testing.assert_array_equal(ad.grad(fn)(*args), plain)


def test_what_the_text_says():
    def fn(x, y):
        a = np.tanh(x) - np.tanh(x * y)
        return np.sum(a * a)

    text = ad.adjoint_source(fn, V, W, grad_position=1)
    assert "- 1)" in text and "-(" not in text
    with passes.without("turn_differences"):
        text = ad.adjoint_source(fn, V, W, grad_position=1)
    assert "(1 - " in text and "- 1)" not in text
