"""Names that a loop assigns and that are read after it: bound where the loop surely runs, or handed over if it did."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case((2.0, 1.5))
def bisection_and_newton(a, c):
    low, high = 0.0, 10.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        if middle**3 + a * middle > 10 * c:
            high = middle
        else:
            low = middle
    x = middle
    for _ in range(2):
        x = x - (x**3 + a * x - 10 * c) / (3 * x**2 + a)
    return x


@case((V, 1), (V, 3))
def as_long_as_asked(x, n):
    for k in range(n):
        y = x * x[k]
    for _ in range(2):
        y = y * x
    return np.sum(y)


@case(V, -V)
def left_early(x):
    for k in range(3, 0, -1):
        y = x * x[k]
        if y[0] > 0.3:
            break
    for _ in range(2):
        y = y * y[1]
    return np.sum(y)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_is_right(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
    value, pull = ad.vjp(lambda x: fn(x, *args[1:]), args[0])
    assert value == fn(*args)
    for _ in range(2):
        (gradient,) = pull(1.0)
        np.testing.assert_allclose(gradient, ad.grad(fn)(*args), rtol=1e-12)


def test_what_a_loop_surely_assigns_is_not_asked_for():
    text = ad.adjoint_source(bisection_and_newton, 2.0, 1.5)
    assert "UnboundLocalError" not in text and "None" not in text


def test_a_loop_that_did_not_run():
    for derivative in (ad.grad(as_long_as_asked), lambda x, n: ad.vjp(as_long_as_asked, x, n)):
        with pytest.raises((UnboundLocalError, TypeError)):
            derivative(V, 0)
