"""Numbers that a step reads twice from one place are saved once, where nothing is written there in between."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES: list = []
case = registrar(CASES)


@case((V, 3), (V, 0))
def read_twice(x, n):
    u = x.copy()
    for _ in range(n):
        for i in range(1, len(u)):
            a = u[i] * (1.0 - 0.3 * u[i]) * u[i - 1]
            u[i] = a * a * 0.5 + u[i - 1]
    return np.sum(u * u)


@case((V, 3), (V, 0))
def written_in_between(x, n):
    u = x.copy()
    for k in range(n):
        a = u[0] * u[1]
        u[0] = a * 0.5 + k
        b = u[0] * u[1] * a
        u[1:] = 0.2 * b
        u[2] += a * u[1] * u[1]
    return np.sum(u * u)


@case((V, 3), (V, 0))
def written_under_another_name(x, n):
    u = x.copy()
    v = u[::-1]
    for _ in range(n):
        a = u[0] * u[3]
        v[0] = a * u[3]
        u[1] = u[3] * a * u[0]
    return np.sum(u * u)


@case((V, 3), (V, 0))
def written_in_a_branch(x, n):
    u = x.copy()
    for k in range(n):
        a = u[0] * u[1]
        if k % 2 == 0:
            u[0] = a * a
        else:
            u += 0.1
        u[1] = u[0] * a * u[1]
    return np.sum(u * u)


@case((V, 3), (V, 0))
def another_index(x, n):
    u = x.copy()
    for k in range(n):
        i = k
        a = u[i] * u[-1]
        i = k + 1
        u[0] = a * u[i] * u[i] * u[-1]
    return np.sum(u * u)


@case((V, 3), (V, 0))
def flow(x, n):
    for _ in range(n):
        x = x + 0.1 * np.array([x[1] - x[0], x[0] * (1.5 - x[2]) - x[1], x[0] * x[1] - x[2] * x[3], x[2] * x[2]])
    return np.sum(x * x)


@case((V, 2))
def filled_by_numpy(x, n):
    u = np.zeros(4)
    for _ in range(n):
        a = u[0] + x[0] * x[1]
        np.copyto(u, x * a)
        x = u[0] * u[1] * a + np.sin(x)
        u.fill(0.5)
        x = x * u[0]
    return np.sum(x * x)


@case((V, 3), (V, 1), (V, 0))
def computed_twice(x, n):
    big = np.outer(x, x) + 3 * np.eye(4)
    for i in range(n):
        k = (7 * i) % 3
        block = np.sin(x[k]) * big[k : k + 2, k : k + 2]
        big[k : k + 2, k : k + 2] += block
        big[k : k + 2, 2 - k : 4 - k] -= block * x[i]
    return np.sum(big**2)


@case((V, 3), (V, 0))
def counted_in_between(x, n):
    k, s = 0, 1.0
    u = x * 2.0
    for i in range(n):
        u[k + 1] += u[k] * u[k + 1] * s
        k = k + 1 if u[0] > 0 else k - 1
        k = k % 2
        u[k + 1] *= u[k] * s
        s = s * 0.5 + i
        u[k + 1 :] *= x[k + 1 :] * s * s
        s = s * 0.5 + i
    return np.sum(u * u)


@case((V, 2))
def in_both_branches(x, n):
    for i in range(n):
        j = i + 1
        if x[i] > x[j]:
            y = x[2 * i : 2 * i + 2] * x[j]
            x = x * np.sum(y)
        else:
            y = x[2 * i : 2 * i + 2] * x[i]
            x = x * x[2 * i] + np.sum(y * x[2 * i : 2 * i + 2])
    return np.sum(x * x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with pass_registry.without("plan_tape"):
        plain = ad.grad(fn)(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fn", [read_twice, written_in_between, written_under_another_name, flow, computed_twice])
def test_other_ways(fn):
    assert ad.grad(fn)(V.astype(np.float32), 3).dtype == np.float32
    _, pull = ad.vjp(lambda x: fn(x, 3), V)
    np.testing.assert_array_equal(pull(1.0)[0], pull(1.0)[0])

    def slope(x):
        return np.sum(ad.grad(fn)(x, 2) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(V), differences(slope, (V,)), rtol=1e-4, atol=1e-6)


def test_saved_once():
    args = next(args for fn, args in CASES if fn is read_twice)
    with pass_registry.without("plan_tape"):
        plain = ad.adjoint_source(read_twice, *args).count(".append(")
    assert ad.adjoint_source(read_twice, *args).count(".append(") < plain


def test_of_what_is_computed():
    with pass_registry.without("plan_tape"):
        plain = ad.adjoint_source(computed_twice, V, 3)
    text = ad.adjoint_source(computed_twice, V, 3)
    assert text.count(", ") < plain.count(", ")
