"""The reverse sweep calls a length as the user does, where the name stands for nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.compiler.checked import Cases, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(6).uniform(0.5, 1.5, 5)
A = np.random.default_rng(7).uniform(0.5, 1.5, (3, 4))


@case((V, 3), (V, 0), (V[:1], 2))
def smoothed(x, steps):
    u = x * 2.0
    n = len(u)
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(n):
            new[i] = 0.5 * u[i] + 0.25 * u[i - 1] ** 2
        u = new
    return np.sum(u * u)


@case(A)
def table(x):
    n, m = x.shape
    total = np.zeros(m)
    for i in range(n):
        for j in range(m):
            total[j] += x[i, j] * x[i, j - 1]
    return np.sum(total**2)


@case((V, 3))
def name_is_used_again(x, steps):
    n = len(x)
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    n = steps
    for i in range(n):
        total = total * x[i]
    return total


@case((V, 3))
def name_of_a_part(x, steps):
    n = len(x) - 1
    tail = x[1:]
    total = 0.0
    for i in range(n):
        total += x[i] * tail[i] ** steps
    return total


@case((V, 3), (V, 0))
def longer_in_each_step(x, steps):
    n = len(x)
    u = x * 1.0
    for _ in range(steps):
        u = np.concatenate([u, u[:1] * x[0]])
    return np.sum(u**2) / n


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_what_the_text_says():
    text = ad.adjoint_source(smoothed, V, 3)
    assert "[0.0] * n" in text and text.count("len(") == 1
    with passes.without("name_lengths"):
        assert "len(u)" in ad.adjoint_source(smoothed, V, 3).split("# ")[1]


def test_a_pullback_sees_no_name():
    value, pull = ad.vjp(lambda x: smoothed(x, 2), V)
    np.testing.assert_allclose(pull(2.0)[0], 2 * ad.grad(smoothed)(V, 2), rtol=1e-13)
    assert value == smoothed(V, 2)
