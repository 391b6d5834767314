"""Functions of numbers that the reverse sweep calls once for the same numbers."""

import math

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient


def straight(x, y):
    r = math.sqrt(x * x + y * y)
    return math.sin(r) * math.cos(r) / math.cosh(x) + y ** (x + 2.0)


def newton(x, y):
    E = x
    for _ in range(4):
        E -= (E - y * math.sin(E) - x) / (1 - y * math.cos(E))
    return E


def branches(x, y):
    """What one side computes is not there on the other, nor after both."""
    if x > y:
        a = math.sin(x) * math.cos(y)
    else:
        a = math.sin(y) * math.cos(x)
    for k in range(int(3 * x)):
        a = a * math.sin(x) * math.cos(x) + math.exp(a) * k
    return a * math.sin(x) * math.cos(y)


def changed(x, y):
    """One name, two numbers."""
    t = math.sin(x)
    x = x * y
    return t * math.sin(x) * math.cos(x)


def at_a_pole(x, y):
    total = 0.0
    try:
        total += math.log(x - 1.0) * y
    except ValueError:
        total += math.log(2.0 - x) * y
    return total * math.log(2.0 - x)


def constants(x):
    return np.exp2(x) * np.log2(x)


PROGRAMS = [straight, newton, branches, changed, at_a_pole]


@pytest.mark.parametrize("args", [(0.7, 0.3), (0.2, 0.9), (1.1, 0.4)])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradients(fn, args):
    check_gradient(fn, args)
    value, pullback = ad.vjp(fn, *args)
    assert value == fn(*args)
    np.testing.assert_allclose(pullback(2.0), np.multiply(2.0, ad.grad(fn, (0, 1))(*args)), rtol=1e-13)
    np.testing.assert_allclose(pullback(1.0), ad.grad(fn, (0, 1))(*args), rtol=1e-13)


@pytest.mark.parametrize("fn, calls", [(straight, 1), (newton, 2), (changed, 2)])
def test_each_is_called_once(fn, calls):
    """`newton` needs its cosines in both sweeps; `changed` has two numbers."""
    text = ad.adjoint_source(fn, 0.7, 0.3, grad_position=(0, 1))
    lines = [line for line in text.splitlines() if "#" not in line]
    assert "\n".join(lines).count("math.cos(") == calls


def test_constants_are_written_where_they_are_read():
    assert ad.adjoint_source(constants, 0.5).count("* math.log(2)") == 2
