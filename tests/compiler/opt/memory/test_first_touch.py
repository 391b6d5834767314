"""What is added to zeros is assigned, and nothing else is; every gradient is right."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)
W = np.array([0.3, -0.2, 0.9, 1.4, -0.5, 0.7, 0.1])
A = np.arange(12.0).reshape(3, 4) / 5 - 1


@case(W)
def stencil(rod):
    rod = rod.copy()
    for _ in range(3):
        rod[1:-1] = 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:])
    return np.sum(rod * rod)


@case(W)
def keeps_half(u):
    u = u.copy()
    for i in range(1, len(u)):
        u[i] = u[i] - 0.3 * u[i - 1]
    return np.sum(u**2)


class Rod:
    def __init__(self, a):
        self.a = a


@case(W)
def attribute_of_an_object(u):
    rod = Rod(u * 1.5)
    for _ in range(2):
        rod.a[1:] *= u[:-1]
    return np.sum(rod.a * u)


@case(W)
def writes_over(u):
    u = u.copy()
    u[2:5] = u[2:5] * u[1:4]
    u[2:5] = u[2:5] + u[3:6]
    return np.sum(u**3)


@case(W)
def overlapping(u):
    u = u.copy()
    u[1:4] = 2 * u[1:4] + u[2:5] * u[:3]
    u[2:6] = u[2:6] - u[1:5]
    return np.sum(u**2)


@case(W)
def through_a_view(u):
    u = u.copy()
    middle = u[1:-1]
    middle[:] = middle * u[2:] + middle
    u[1:-1] = 3 * middle + u[:-2]
    return np.sum(u * u)


@case(W)
def moving_index(u):
    u = u.copy()
    k = 1
    for i in range(3):
        u[k] = u[k] * u[k + 1] + u[k]
        k = k + i
    return np.sum(u * u)


@case(W)
def by_positions(u):
    u = u.copy()
    at = np.array([1, 3, 3])
    u[at] = 2 * u[at] + u[at - 1]
    at[0] = 2
    u[at] = u[at] * u[at + 1] + u[at]
    return np.sum(u * u)


@case(W)
def by_condition(u):
    u = u.copy()
    big = u > 0.2
    u[big] = u[big] * u[big] + 2 * u[big]
    return np.sum(u * u)


@case((W, 0), (W, 1), (W, 4))
def no_or_few_trips(u, n):
    u = u.copy()
    for i in range(n):
        u[i] = u[i] + u[i + 1] * u[i]
    return np.sum(u**2)


@case(W)
def slices(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@case(W, W[:1], W[:2])
def two_behind(x):
    return np.sum(x[2:] * x[:-2]) - np.sum(x[:-2] ** 2)


@case(W)
def both_ends_cut(x):
    return np.sum(x[1:-2] ** 2) - np.sum(x[2:-1] * x[1:-2])


@case(A)
def rows(x):
    return np.sum(x[1:] * x[:-1]) - np.sum(x[:, 1:] ** 3)


@case((A, np.ones(1)))
def gates(z, w):
    n = len(w)
    a, b, c, d = z[:, :n], z[:, n : 2 * n], z[:, 2 * n : 3 * n], z[:, 3 * n :]
    return np.sum(np.tanh(a) * b / (1 + np.exp(-c)) * d)


@case(A[:1], A)
def gates_that_meet(z):
    n = len(z) - 2
    a, b, c, d = z[:, :n], z[:, n : 2 * n], z[:, 2 * n : 3 * n], z[:, 3 * n :]
    return np.sum(a**2) + np.sum(b) * np.sum(c**3) + np.sum(d**2)


@case((A, 1), (A, -1), (A, 2))
def gates_of_any_width(z, n):
    a, b, c = z[:, :n], z[:, n : 2 * n], z[:, 2 * n : 3 * n]
    return np.sum(a**2) + np.sum(b**3) + np.sum(c**2) * np.sum(a)


@case(V)
def items(p):
    return p[0] * p[1] + p[2] * p[0] - p[-1] * p[3] + p[1] ** 2


@case((V, 3), (V, 2))
def items_from_both_ends(p, k):
    return p[3] * p[k] + p[-1] ** 2 + p[k - 4] * p[1]


@case(V)
def spread_out(x):
    y = np.zeros((3, 4))
    y[1:] = x
    y[1:] = y[1:] * x + y[1:]
    return np.sum(y * y)


@case(W)
def on_a_branch(u):
    u = u.copy()
    if u[0] > 0:
        u[1:3] = u[1:3] * 2 + u[2:4]
    else:
        u[1:3] = u[:2]
    return np.sum(u**2)


@case(W)
def printed_between(u):
    u = u.copy()
    u[1:3] = u[1:3] * u[2:4]
    assert u[1] < 100.0
    u[1:3] = 2 * u[1:3]
    return np.sum(u**2)


@case(W)
def list_of_numbers(x):
    a = [v * v for v in x]
    for i in range(1, len(x)):
        a[i] += a[i - 1] * x[0]
        a[i] = a[i] * 2
        a[0], a[i - 1] = a[i - 1], a[0] * 0.5
    return sum([v * v for v in a])


@case(W)
def list_of_arrays(x):
    a = [x * k for k in range(3)]
    b = a[1]
    for i in range(1, 3):
        a[i] = a[i] * 2
        a[0] = a[i]
        a[i] += a[i - 1] * x
    return np.sum(a[0] * a[1]) + np.sum(a[2] * b)


@case(W)
def dict_of_numbers(x):
    d = {"p": x[0], "q": 1.0}
    for i in range(len(x)):
        key = "p" if x[i] > 0.2 else "q"
        d[key] = d[key] * 1.1 + x[i]
        d["q"] *= 2
        d["p"] += d["q"] * d[key]
    return d["p"] * d["q"]


@case(W)
def two_names_of_one_list(x):
    a = list(x)
    b = a if x[0] > 0 else a[:]
    for i in range(1, len(x)):
        a[i] = b[i - 1] * a[i]
        b[i] = a[i] * b[i] + b[0]
    return sum([v * w for v, w in zip(a, b)])


@case(W)
def last_thing_that_is_done(x):
    u = x * 2.0
    v = u.copy()
    for t in range(2):
        for i in range(1, len(x) - 1):
            v[i] = u[i] + u[i - 1] * 0.3
        u, v = v, u
    w = np.zeros(len(x))
    for i in range(len(x)):
        w[i] = 0.7 * x[0]
    u = w.copy()
    v = u
    return np.sum(v * v)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_without_the_pass(fn, args):
    with pass_registry.without("lower_accumulation"):
        plain = ad.grad(lambda *a: fn(*a))(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fn", [stencil, slices, rows, overlapping, writes_over])
def test_single_precision(fn):
    x = (A if fn is rows else W).astype(np.float32)
    gradient = ad.grad(fn)(x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, ad.grad(fn)(x.astype(float)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fn", [stencil, slices])
def test_second_derivative(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x) * np.cos(x))

    check_gradient(slope, (W,))


def test_what_the_text_says():
    assert "= 0.0" not in ad.adjoint_source(stencil, W)
    with pass_registry.without("strip_mine"):
        text = ad.adjoint_source(slices, W)
    assert "d_x[-1:] = 0.0" in text and "zeros" not in text
    text = ad.adjoint_source(gates, A, np.ones(1))
    assert text.count("d_z[") == 4 and "+=" not in text and "zeros" not in text
    assert "+=" in ad.adjoint_source(two_behind, W)
    assert "d_p[1], d_p[3] = " in ad.adjoint_source(items, V) and "d_p[-1] -= " in ad.adjoint_source(items, V)
    text = ad.adjoint_source(list_of_numbers, W)
    assert "d_a[i] *= 2\n" in text and "d_t = d_a[i]\n" in text
