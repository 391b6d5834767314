"""An item that has been taken out of a cotangent stays where no later step reads it, and is cleared where one does."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(3).uniform(0.5, 1.5, 5)
A = np.random.default_rng(4).uniform(0.5, 1.5, (3, 4))


@case(V, V[:1])
def recurrence(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = x[i] * y[i - 1] + x[i - 1]
    return np.sum(y * y)


@case(V)
def backward_recurrence(x):
    y = np.zeros(len(x))
    for i in range(len(x) - 2, -1, -1):
        y[i] = x[i] * y[i + 1] + x[i + 1]
    return y[0] ** 2 + np.sum(y)


@case((V, 3), (V, 0))
def sweeps(x, n):
    y = x * 1.0
    for _ in range(n):
        for i in range(1, len(x) - 1):
            y[i] = 0.5 * y[i - 1] * y[i + 1] + x[i]
    return np.sum(y**2)


@case((V, 3), (V, 0))
def in_two_buffers(x, n):
    u = x * 1.0
    for _ in range(n):
        new = np.zeros(len(x))
        for i in range(1, len(x) - 1):
            new[i] = u[i - 1] * u[i + 1] + u[i]
        u = new
    return np.sum(u * x)


@case((A, 2), (A, 0))
def tables_in_two_buffers(u, n):
    for _ in range(n):
        new = np.zeros(u.shape)
        for i in range(1, u.shape[0]):
            for j in range(1, u.shape[1]):
                new[i, j] = u[i, j] * u[i - 1, j] + u[i, j - 1]
        u = new
    return np.sum(u * u)


@case((V, 3), (V, 0))
def buffers_that_change_places(x, n):
    u, v = x * 1.0, x * 2.0
    for _ in range(n):
        for i in range(1, len(x)):
            v[i] = u[i] * u[i - 1]
        u, v = v, u
    return np.sum(u * x) + np.sum(v)


@case((V, 3), (V, 1))
def goes_on_under_another_name(x, n):
    u, v = x * 1.0, np.zeros(len(x))
    for _ in range(n):
        for i in range(len(x) - 2, 0, -1):
            u[i] = v[i] * 0.5
        new = np.zeros(len(x))
        new[2] = 0.7 * u[2] + u[0] * u[1]
        u, v = new, u
    return np.sum(u * np.arange(1.0, len(x) + 1))


@case((V, 3), (V, 4))
def three_in_turns(x, n):
    u, v, w = x * 1.0, x * 2.0, x * 3.0
    for _ in range(n):
        for i in range(1, len(x)):
            w[i] = u[i] * v[i - 1] + 0.2 * w[i - 1]
        u, v, w = v, w, u.copy()
    return np.sum(u * x) + np.sum(v) + w[1]


@case((V, 3), (V, 0))
def two_from_one_beginning(x, n):
    u = v = x * 1.0
    for _ in range(n):
        new, other = np.zeros(len(x)), np.zeros(len(x))
        for i in range(1, len(x)):
            new[i] = u[i] * v[i - 1]
            other[i] = new[i - 1] * u[i - 1] + x[i]
        u, v = other, new
    return np.sum(u * x) + np.sum(v)


@case((V, 3))
def every_step_is_kept(x, n):
    u = x * 1.0
    steps = [u]
    for _ in range(n):
        new = np.zeros(len(x))
        for i in range(1, len(x)):
            new[i] = u[i] * u[i - 1] + x[i]
        u = new
        steps.append(u)
    return np.sum(steps[1] * steps[2]) + np.sum(u)


@case((V, 3))
def the_beginning_is_read_later(x, n):
    first = x * 2.0
    u = first
    for _ in range(n):
        new = np.zeros(len(x))
        for i in range(1, len(x)):
            new[i] = u[i] * u[i - 1]
        u = new
    return np.sum(u * first)


@case(V)
def around_the_end(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i] = y[i - 1] * x[i]
    return np.sum(y)


@case(V)
def in_strides(x):
    y = x * 1.0
    for i in range(2, len(x), 2):
        y[i] = y[i - 1] * x[i] + y[i - 2]
    return y[1] * y[2] + y[4]


@case(V)
def by_a_table(x):
    order = np.array([2, 0, 2, 1, 4])
    y = x * 1.0
    for i in range(len(x)):
        y[order[i]] = y[i] * x[i]
    return np.sum(y)


@case(V)
def seen_through_a_view(x):
    y = x * 1.0
    tail = y[1:]
    for i in range(1, len(x)):
        y[i] = x[i] * tail[i - 1] * y[i - 1]
    return np.sum(tail)


@case(V)
def in_one_branch(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        if x[i] > 1.0:
            y[i] = x[i] * y[i - 1] + 1.0
        else:
            y[i] = y[i - 1] * 0.5 + x[i]
    return np.sum(y**2)


@case(V)
def written_twice(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = x[i] * y[i - 1] + 1.0
        y[i] = y[i] * y[i] + y[i - 1]
    for i in range(1, len(x)):
        y[i - 1] = y[i] * x[i]
    return np.sum(y)


@case(A)
def table(x):
    y = np.zeros(x.shape)
    for i in range(1, x.shape[0]):
        for j in range(1, x.shape[1]):
            y[i, j] = x[i, j] * max(y[i - 1, j], y[i, j - 1]) + y[i - 1, j - 1] + x[0, j]
    return y[x.shape[0] - 1, x.shape[1] - 1]


@case(A)
def table_read_ahead(x):
    y = x * 1.0
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1] - 1):
            y[i, j] = x[i, j] * y[i - 1, j + 1] + y[i, j + 1]
    return np.sum(y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize("fn", [recurrence, backward_recurrence, in_one_branch])
def test_left(fn):
    assert "0.0\n" not in ad.adjoint_source(fn, V).split("return")[0].split("d_y")[-1]


@pytest.mark.parametrize("fn", [sweeps, buffers_that_change_places])
def test_cleared(fn):
    assert "0.0\n" in ad.adjoint_source(fn, V, 3).split("range")[-1]
