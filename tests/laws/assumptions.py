"""Programs that break what passes over memory assume: they write, read, alias and leave early where that is unexpected.

Each takes two vectors of n numbers, a matrix of n rows and 3 columns, and a number.
"""

import math

import numpy as np

PROGRAMS = []


def program(function):
    """Note a program."""
    PROGRAMS.append(function)
    return function


# ---- taken_over / copied_first / copied_back
@program
def take_over_then_read(x, y, A, t):
    u = x.copy()
    s = 0.0
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + t * (u[2:] - u[:-2])
        s += np.sum(new * u)
        u = new
    return s + np.sum(u * y)


@program
def take_over_returns_view(x, y, A, t):
    u = x * 1.0
    keep = []
    for _ in range(3):
        new = u.copy()
        new[1:] = u[1:] + t * u[:-1]
        keep.append(new[:1])
        u = new
    return np.sum(u * y) + sum([np.sum(k) for k in keep])


@program
def take_over_same_part_twice(x, y, A, t):
    u = x * 1.0
    for _ in range(3):
        new = u.copy()
        new[:-1] = u[:-1] + t * u[1:]
        new[:-1] = new[:-1] * u[:-1]
        u = new
    return np.sum(u * y)


@program
def take_over_two_carried(x, y, A, t):
    u, v = x * 1.0, y * 1.0
    for _ in range(3):
        new = u.copy()
        new[1:] = u[1:] + t * v[:-1]
        old = v.copy()
        old[1:] = v[1:] + u[1:]
        u, v = new, old
    return np.sum(u * y) + np.sum(v)


@program
def copied_first_neighbours(x, y, A, t):
    u = x * 1.0
    for _ in range(2):
        new = u.copy()
        for i in range(1, len(x)):
            new[i] = u[i] + t * new[i - 1]
        u = new
    return np.sum(u * y)


@program
def copied_first_constant_place(x, y, A, t):
    u = x * 1.0
    for _ in range(2):
        new = u.copy()
        for i in range(len(x)):
            new[0] = u[0] + t * u[i]
        u = new
    return np.sum(u * y)


@program
def copied_first_negative(x, y, A, t):
    u = x * 1.0
    n = len(x)
    for _ in range(2):
        new = u.copy()
        for i in range(-min(n, 2), 1):
            new[i] = u[i] * t + u[0]
        u = new
    return np.sum(u * y)


@program
def copied_first_matrix(x, y, A, t):
    U = A * 1.0
    for _ in range(2):
        N = U.copy()
        for i in range(len(x)):
            for j in range(1, 3):
                if U[i, j] > 0:
                    N[i, j] = U[i, j] + t * U[i, j - 1]
        U = N
    return np.sum(U * A)


@program
def copied_first_break(x, y, A, t):
    u = x * 1.0
    for _ in range(3):
        new = u.copy()
        for i in range(len(x)):
            if i > 5:
                break
            new[i] = u[i] * t + u[-1]
        u = new
    return np.sum(u * y)


@program
def add_through_reads_between(x, y, A, t):
    u = x * 1.0
    s = 0.0
    for _ in range(3):
        old = u.copy()
        u[1:-1] = old[1:-1] + t * old[2:]
        s += np.sum(old * u)
    return s + np.sum(u * y)


@program
def add_through_whole_twice(x, y, A, t):
    u = x * 1.0
    for _ in range(2):
        old = u.copy()
        u[1:] = old[1:] * t + old[:-1]
        u[:-1] = u[:-1] + old[1:]
    return np.sum(u * y)


@program
def add_through_kept_part(x, y, A, t):
    u = x * 1.0
    old = u.copy()
    u[1:-1] = old[1:-1]
    u[1:-1] = old[1:-1] + old[:-2] * u[2:]
    return np.sum(u * y)


# ---- dead stores, taken items, zeroing, at_once
@program
def items_backwards(x, y, A, t):
    z = y.copy()
    n = len(x)
    for i in range(n - 1, -1, -1):
        z[i] = x[i] + t * z[(i + 1) % n]
    return np.sum(z * x)


