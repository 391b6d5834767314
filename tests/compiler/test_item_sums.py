"""Two additions to one item in a row are one."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import Cases, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(0).uniform(0.5, 1.5, 6)


@case(V, V[:1], V[:0])
def square(x):
    total = 0.0
    for i in range(len(x)):
        total = total + np.sin(x[i] * x[i] * i)
    return total


@case((V, 0.3))
def face(x, ratio):
    total = 1.0
    for i in range(len(x)):
        part = x[i] + 0.5 * (1.0 - ratio * x[i]) * total
        total = 0.5 * part * part
    return total


@case(V)
def in_place(x):
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = y[i] * y[i] - y[i] * x[i] + y[i - 1] * y[i]
    return np.sum(y * y)


@case(V)
def differences(x):
    total = 1.0
    for i in range(len(x)):
        total = total * (x[i] - x[i] * total) - x[i] / x[i - 1]
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with pass_registry.without("add_at_once"):
        expected = ad.grad(lambda x: fn(x, *args[1:]))(args[0])
    np.testing.assert_allclose(ad.grad(fn)(*args), expected, rtol=1e-12, atol=1e-14)


def test_one_addition():
    source = ad.adjoint_source(face, V, 0.3)
    assert source.count("d_x[i] ") == 1
