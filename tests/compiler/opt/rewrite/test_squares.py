"""Products with themselves, alone and with numbers; quotients whose numbers cancel."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V, 0.7)
def energy(x):
    return np.sum(0.5 * x * x)


@case(V, -0.7)
def number_behind(x):
    return np.sum(x * 3 * x) - np.sum(x * (-0.5 * x))


@case(V)
def other_factor(x):
    t = 0.5 * x
    return np.sum(t * x) + np.sum(t * t) + np.sum(np.exp(t))


@case((V, 2.0))
def active_number(x, c):
    return np.sum(c * x * x) * c


@case(V)
def changed_between(x):
    y = x * 1.0
    t = 2.0 * y
    y[1:] = y[:-1] * y[1:]
    return np.sum(t * y)


@case(V)
def next_iteration(x):
    t = 0.5 * x
    total = 0.0
    for _ in range(3):
        total = total + np.sum(t * x)
        x = np.sin(x)
        t = 0.5 * x * x
    return total + np.sum(t)


@case(V)
def seen_through_a_view(x):
    y = x * 1.0
    t = 3.0 * y
    row = y[:2]
    row *= 2.0
    return np.sum(t * y)


@case(V)
def norms(x):
    y = np.sqrt(1.0 + x * x)
    return np.sum(y * y / (2 * x)) + np.sum(np.sqrt(x * x + y) / (4.0 * y))


@case(V)
def thirds(x):
    return np.sum(np.sqrt(3.0 * x * x / 7.0 + 1.0) / (3 * x) * (7 * x))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_derivatives(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_without_the_passes(fn, args):
    with pass_registry.without("repeated_operands", "canonicalize"):
        plain = ad.grad(lambda *a: fn(*a))(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), plain, rtol=1e-12, atol=1e-14)


def test_single_precision():
    assert ad.grad(energy)(V.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(ad.grad(energy)(V), V)


def test_second_derivative():
    def slope(x):
        return np.sum(ad.grad(number_behind)(x) * np.cos(x))

    check_gradient(slope, (V,))


def test_what_the_text_says():
    assert "return d_out * x\n" in ad.adjoint_source(energy, V)

    def distance(x):
        c = np.sqrt(1.0 + x * x)
        return np.sum(c)

    assert "return d_out / c * x\n" in ad.adjoint_source(distance, V)