@program
def items_variable_start(x, y, A, t):
    z = y.copy()
    k = 1 - len(x)
    for i in range(max(k, -2), len(x)):
        z[i] = t * z[i - 1] + x[i]
    return np.sum(z * x)


@program
def items_stride_two(x, y, A, t):
    z = y.copy()
    for i in range(0, len(x) - 1, 2):
        z[i + 1] = z[i] * t + x[i]
        z[i] = z[i + 1] * 0.5
    return np.sum(z * x)


@program
def items_two_loops(x, y, A, t):
    z = np.zeros(len(x))
    for k in range(2):
        for i in range(len(x)):
            z[i] = t * z[i - 1] + x[i] * (k + 1)
    return np.sum(z * y)


@program
def items_where_equal(x, y, A, t):
    n = min(len(x), 12)
    z = y.copy()
    s = 0.0
    for i in range(n):
        for j in range(n):
            if j != i:
                s = s + z[j] * x[i]
                z[j] = z[j] * t + s * 0.01
    return s + np.sum(z)


@program
def items_counter_changed(x, y, A, t):
    z = y.copy()
    i = 0
    while i < len(x):
        z[i] = z[i - 1] * t + x[i]
        if z[i] > 0.3:
            i += 1
        i += 1
    return np.sum(z * x)


@program
def items_alias(x, y, A, t):
    z = y.copy()
    w = z
    for i in range(1, len(x)):
        z[i] = w[i - 1] * t + x[i]
        w[i - 1] = z[i] * 0.5
    return np.sum(z * x) + np.sum(w)


@program
def items_of_view(x, y, A, t):
    z = y.copy()
    v = z[::-1]
    for i in range(len(x)):
        z[i] = z[i] * x[i]
        v[i] = v[i] * t + z[0]
    return np.sum(z * x)


@program
def rows_cleared(x, y, A, t):
    B = A * 1.0
    for i in range(len(x)):
        r = B[i]
        B[i] = r * t + B[i - 1]
        x = x * 1.0
    return np.sum(B * A) + np.sum(x)


# ---- gathering
@program
def gather_small_steps(x, y, A, t):
    W = np.eye(3) * t
    h = A[0] * 1.0
    for i in range(len(x)):
        h = np.tanh(W @ h + A[i])
    return np.sum(h) * x[0]


@program
def gather_changed_later(x, y, A, t):
    W = np.eye(3) * t
    b = np.zeros(3)
    h = A[0] * 1.0
    s = 0.0
    for i in range(len(x)):
        z = W @ A[i] + b
        h = np.tanh(z)
        h[0] = h[0] * 0.5
        s = s + h @ A[i]
        h *= y[i]
        b = b * 0.5 + h
    return s + np.sum(b)


@program
def gather_row_written(x, y, A, t):
    B = A * 1.0
    w = A[0] * t
    s = 0.0
    for i in range(len(x)):
        r = B[i]
        s = s + np.sin(w @ r)
        B[i] = r * x[i]
    return s + np.sum(B)


@program
def gather_break(x, y, A, t):
    W = np.outer(A[0], A[-1]) * t
    h = A[0] * 1.0
    for i in range(len(x)):
        h = np.tanh(W @ h) + 0.1 * A[i]
        if h[0] > 0.95 * 5 or i > 100:
            break
    return np.sum(h * A[0])


@program
def gather_list_rows(x, y, A, t):
    rows = [a * 1.0 for a in A]
    W = np.outer(A[0], A[-1])
    s = 0.0
    for i in range(len(rows)):
        r = rows[i]
        z = np.tanh(W @ r)
        s = s + np.sum(z)
        rows[i] = z * t
        rows[i - 1][0] = s * 0.01
    return s + sum([np.sum(r) for r in rows])


# ---- overwrite / reuse / sinking
@program
def overwrite_list_holds(x, y, A, t):
    keep = []
    u = x * 1.0
    for i in range(4):
        u = u * y
        if i % 2 == 0:
            keep.append(u)
    u = u * t
    return np.sum(u) + np.sum(keep[0] * keep[1])


