"""Arrays that a loop takes and leaves, and whose items it reads and writes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(5).uniform(0.5, 1.5, 5)


@case((V, 3), (V, 0))
def time_steps(u, n):
    for _ in range(n):
        new = np.zeros(len(u))
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] * u[i + 1])
        u = new
    total = 0.0
    for i in range(len(u)):
        total += u[i] ** 2
    return total


@case((V, 3), (V, 0))
def read_as_a_whole_afterwards(u, n):
    first = u
    for _ in range(n):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u = new
    return np.sum(u * first) + u[1]


@case((V, 3), (V, 0))
def read_as_a_whole_in_a_step(u, n):
    total = 0.0
    for _ in range(n):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u = new
        total = total + np.sum(u)
    return total


@case((V, 3), (V, 0))
def two_steps_back(u, n):
    old = u * 0.5
    for _ in range(n):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1] - old[i]
        old = u
        u = new
    return np.sum(u) + np.sum(old**2)


@case((V, 3), (V, 0))
def written_into_what_came(x, n):
    u = x * 1.0
    for _ in range(n):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            u[i] = u[i] * 0.5
            new[i] = u[i] * u[i - 1]
        u = new
    return np.sum(u**2)


@case((V, 3), (V, 0))
def left_early(u, n):
    for _ in range(n):
        new = np.zeros(len(u))
        for i in range(1, len(u)):
            new[i] = u[i] * u[i - 1]
        u = new
        if u[1] < 0.7:
            break
    return np.sum(u**2)


@case((V, 3))
def of_other_lengths(u, n):
    for _ in range(n):
        new = np.zeros(len(u) - 1)
        for i in range(len(u) - 1):
            new[i] = u[i] * u[i + 1]
        u = new
    return np.sum(u**2)


@case(V)
def made_read_and_made_again(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = x[i] * y[i - 1] + x[i - 1]
    total = np.sum(y * y)
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1]
    total = total + np.sum(y * x)
    for i in range(len(x)):
        total = total * y[i] + x[i]
    return total


@case(V)
def changed_in_between(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
    y = x * 1.0
    y[1:] = y[1:] * y[:-1]
    for i in range(len(x)):
        total = total + y[i] * x[i]
    y += x
    for i in range(len(x)):
        total = total + y[i] * y[i]
    return total


@case((V, 3), (V, 0))
def changed_in_place_by_each_step(x, n):
    u = x * 2.0
    for _ in range(n):
        w = u.copy()
        for i in range(len(x)):
            w[i] = 0.7 * w[i - 1] + x[i - 1]
        u = w
    return np.sum(u * x)


@case((V, 3), (V, 0))
def a_copy_of_what_was_made_is_handed_on(u, n):
    size = len(u)
    for _ in range(n):
        w = np.zeros(size)
        for i in range(1, size):
            w[i] = w[i] + 0.3 * w[i - 1] * u[i] + u[i]
        u = w.copy()
        for i in range(1, size - 1):
            u[i] = (u[-1] + u[(i + 1) % size]) * 0.5
    return np.sum(u * np.arange(1.0, size + 1))


@case((V, 3), (V, 0))
def heat_in_a_copy(x, steps):
    u = x.copy()
    n = len(u)
    for _ in range(steps):
        new, other = u.copy(), u.copy()
        for i in range(1, n - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1] * other[i])
            other[i] = new[i] * u[i]
        new[0] += other[1]
        u = new
    return np.sum(u**2)


@case((V, 3), (V, 0))
def two_copies_change_places(x, steps):
    u, v = x.copy(), x * 2.0
    for _ in range(steps):
        a, b = u.copy(), u.copy()
        for i in range(1, len(x)):
            a[i] = u[i - 1] * v[i]
            b[i] = a[i - 1] + v[i - 1]
        u, v = b, a
    return np.sum(u * x) + np.sum(v)


@case((V,))
def view_of_what_was_a_list(x):
    n, u = len(x), np.zeros(len(x))
    w, v = u.copy(), np.zeros(n)
    for i in range(0, n, 2):
        w[i] = x[i - 1] + v[0]
    u, v = w, w[::-1]
    for i in range(n - 1, -1, -1):
        v[(i + 1) % n] += 0.3 * v[i - 1]
    return np.sum(u * np.arange(1.0, n + 1)) + np.sum(v * v) * 0.5 + u[0] * v[-1]


@case((V,))
def list_of_what_a_view_was_written_into(x):
    n, s, u = len(x), 0.0, x * 1.0
    for i in range(0, n, 2):
        s = s + x[0] * 0.2
    for i in range(n - 1, -1, -1):
        u[i] = s
    v, w = u[::-1], np.zeros(n)
    for i in range(n):
        w[i] = 0.7 * v[-1]
    return s * s * 0.1 + np.sum(w * np.arange(1.0, n + 1))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
