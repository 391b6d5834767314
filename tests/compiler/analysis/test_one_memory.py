"""Arrays that change names in a loop: two names of one array have one shadow."""

import numpy as np
import pytest

from tests.compiler.checked import check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: list = []
case = registrar(CASES)
X = np.array([0.3, 0.5, -0.2])


@case(X, -X)
def whole_and_view(x):
    u = np.zeros_like(x)
    w = u[:]
    for k in range(2):
        u[:] = x - w
        w, u = u, w
        u[:-1] = w[1:] * x[1:]
    return np.sum(w * w)


@case(X, -X)
def changed_in_place(x):
    u = x.copy()
    w = u[:]
    for k in range(2):
        w, u = u, w
        u[:-1] *= w[1:]
    return np.sum(w * w)


@case(X, -X)
def two_arrays_in_two_loops(x):  # inner loops
    u = x.copy()
    v = np.zeros_like(x)
    for k in range(2):
        for j in range(3):
            v[1:] = u[:-1] * x[1:]
            v[0] = u[j % 2]
            u, v = v, u
        u, v = v, u
    return np.sum(u * v)


@case(X, -X)
def two_rows(x):
    A = np.outer(x, x)
    u, v = A[0], A[1]
    for k in range(3):
        v[1:] = u[:-1] * x[1:] + v[0]
        u, v = v, u
    return np.sum(u * v) + np.sum(A * A)


@case(X, -X)
def parts_that_overlap(x):
    A = np.outer(x, x)
    u, v = A[0, :2], A[0, 1:]
    for k in range(3):
        v[1:] = u[:-1] * x[1] + v[0]
        u, v = v, u
    return np.sum(u * v)


@case(X, -X)
def one_of_two_on_some_paths(x):
    u = x.copy()
    w = u if x[0] > 0 else x * 2
    for k in range(3):
        w[1:] *= u[:-1]
        w, u = u, w
    return np.sum(u * x) + np.sum(w * w)


@case(X, -X)
def three_names(x):
    u = x.copy()
    w = u
    z = x * 2
    for k in range(3):
        w[1:] *= u[:-1]
        w, u, z = z, w, u
    return np.sum(u * x) + np.sum(w * z)


@case(X, -X)
def items_of_a_list(x):
    L = [x.copy()] * 2
    u, w = L[0], L[1]
    for k in range(3):
        u[1:] *= w[:-1]
        u, w = w, u
    return np.sum(u * x) + np.sum(w * w)


@case(X, -X)
def one_array_is_left(x):
    u = x.copy()
    w = x.copy()

    for k in range(2):
        t = u * w
        u, w = t, t[::-1]
        w[0] *= x[1]
    return np.sum(u * x) + np.sum(w * w)


@case(X, -X)
def shorter_and_shorter(x):
    u = x.copy()
    w = u[:2]
    for k in range(3):
        u, w = u[::-1], w[::-1]
        u[0] *= x[1]
        w[1] *= x[0]
    return np.sum(u * u) + w @ w


def weighted(*items):
    return sum((i + 1) * np.sum(a) for i, a in enumerate(items))


@case(X, -X)
def items_of_a_list_as_arguments(x):  # a tuple, whose shadows are in a list
    y = x * 1
    z = x * 2 + 1
    rows = [[y, z], [x * 3]]
    items = [y, z, x * 1]
    for _, v in enumerate(items):
        pass
    v *= x[0]
    return weighted(y, *rows[0])


@case((X, 0), (X, 1), (X, 3))
def first_one_returned(x, n):
    y = 2.0 * x
    first = y
    for _ in range(n):
        y[:-1] = y[1:] * x[:-1]
        y = -x
    return first


@case((X, 0), (X, 1), (X, 3))
def first_and_last_returned(x, n):
    y = np.sin(x)
    first = y[1:]
    for _ in range(n):
        y *= x
        y = x + 1.0
    return first * y[:-1]


@case((X, 0), (X, 1), (X, 3))
def first_part_returned(x, n):
    y = np.sin(x)
    first = y[1:]
    k = 0
    while k < n:
        y *= x
        y = x + 1.0
        k += 1
    return first


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)