@program
def overwrite_branch(x, y, A, t):
    u = x * 1.0
    for i in range(4):
        v = u
        u = u + t * y
        if i > 1:
            u = v * u
    return np.sum(u)


@program
def overwrite_broadcast(x, y, A, t):
    u = np.ones(1) * t
    u = u + 0.5
    u = u * x
    u = u - np.sum(u)
    u = u / (1.0 + u**2)
    return np.sum(u * y)


@program
def overwrite_dtype(x, y, A, t):
    u = np.arange(len(x))
    u = u * x
    u = u + u.mean()
    return np.sum(u * y)


@program
def overwrite_swapped(x, y, A, t):
    u, v = x * 1.0, y * 1.0
    for i in range(5):
        u, v = v, u * t + v
        if i == 3:
            v *= 0.5
    return np.sum(u * v)


@program
def overwrite_result_alias(x, y, A, t):
    u = x * t
    w = u
    u = u * y
    u += 1.0
    w = w * 2.0
    return np.sum(u * w)


@program
def augments_of_view(x, y, A, t):
    u = x * 1.0
    for i in range(3):
        v = u[::2]
        u = u * t
        v += 1.0
        u[::2] = u[::2] + v
    return np.sum(u * y)


@program
def augments_returned_by_helper(x, y, A, t):
    def same(a, on):
        if on:
            return a
        return a * 1.0

    u = x * 1.0
    for i in range(4):
        v = same(u, i % 2 == 0)
        v *= t
        u = u + v
    return np.sum(u * y)


# ---- invariants, reversed_once, once
@program
def invariant_no_steps(x, y, A, t):
    s = 0.0
    for i in range(len(x) - 1):
        s = s + np.sum(np.sin(x) * y) * t**2 + x[i]
    return s + np.sum(y)


@program
def invariant_written_later(x, y, A, t):
    u = x * 1.0
    s = 0.0
    for i in range(3):
        for j in range(2):
            s = s + np.sum(np.sin(u) * y)
        u[0] = u[0] * t
    return s


@program
def invariant_through_alias(x, y, A, t):
    u = x * 1.0
    v = u[:]
    s = 0.0
    for i in range(4):
        s = s + np.sum(np.tanh(u) * t)
        v[-1] = v[-1] * 0.5
    return s


@program
def invariant_list(x, y, A, t):
    p = [x * 1.0, y * 1.0]
    s = 0.0
    for i in range(4):
        q = np.sin(p[0]) * t
        s = s + np.sum(q * p[1])
        p[0] = p[0] * 0.9
        q[0] = s
        s = s + q[-1]
    return s


@program
def once_written_between(x, y, A, t):
    u = x * 1.0
    a = np.exp(u) * t
    u[0] = y[0]
    b = np.exp(u) * t
    a[0] = 3.0 * y[-1]
    return np.sum(a * b * y)


@program
def once_then_changed(x, y, A, t):
    a = np.sin(x) * y
    b = np.sin(x) * y
    b *= t
    return np.sum(a * b)


# ---- kept copies, record
@program
def restore_reads_view(x, y, A, t):
    u = x * 1.0
    v = u[1:]
    s = 0.0
    for i in range(3):
        s = s + np.sum(u**2)
        np.multiply(u, y, out=u)
        s = s + np.sum(v**3)
        u[...] = np.tanh(u) * t
    return s + np.sum(u * v[0] if len(x) > 1 else u)


@program
def restore_two_writes(x, y, A, t):
    u = x * 1.0
    s = 0.0
    for i in range(3):
        u[:] = np.sin(u) * t
        s = s + np.sum(u**2)
        u[:] = u * u
        u[0] = u[-1] * s
    return s + np.sum(u)


@program
def carried_while(x, y, A, t):
    h = x * 1.0
    k = 0
    while np.sum(h**2) > 0.05 and k < 6:
        h = np.tanh(h * t) * y
        k += 1
    return np.sum(h) + np.sum(x)


