"""A part of a shadow that is set to zero later is still set to zero before anybody else reads it."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)


@case(V)
def number_out_of_a_shadow(x):
    y = x * x
    y[3] = x[0] * y[1]
    return np.sum(y * x)


@case(V)
def same_array(x):
    y = x * 1.0
    y[0] = y[1] * y[2]
    y[1] = y[0] ** 2
    return np.sum(y)


@case(V)
def own_place(x):
    y = x * 1.0
    y[1] = 3.0 * y[1]
    y[1] = y[1] * y[1]
    return np.sum(y)


@case(V)
def through_a_view(x):
    y = x * 1.0
    part = y[1:]
    part[0] = y[0] * x[2]
    y[1:] = part[::-1] * 2.0
    return np.sum(y**2)


@case(V)
def place_from_an_array_that_is_written(x):
    y, where = x * 1.0, np.array([0, 1])
    y[where] = x[0] * 2.0
    where[0] = 3
    y[where] = x[1] * y[2]
    return np.sum(y * x)


@case(V)
def swapped(x):
    y = x * x
    y[0], y[3] = y[3], y[0]
    return np.sum(y * np.arange(4.0))


@case((V, 3), (V, 0))
def in_a_loop(x, n):
    y = x * 1.0
    for k in range(n):
        y[k] = y[(k + 1) % 4] * x[k]
    return np.sum(y**2)


@case((V, 3))
def aliases_chosen_at_run_time(x, n):
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a
        a[0] = b[0] * b[1]
    return np.sum(a * b)


@case(np.ones((2, 3)))
def rows(a):
    b = a * 2.0
    b[0] = b[1] * a[0]
    b[:, 0] = b[:, 1] ** 2
    return np.sum(b)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_what_is_taken_out_needs_no_name():
    def f(x):
        y, z = x * x, np.cos(x)
        y[3] = np.sin(z[0])
        return np.sum(y * z)

    source = ad.grad(f).source_for(V)
    assert source.index("d_y[3] * np.cos(") < source.index("d_y[3] = 0.0"), source
    assert "d_t" not in source
