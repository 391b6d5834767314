"""Of what is read back for its shape only, the shape is saved: programs in which it is, and in which it is not."""

import tracemalloc

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import segments
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES: list = []
case = registrar(CASES)
GIVEN = [(V, 3), (V, 0)]


@case(*GIVEN)
def gates(x, n):
    for k in range(n):
        z = np.concatenate([x, 2 * x]) * (k + 1.0)
        x = np.tanh(z[:4]) / (1.0 + np.exp(-z[4:]))
    return np.sum(x * x)


@case(*GIVEN)
def another_length_in_each_step(x, n):
    total = 0.0
    for k in range(n):
        z = x[k:] * 2.0
        total = total + np.sum(np.sin(z[:1])) + np.sum(np.exp(z[1:2]))
    return total


@case(*GIVEN)
def on_one_side(x, n):
    for k in range(n):
        z = np.outer(x, x)
        if k % 2:
            x = np.sin(z[0]) + np.cos(z[1])
        else:
            x = np.tanh(z[1] * z[2])
    return np.sum(x)


@case(*GIVEN)
def content_is_read_too(x, n):
    for _ in range(n):
        z = np.outer(x, x)
        x = np.sin(z[0]) + np.cos(z[1]) * np.sum(z * z)
        x = x / (1.0 + np.sum(x * x))
    return np.sum(x)


@case(*GIVEN)
def written(x, n):
    for _ in range(n):
        z = np.outer(x, x)
        z[0] = z[1] * 2.0
        z[1:] += 0.5
        x = np.sin(z[0]) + z[2] * 0.1
    return np.sum(x)


@case(*GIVEN)
def stencil(u, n):
    for _ in range(n):
        v = u.copy()
        v[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2])
        u = v
    return np.sum(u * u)


@case((V, 4))
def in_segments(x, n):
    for _ in segments(range(n), every=2):
        z = np.outer(x, x)
        x = np.sin(z[0]) + np.cos(z[1])
    return np.sum(x)


@case((V, 3))
def nested(x, n):
    for k in range(n):
        for j in range(k):
            z = np.outer(x, x) + j
            x = np.sin(z[0]) + np.cos(z[1])
    return np.sum(x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with pass_registry.without("shape_uses"):
        plain = ad.grad(fn)(*args)
    np.testing.assert_array_equal(ad.grad(fn)(*args), plain)


@pytest.mark.parametrize("fn", [gates, on_one_side, stencil, another_length_in_each_step])
def test_saved(fn):
    with pass_registry.without("lower_accumulation"):  # which leaves a stencil's step no shape to save
        assert ".shape)" in ad.adjoint_source(fn, V, 3)
    found = ad.grad(fn)(V.astype(np.float32), 3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(fn)(V, 3), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("fn", [gates, stencil])
def test_differentiated_again(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x, 3) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(V), differences(slope, (V,)), rtol=1e-4, atol=1e-6)


def test_pullback_may_be_called_again():
    _, pull = ad.vjp(lambda x: gates(x, 3), V)
    np.testing.assert_array_equal(pull(1.0)[0], pull(1.0)[0])


def test_the_array_is_free():
    def rows(x, n):
        many = np.ones(1000)
        for _ in range(n):
            z = np.outer(many, x)
            x = np.tanh(z[0]) + np.tanh(z[1])
        return np.sum(x)

    gradient = ad.grad(rows)
    gradient(V, 3)
    tracemalloc.start()
    gradient(V, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 1000 * 4 * 8