@program
def carried_break_mid(x, y, A, t):
    h = x * 1.0
    s = 0.0
    for i in range(6):
        g = h
        h = np.tanh(h * t + y)
        if np.sum(h * g) < 0.1:
            break
        s = s + np.sum(h * g)
    return s + np.sum(h)


@program
def twins_after_write_in_branch(x, y, A, t):
    z = x * 1.0
    s = 0.0
    for i in range(len(x)):
        a = z[i] * y[i]
        if a > 0:
            z[i] = a * t
        s = s + z[i] * a
    return s


@program
def lasting_upper_triangle(x, y, A, t):
    n = min(len(x), 10)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            r = x[i] * y[j] * 0.1
            for k in range(j):
                r = r - L[i, k] * L[j, k]
            if i == j:
                L[i, j] = math.sqrt(r * r + 1.0)
            else:
                L[i, j] = r / L[j, j]
    return np.sum(L) * t


@program
def saved_rows_then_written(x, y, A, t):
    h = x * 1.0
    s = 0.0
    out = np.zeros((4, len(x)))
    for i in range(4):
        out[i] = h
        h = np.sin(h) * t
        s = s + np.sum(h * out[i])
        out[i] *= y
        out[i - 1] = h
    return s + np.sum(out * out)


# ---- items
@program
def items_of_one_array_twice(x, y, A, t):
    a, b = x, x
    s = 0.0
    for i in range(len(x)):
        s = s + a[i] * b[-i - 1] * t
    return s + np.sum(y)


@program
def items_int_overflow(x, y, A, t):
    z = np.zeros(len(x))
    z[0] = 1
    for i in range(1, len(x)):
        z[i] = z[i - 1] * t + i % 3
    return np.sum(z * x)


@program
def items_lists_of_lists(x, y, A, t):
    rows = [list(r) for r in A]
    for i in range(len(rows)):
        rows[i][0] = rows[i - 1][2] * t
        rows[i][1] += rows[i][0]
    return sum([r[0] * r[1] for r in rows]) + np.sum(x)


@program
def items_swapped_arrays(x, y, A, t):
    u, v = x * 1.0, y * 1.0
    for k in range(3):
        for i in range(1, len(x)):
            v[i] = u[i - 1] * t + v[i]
        u, v = v, u
        if k == 1:
            u[0] = v[0] * 2
    return np.sum(u * v)


# ---- strips
@program
def strips_cuts(x, y, A, t):
    a = np.sin(x) * y + np.exp(-x * x) * t
    b = a[1:] - a[:-1]
    c = np.tanh(b) * y[1:] + x[:-1] * b
    d = c[1:] * c[:-1] + np.cos(x[2:]) * np.sqrt(y[1:-1] ** 2 + 1.0)
    return np.sum(d * d) + np.sum(a * t) + np.sum(np.log(1.0 + b**2))


@program
def strips_sum_inside(x, y, A, t):
    m = np.mean(x)
    a = np.sin(x - m) * y + np.exp(-x * x) * t
    b = np.where(a > 0.1, a * x, np.cos(a) + y**3)
    c = np.sqrt(b**2 + 0.3) / (1.0 + np.exp(-b)) + np.tanh(a * b)
    return np.sum(c) / np.sqrt(np.sum(c * c) + 1.0) + np.sum(c * a) * m


@program
def strips_one_long(x, y, A, t):
    w = np.array([t])
    a = np.sin(x * w) * y + np.exp(-x * x) * t
    b = np.maximum(a, y) * np.minimum(a, x) + np.abs(a - y) ** 1.5
    c = np.sqrt(b**2 + 0.3) / (1.0 + np.exp(-b)) + np.tanh(a * b) + w
    return np.sum(c * x) + np.sum(c)


@program
def strips_in_place(x, y, A, t):
    a = np.sin(x) * y
    a += np.exp(-x * x) * t
    b = a * a
    b -= np.tanh(a) * x
    b[b < 0] = 0.25
    c = np.sqrt(b**2 + 0.3) / (1.0 + np.exp(-b)) + np.tanh(a * b)
    c *= a
    return np.sum(c * x) + np.sum(c[::-1] * a)


