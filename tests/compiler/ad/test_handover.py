"""From the forward to the backward function: what shares memory is changed as one, also where it is copied."""

import functools

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

X = np.random.default_rng(5).normal(size=6)


def exchanged(x):
    u, v = x.copy(), np.empty_like(x)
    for _ in range(5):
        v[1:-1] = np.sin(u[1:-1]) + 0.3 * u[2:] * u[:-2]
        v[0], v[-1] = u[0], u[-1] * u[0]
        u, v = v, u
    return u


def exchanged_pair(x):
    u, v = x.copy(), np.zeros_like(x)
    for k in range(4):
        v[1:] = np.sin(u[1:]) * u[:-1] + v[:-1] * 0.5
        if k == 2:
            v[:2] *= u[-2:]
        u, v = v, u
    return u, v


def chosen(x):
    u, v = x.copy(), 2.0 * x
    rows = []
    for k in range(3):
        w = u if x[k] > 0.0 else v
        rows.append(w)
        w[1:] *= w[:-1]
        w[0] = np.sin(w[0]) * v[1]
    return u, rows[1]


def made_in_a_branch(x):
    u = 2.0 * x
    if x[0] > 0.0:
        w = u[::-1]
        w[1:] *= x[1:]
    else:
        w = u[1:]
        w[:] = np.sin(w) * u[0]
    v = u if x[1] > 0.0 else x.copy()
    v[1:] += v[:-1] * u[1:]
    return u * v


def replaced_in_a_loop(x):
    u = x.copy()
    w = u.reshape(-1)
    w, u = u, w
    w[1:] = w[:-1]
    for _ in range(2):
        u[2:] = np.sin(w[2:])
        new = np.empty_like(u)
        new[1:], new[0] = u[1:], u @ u
        u = new
    u[:] = w[:]
    return np.sum(u * x)


def through_a_view(x):
    u = np.zeros_like(x)
    w = u.reshape(-1)
    w[1:] = x[1:]
    return u


def both_names(x):
    u = x.copy()
    w = u.ravel()
    w[1:] *= x[1:]
    return u, w


def in_a_list(x):
    u = x.copy()
    w = u.reshape(2, -1)
    rows = [u, np.cos(x)]
    w[0] *= w[1]
    rows[1][1:] *= w[1, 0]
    return rows[0], u, rows[1]


def rows_shortened_in_a_loop(x):
    rows = [[x[1] * x[2]] * 2 for _ in range(3)]
    first = sum(rows[1])
    for row in rows:
        row.pop()
    return first * x[0] + rows[1][0] * x[2]


def rows_lengthened_in_a_loop(x):
    rows = [[v, v * x[0]] for v in x]
    products = [row[0] * row[-1] for row in rows]
    for k, row in enumerate(rows):
        row.insert(0, row[1] * products[k])
        row.reverse()
    return sum([v * row[0] * len(row) for v, row in zip(products, rows)])


PROGRAMS = [
    rows_shortened_in_a_loop,
    rows_lengthened_in_a_loop,
    exchanged,
    exchanged_pair,
    chosen,
    made_in_a_branch,
    replaced_in_a_loop,
    through_a_view,
    both_names,
    in_a_list,
]


@pytest.mark.parametrize("x", [X, -X, np.abs(X)], ids=str)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_what_shares_memory_is_put_back_as_one(fn, x):
    expected = ad.grad(fn)(x)
    value, pull = ad.vjp(fn, x)
    parts = value if isinstance(value, tuple) else (value,)
    primal = fn(x)
    ones = tuple(map(np.ones_like, parts))
    for part, wanted in zip(parts, primal if isinstance(primal, tuple) else (primal,)):
        np.testing.assert_array_equal(part, wanted)
        if isinstance(part, np.ndarray):
            part[:] = np.nan  # the caller's
    for _ in range(2):
        (found,) = pull(*ones)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    direction = np.cos(x)
    _, tangent = ad.jvp(fn, x, direction)
    np.testing.assert_allclose(np.sum(tangent), np.sum(expected * direction), rtol=1e-12)


def composed_of_functions_that_keep_arrays(x):
    y, z = x * 1, x * 2 + 1
    rows = [[y, z], [x * 3]]
    chain = functools.reduce(lambda f, g: lambda a: g(f(a)), [np.sin, lambda a: a * y], lambda a: a)
    total = np.sum(chain(z))
    for v in rows[0]:
        v *= 0.5
    return total + np.sum(y * z)


def test_what_a_call_has_saved_is_handed_over_with_what_it_shares_memory_with():
    _, pullback = ad.vjp(composed_of_functions_that_keep_arrays, X)
    gradient = ad.grad(composed_of_functions_that_keep_arrays)(X)
    np.testing.assert_allclose(gradient, differences(composed_of_functions_that_keep_arrays, (X,)), rtol=1e-5)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], gradient, rtol=1e-13)


def places_of_a_diagonal(a):
    products = np.outer(a[:, 0], a[:, 0])
    products.flat[:: len(products) + 1] = 1.0
    return products * np.sum(a)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_what_is_empty_is_handed_over(size):
    a = np.ones((size, 2))
    value, pullback = ad.vjp(places_of_a_diagonal, a)
    for _ in range(2):
        (found,) = pullback(np.ones_like(value))
        np.testing.assert_allclose(found, differences(places_of_a_diagonal, (a,)), rtol=1e-6)
