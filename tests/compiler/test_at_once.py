"""Stores move up to what they store, but not past what reads or writes the same memory."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

CASES = []
case = registrar(CASES)


@case((V, V[::-1].copy()))
def coefficients(coef, x):
    pred = np.zeros_like(x)
    for c in coef:
        pred = pred * x + c
    return pred @ pred


@case(V)
def the_same_array_twice(x):
    total = 1.0
    for a, b in zip(x, x[1:]):
        total = total * a + b * b
    return total


@case(V)
def read_in_between(x):
    y = x * 1.0
    for k in range(1, len(y)):
        v = y[k]
        y[k - 1] = v * y[k - 1]
        y[k] = v + y[k - 1]
    return np.sum(y * y)


@case(np.outer(V, V[:3]))
def rows_of_one_array(a):
    total = 0.0
    for row in a:
        row = np.sin(row)
        total = total + np.sum(row * a[0])
    return total


@case(V)
def arrays_of_a_list(x):
    parts = [x * 1.0, np.sin(x), x[::-1] * 2]
    s = x * 0.5
    for k, p in enumerate(parts):
        s = s * p + parts[(k + 1) % 3]
    return np.sum(s)


@case(V)
def one_array_under_two_names(x):
    p = [x * 2.0]
    q = p
    total = 0.0
    for k, v in enumerate(p):
        total = total + np.sum(v * q[k])
        q[k] = v * v
    return total + np.sum(p[0])


@case({"a": V, "b": V * 2})
def values_of_a_dict(d):
    total = 1.0
    for v in d.values():
        total = total * np.sum(v) + v[0]
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    found = ad.grad(fn)(*args)
    with pass_registry.without("put_at_once"):
        plain = ad.grad(lambda *given: fn(*given))(*args)
    if fn is values_of_a_dict:
        for key in plain:
            np.testing.assert_allclose(found[key], plain[key], rtol=1e-13)
    else:
        np.testing.assert_allclose(found, plain, rtol=1e-13)
        check_gradient(fn, args)


def test_it_is_put_there_at_once():
    source = ad.adjoint_source(coefficients, V, V)
    assert "d_coef[i] = d_pred.sum()\n        d_pred *= x\n" in source, source