# ---- recursive functions
class Acc:
    def __init__(self):
        self.total = 0.0
        self.parts = []
        self.grid = np.zeros(3)

    def __call__(self, x, k):
        self.total = self.total * 0.5 + x[k % len(x)] * k
        self.grid[k % 3] += self.total
        if k == 0:
            return self.total
        return self(x * 0.9, k - 1) * 1.1


@program
def object_in_recursion(x, y, A, t):
    a = Acc()
    r = a(x, 5)
    return r + a.total + np.sum(a.grid)


def fill(a, lo, hi, t):
    if hi - lo < 1:
        return 0.0
    mid = (lo + hi) // 2
    a[mid] = a[mid] * t + a[lo]
    return fill(a, lo, mid, t) + fill(a, mid + 1, hi, t * 0.9) + a[mid]


@program
def writes_argument(x, y, A, t):
    u = x * 1.0
    s = fill(u, 0, min(len(u), 40), t)
    return s + np.sum(u * y)


def fft_like(z, t):
    n = len(z)
    if n <= 1:
        return z
    e, o = fft_like(z[::2], t), fft_like(z[1::2], t)
    m = len(o)
    return np.concatenate([e[:m] + t * o, e[:m] - np.sin(o), e[m:]])


@program
def splits(x, y, A, t):
    return np.sum(fft_like(x, t) * y)


def products(W, h, k):
    if k == 0:
        return h, h @ h
    g, s = products(W * 0.9, np.tanh(W @ h), k - 1)
    return g + h, s * 0.5 + np.sum(W)


@program
def several_results(x, y, A, t):
    g, s = products(A[:1].T @ A[:1] + t * np.eye(3), A[0], 6)
    return np.sum(g) * s


def hanoi(p, k, a, b, c):
    if k == 0:
        return
    hanoi(p, k - 1, a, c, b)
    v = p[a].pop()
    p[b].append(v * 1.1 + 0.1)
    hanoi(p, k - 1, c, b, a)


@program
def lists_in_recursion(x, y, A, t):
    p = [[x[0] * t, x[-1], t], [], []]
    hanoi(p, 3, 0, 2, 1)
    return p[2][0] * p[2][1] + math.sin(p[2][2])


def memo(cache, k, t):
    if k in cache:
        return cache[k]
    cache[k] = memo(cache, k - 1, t) * t + 0.1 * memo(cache, k - 2, t)
    return cache[k]


@program
def dicts_in_recursion(x, y, A, t):
    return memo({0: x[0], 1: y[0]}, 9, t)


def quick(a, lo, hi):
    if lo >= hi:
        return
    p, i = a[hi], lo
    for j in range(lo, hi):
        if a[j] < p:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[hi] = a[hi], a[i]
    quick(a, lo, i - 1)
    quick(a, i + 1, hi)


@program
def sorts_in_place(x, y, A, t):
    u = x[:30] * t
    quick(u, 0, len(u) - 1)
    return np.sum(u * y[:30]) + np.sum(u * u)


def mutual_a(v, k):
    return v if k == 0 else mutual_b(np.sin(v) * 1.1, k - 1) + np.outer(v, v) @ v


def mutual_b(v, k):
    return v * 0.5 if k == 0 else mutual_a(v @ np.diag(v), k - 1)


@program
def mutual(x, y, A, t):
    return np.sum(mutual_a(A[0] * t, 5))


@program
def with_nonlocal(x, y, A, t):
    best = 0.0

    def go(k, v):
        nonlocal best
        best = best * 0.7 + v @ v
        if k > 0:
            go(k - 1, np.tanh(v * t))

    go(5, x * 0.1)
    return best


def solve_rec(M, b, k):
    r = np.linalg.solve(M, b)
    if k == 0:
        return r
    return solve_rec(M + 0.1 * np.outer(r, r), b - r, k - 1) + r


@program
def solves(x, y, A, t):
    return np.sum(solve_rec(np.eye(3) * 3 + np.outer(A[0], A[0]), A[-1] * t, 4))
