"""Items that nobody writes later are read again: right for every order of reads and writes."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import segments
from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
RNG = np.random.default_rng(0)
V, W, M = RNG.uniform(0.5, 1.5, 5), RNG.uniform(0.5, 1.5, 5), RNG.uniform(0.5, 1.5, (4, 5))


@case((V,))
def wrap(a):
    x = a * 1.0
    for i in range(len(a)):
        x[i] = x[i - 1] * a[i] * x[i]
    return np.sum(x * x)


@case((V,))
def wrap2(a):
    x = a * 1.0
    n = len(a)
    for i in range(n):
        x[i] = x[i - 2] * a[i]
    return np.sum(x * x)


@case((V,))
def chain(a):
    x = np.zeros(len(a))
    x[0] = a[0]
    for i in range(1, len(a)):
        x[i] = x[i - 1] * a[i] + np.sin(x[i - 1])
    return np.sum(x * x)


@case((V,))
def twice(a):
    x = np.ones(len(a))
    for i in range(1, len(a)):
        x[i] = x[i - 1] * a[i]
    for i in range(1, len(a)):
        x[i] = x[i - 1] * x[i] * a[i]
    return np.sum(x * x)


@case((V,))
def later_whole(a):
    x = np.ones(len(a))
    for i in range(1, len(a)):
        x[i] = x[i - 1] * a[i]
    x *= a
    return np.sum(x * x)


@case((V,))
def view_in(a):
    x = np.ones(len(a))
    y = x[::-1]
    for i in range(1, len(a)):
        x[i] = x[i - 1] * a[i] * y[i]
        y[i] = a[i] * x[i]
    return np.sum(x * x)


@case((M[:, :4],))
def cholesky(m):
    n = m.shape[0]
    a = m @ m.T + n * np.eye(n)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += low[i, k] * low[j, k]
            if i == j:
                low[i, j] = np.sqrt(a[i, i] - s)
            else:
                low[i, j] = (a[i, j] - s) / low[j, j]
    return np.sum(np.log(np.diag(low))) + np.sum(low[:, 0] ** 3)


@case((M[:, :4],))
def diagonal_last(m):
    x = m * 1.0
    n = m.shape[0]
    for i in range(n):
        for j in range(n):
            if not i == j:
                x[i, j] = x[i, j] * x[j, j] * x[i, i]
        x[i, i] = x[i, i] * x[i, 0]
    return np.sum(x**2)


@case((M[:, :4],))
def beside_the_diagonal(m):
    x = m * 1.0
    n = m.shape[0]
    for i in range(n):
        for j in range(n):
            beside = j + 1 != i
            if beside:
                x[i, j] = x[i, j] * m[j, i] + x[j, j]
            else:
                x[i, j] = x[j, i] * x[i, i] * x[i, j]
    return np.sum(x**3)


@case((M[:, :4],))
def both_sides_write(m):
    x = m * 1.0
    n = m.shape[0]
    for i in range(n):
        for j in range(i + 1):
            if i != j:
                x[i, j] = np.sin(x[j, j]) * x[i, j]
            else:
                t = np.exp(x[i, j])
                x[i, j] = t
                x[j, i] = t * x[j, j]
    return np.sum(x**2)


@case((M[:, :4], 2))
def equal_to_a_number(m, c):
    x = m * 1.0
    n = m.shape[0]
    for i in range(n):
        for j in range(n):
            if i == c:
                x[i, j] = x[c, j] * x[0, j]
            elif j == 0:
                x[0, i] = x[i, j] * x[c, i]
            else:
                x[i, j] = x[0, j] * x[i, j]
    return np.sum(x**2)


@case((V, 3))
def outer(a, k):
    x = a * 1.0
    for t in range(k):
        for i in range(1, len(a)):
            x[i] = x[i - 1] * a[i] * x[i]
    return np.sum(x * x)


@case((V, 3))
def outer_fresh(a, k):
    s = 0.0
    for t in range(k):
        x = a * (1.0 + s)
        for i in range(1, len(a)):
            x[i] = x[i - 1] * a[i] * np.sin(s)
        s = s + x[3] * x[2]
    return s


@case((V,), (V[:1],), (V[:2],))
def back(a):
    n = len(a)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        rest = a[i]
        for j in range(i + 1, n):
            rest = rest - a[j] * x[j] * a[i]
        x[i] = rest / a[i]
    return np.sum(x * x)


@case((V,))
def back_wrong(a):
    n = len(a)
    x = np.ones(n)
    for i in range(n - 1, -1, -1):
        rest = a[i]
        for j in range(i - 1, n):
            rest = rest - a[j] * x[j] * a[i]
        x[i] = rest / a[i]
    return np.sum(x * x)


@case((V,))
def fwd_eq(a):
    n = len(a)
    x = np.ones(n)
    for i in range(n):
        rest = a[i]
        for j in range(i + 1):
            rest = rest - a[j] * x[j] * a[i]
        x[i] = rest / a[i]
    return np.sum(x * x)


@case((V,))
def fwd_next(a):
    n = len(a)
    x = np.ones(n + 1)
    for i in range(n):
        rest = a[i]
        for j in range(i + 1):
            rest = rest - a[j] * x[j] * a[i]
        x[i + 1] = rest / a[i]
    return np.sum(x * x)


@case((M,))
def dp(a):
    n, k = a.shape
    x = np.ones((n, k))
    for i in range(1, n):
        for j in range(1, k):
            x[i, j] = a[i, j] * x[i - 1, j] * x[i, j - 1] + np.sin(x[i - 1, j - 1])
    return np.sum(x * x)


@case((M,))
def dp_bad(a):
    n, k = a.shape
    x = np.ones((n, k))
    for i in range(1, n):
        for j in range(1, k):
            x[i - 1, j] = a[i, j] * x[i, j] * x[i, j - 1] + np.sin(x[i - 1, j - 1])
            x[i, j] = x[i - 1, j] * x[i, j] * a[i, j]
    return np.sum(x * x)


@case((M,))
def dp_col(a):
    n, k = a.shape
    x = np.ones((n, k))
    for j in range(k - 2, -1, -1):
        for i in range(n):
            x[i, j] = a[i, j] * x[i, j + 1] * x[i - 1, j + 1]
    return np.sum(x * x)


@case((M,))
def rowroll(a):
    n, k = a.shape
    x = np.ones((2, k))
    for i in range(n):
        for j in range(1, k):
            x[i % 2, j] = a[i, j] * x[(i + 1) % 2, j] * x[i % 2, j - 1]
    return np.sum(x * x)


@case((V, 1), (V, 2), (V, -1))
def unkstep(a, k):
    x = a * 1.0
    for i in range(1 if k > 0 else 3, 4 if k > 0 else 0, k):
        x[i] = x[i - 1] * x[i] * a[i] * x[i + 1]
    return np.sum(x * x)


@case((V, 2), (V, 0), (V, 4))
def inv_index(a, k):
    x = a * 1.0
    t = 1.0
    for i in range(len(a)):
        t = t * x[k] * np.sin(x[i])
        x[i] = t
    return np.sum(x * x)


@case((V, 2), (V, 0), (V, 3))
def inv_index3(a, k):
    x = a * 1.0
    t = 1.0
    for i in range(len(a)):
        t = t * np.sin(x[k + 1])
        x[k] = t * x[k]
    return np.sum(x * x)


@case((V,))
def const_index(a):
    x = a * 1.0
    t = 1.0
    for i in range(len(a)):
        t = t * np.sin(x[0]) * x[-1]
        x[1] = t * x[2]
        x[-1] = t
    return np.sum(x * x)


@case((V, 4))
def shrink(a, n):
    x = a * 1.0
    t = 1.0
    while n > 0:
        t = t * x[n] * x[n - 1]
        x[n] = t
        n = n - 1
    return np.sum(x * x)


@case((V,))
def stored_cond(a):
    x = np.ones(len(a))
    t = 1.0
    for i in range(len(a)):
        t = np.sin(t * a[i])
        if t > 0.7:
            x[i] = t
        t = t * t
    return np.sum(x * x) + t


@case((V,))
def stored_twice(a):
    x = np.ones(len(a))
    t = 1.0
    for i in range(len(a)):
        t = np.sin(t * a[i])
        x[i] = t
        t = t * t * a[i]
        u = np.exp(t)
        x[i] = u
        t = t * u
    return np.sum(x * x) + t


@case((V,))
def stored_after_write(a):
    x = np.ones(len(a) + 1)
    t = 1.0
    for i in range(len(a)):
        u = np.exp(-t * a[i])
        x[i + 1] = u
        x[i] = u * u
        t = t + u * x[i]
    return np.sum(x * x) + t


@case((V,))
def stored_int(a):
    x = np.zeros(len(a), dtype=int)
    t = 1.0
    for i in range(len(a)):
        u = np.exp(t * a[i] * 0.1)
        x[i] = int(u)
        t = t + u * u + x[i]
    return t


@case((V, W))
def ret_x(a, b):
    n = len(a)
    x = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s = s - a[j] * x[j] * 0.1
        x[i] = s / a[i]
    return x


@case((V, 9))
def seg(a, n):
    x = np.ones(n + 1)
    for i in segments(range(n), every=2):
        x[i + 1] = np.sin(x[i] * a[i % 5]) + x[i]
    return np.sum(x * x)


@case((V, 3))
def seg_inner(a, n):
    x = np.ones(n * 5 + 1)
    y = np.ones(6)
    for k in segments(range(n), every=2):
        for i in range(5):
            x[i + 1] = np.sin(x[i] * a[i])
        y[k + 1] = y[k] * x[k]
    return np.sum(x * x) * np.sum(y)


def g(x, a, i):
    x[i + 1] = x[i] * a[i]


@case((V,))
def in_callee(a):
    x = np.ones(len(a) + 1)
    for i in range(len(a)):
        g(x, a, i)
    return np.sum(x * x)


def rec(x, a, i):
    if i == len(a):
        return x[i]
    x[i + 1] = x[i] * a[i] * x[0]
    r = rec(x, a, i + 1)
    for k in range(2):
        x[k] = x[k] * r
    return r


@case((V,))
def in_rec(a):
    x = np.ones(len(a) + 1)
    t = rec(x, a, 0)
    for i in range(3):
        t = t * x[i]
    return np.sum(x * x) * t


@case((V,))
def idxmod(a):
    x = np.ones(len(a))
    for i in range(1, len(a)):
        j = i - 1
        j = j % 2
        x[i] = x[j] * a[i]
        x[j] = np.sin(x[i])
    return np.sum(x * x)


@case((V,))
def idxrebind(a):
    x = np.ones(len(a) + 2)
    for i in range(1, len(a)):
        i = i + 1
        x[i] = x[i - 1] * a[i % 5]
        i = i - 1
        x[i] = np.sin(x[i + 1] * x[i])
    return np.sum(x * x)


@case((M,))
def rowwrite(a):
    n, k = a.shape
    x = np.ones((n, k))
    for i in range(1, n):
        for j in range(k):
            x[i, j] = x[i - 1, j] * a[i, j]
        x[i] = x[i] * a[i]
    return np.sum(x * x)


@case((M,))
def rowwrite2(a):
    n, k = a.shape
    x = np.ones((n, k))
    for i in range(1, n):
        for j in range(k):
            x[i, j] = x[i - 1, j] * a[i, j]
        row = x[i - 1]
        row[0] = a[i, 0]
    return np.sum(x * x)


@case((M,))
def chol(a):
    n = 4
    A = a[:, :4] @ a[:, :4].T + 4 * np.eye(4)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s = s - l[i, k] * l[j, k]
            if i == j:
                l[i, j] = np.sqrt(s)
            else:
                l[i, j] = s / l[j, j]
    return np.sum(np.sin(l))


@case((M,))
def lu(a):
    n = 4
    A = a[:, :4] @ a[:, :4].T + 4 * np.eye(4)
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]
    return np.sum(np.sin(A))


@case((V, 2))
def rngbound(a, h):
    n = len(a)
    x = np.ones(n)
    for i in range(n):
        s = a[i]
        for j in range(max(0, i - h), i):
            s = s + x[j] * a[j]
        x[i] = s
    for i in range(n):
        s = a[i]
        for j in range(i - h if i > h else 0, i + 1):
            s = s + x[j] * a[j]
        x[i] = s
    return np.sum(x * x)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_nothing_is_saved_of_a_substitution():
    source = ad.adjoint_source(back, V)
    assert "saved" not in source and "x_items[j]" in source


@pytest.mark.parametrize("fn", [wrap, wrap2, outer, fwd_eq, view_in, idxmod])
def test_what_is_written_later_is_saved(fn):
    args = (V, 3) if fn is outer else (V,)
    assert "saved" in ad.adjoint_source(fn, *args)


def test_nothing_is_saved_of_a_factorisation():
    """Neither what is stored nor the diagonal: beside ``i == j`` no step writes it any more."""
    assert "saved" not in ad.adjoint_source(cholesky, M[:, :4])
