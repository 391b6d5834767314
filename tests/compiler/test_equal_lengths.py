"""Lengths that are equal only where an operation has run: on other paths the arrays are as long as they are."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, differences, names, registrar

CASES: Cases = []
A, B = np.array([0.4, 1.3, -0.7]), np.array([0.9, -0.2, 0.5, 1.1])
case = registrar(CASES)
either = registrar(CASES)((A, B, -1.0), (A, A[::-1].copy(), 1.0), (A, B, -1.0), (B, A, -1.0))


@either
def of_a_branch(a, b, c):
    if c > 0:
        s = np.sum(a + b)
    else:
        s = np.sum(np.mean(a) * b * b)
    return s + np.mean(a) * np.sum(b**2)


@either
def replaced_in_a_branch(a, b, c):
    if c > 0:
        a = a + b
    return np.mean(a) * np.sum(b * b)


@either
def after_an_exception(a, b, c):
    try:
        d = a + b
    except ValueError:
        d = np.mean(a) * b
    return np.sum(d * d) * c + np.mean(a)


@case((A, B, 0), (A, A * 2, 2), (B, A, 0))
def of_a_loop(a, b, n):
    s = 0.0
    for _ in range(n):
        s = s + np.sum(a * b)
    return s + np.mean(a) * np.mean(b * b) + np.sum(np.sum(a) * np.ones_like(b))


@case((A, B, 0.0), (A, A * 2, 2.0))
def of_a_while_loop(a, b, c):
    while c > 0:
        c = c - 1
        a = a * b
    return np.mean(a) * np.mean(b)


@either
def of_a_conditional_expression(a, b, c):
    s = np.sum(a + b) if c > 0 else np.mean(a)
    return s + np.mean(b) + np.var(a)


@either
def of_a_condition(a, b, c):
    both = c > 0 and np.sum(a * b) > -100
    return np.mean(a) * np.mean(b) * (1 if both else 2)


@either
def of_a_comprehension(a, b, c):
    sums = [np.sum(a * b) for _ in range(3) if c > 0]
    return np.mean(a) * np.mean(b) + len(sums)


@either
def of_one_of_two_functions(a, b, c):
    def product(u):
        return np.sum(u * b)

    def mean(u):
        return np.mean(u)

    return (product if c > 0 else mean)(a) * np.mean(b)


@either
def of_a_write(a, b, c):
    y = np.zeros_like(b)
    if c > 0:
        y += a
    else:
        y[:2] += a[:2]
    y *= b
    return np.sum(y * y) * np.mean(a)


@either
def of_an_early_return(a, b, c):
    if c > 0:
        return np.sum(a * b)
    return np.mean(a) * np.sum(np.outer(a, b)) * np.mean(b)


@either
def of_a_function_that_calls_itself(a, b, c):
    def halved(u, k):
        if k > 0:
            return halved(u * b, k - 2)
        return np.mean(u) * np.mean(b)

    return halved(a, c)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn, args):
    """Each input's gradient has its own length, also where one compiled function has seen others before."""
    run = ad.value_and_grad(fn, (0, 1))
    for other, given in CASES:
        if other is fn:
            value, gradients = run(*given)
            assert np.array_equal(value, fn(*given))
            for k, gradient in enumerate(gradients):
                assert gradient.shape == given[k].shape
                np.testing.assert_allclose(gradient, differences(fn, given, k), rtol=1e-5, atol=1e-7)
    tangents = (np.cos(args[0]), np.sin(args[1]))
    _, tangent = ad.jvp(lambda a, b: fn(a, b, *args[2:]), args[:2], tangents)
    gradients = run(*args)[1]
    expected = sum(np.sum(g * t) for g, t in zip(gradients, tangents))
    np.testing.assert_allclose(np.sum(tangent), expected, rtol=1e-9, atol=1e-12)
