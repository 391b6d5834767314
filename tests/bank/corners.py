"""Small programs at the corners where adjoints go wrong: one construct each."""

import contextlib
from dataclasses import dataclass

import numpy as np

from tests.bank.registry import program


def v(*numbers):
    return np.array(numbers)


def A34():
    return np.linspace(-1, 1, 12).reshape(3, 4)


@dataclass
class Body:
    p: np.ndarray
    m: float


# Loop: a variable overwritten in each trip and not read before: only the last trip counts.
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def overwritten_each_trip(x):
    t = 0.0
    for e in x:
        t = e * e
    return t


# Same with initial value active.
@program(args=lambda rng: (v(1.0, 2.0, 3.0), 0.5), wrt=(0, 1))
def overwritten_each_trip2(x, t):
    for e in x:
        t = e * e
    return t


# New variable first bound in a loop, read after.
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def bound_in_loop(x):
    for e in x:
        last = e * e
    return last


# While: same.
@program(args=lambda rng: (1.5,))
def while_overwritten(x):
    n = 0
    y = x
    while n < 3:
        n += 1
        y = x * n
    return y


# Loop that breaks in the middle of trip.
@program(args=lambda rng: (1.1,))
def break_middle(x):
    s = x
    for i in range(5):
        s = s * x
        if s > 1.3:
            break
        s = s + x
    return s


# Return inside while.
@program(args=lambda rng: (0.3,))
def small_return_from_while(x):
    while True:
        x = x + x**2
        if x > 1.0:
            return np.log(x)


# List holds a view of a written array, only read.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 4.0),))
def list_with_view(x):
    y = x * x
    y[0] = x[1]
    p = [y[1:], x[:3]]
    return np.sum(y) + sum(np.sum(e**2) for e in p)


# List holds a written array itself, only read.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 4.0),))
def list_with_written(x):
    y = x * x
    y[0] = x[1]
    p = [x * 2.0, y]
    return np.sum(y) + sum(np.sum(e**2) for e in p)


# Write to array after it was put into a list.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 4.0),))
def list_then_written(x):
    y = x * x
    p = [x * 2.0, y]
    y[0] = 3 * x[1]
    return np.sum(p[1] ** 2) + np.sum(p[0])


# View of a view, reversed, returned.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 4.0, 5.0),))
def reversed_slice(y):
    y = y * 1.0
    y[0:5] = y * y
    return y[:4][::-1]


# Reversed whole view multiplied in place.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 4.0, 5.0),))
def small_reversed_view(x):
    y = np.sin(x)
    r = y[::-1]
    r[1:] *= y[1:]
    return np.sum(y * r)


# Y[:] = y * y[::-1].
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def self_reversed(x):
    y = x + 0.0
    y[:] = y * y[::-1]
    return np.sum(y * v(1.0, 2.0, 3.0))


# Overlapping views: left += right.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 5.0),))
def overlapping(x):
    y = x * 1.0
    l, r = y[:-1], y[1:]
    l += r
    r *= l
    return np.sum(y * y)


# Augmented view in loop: part -= c*y[k-1]*part.
@program(args=lambda rng: (v(0.1, 0.2, 0.3, 0.5),))
def aug_view_loop(x):
    y = np.tanh(x)
    for k in range(1, 3):
        part = y[k:]
        part -= 0.3 * y[k - 1] * part
    return y


# Np.split views written.
@program(args=lambda rng: (v(1.0, 2.0, 3.0, 4.0),))
def small_split_views(x):
    y = x * x
    a, b = np.split(y, 2)
    a += b
    return np.sum(y * x)


# Reshape of a transpose copies.
@program(args=lambda rng: (A34(), 0.6), wrt=(0, 1))
def reshape_copies(A, t):
    B = A * A
    f = B.T.reshape(-1)
    f *= t
    return np.sum(B * A) + np.sum(f * f)


# Ravel of a transpose copies.
@program(args=lambda rng: (A34(), 0.6), wrt=(0, 1))
def ravel_copies(A, t):
    B = A * A
    f = B.T.ravel()
    f[2] = t
    return np.sum(B * A) + np.sum(f * f)


# Np.diagonal(B, 1) read after B is written.
@program(args=lambda rng: (np.linspace(-1, 1, 9).reshape(3, 3),))
def diagonal_view(A):
    B = A * A
    off = np.diagonal(B, 1)
    B[0, 1] = A[2, 2]
    return np.sum(off**2)


# Einsum('ii->i') is a view.
@program(args=lambda rng: (np.linspace(-1, 1, 9).reshape(3, 3),))
def einsum_view(A):
    B = A * A
    d = np.einsum("ii->i", B)
    d *= A[0]
    return np.sum(B**2)


# Real view of complex written.
@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=4), rng.uniform(0.5, 1.5, size=4)))
def root_of_squares_of_which_an_item_is_read(x, y):
    t = x**2 + y**2
    return np.sum(np.sqrt(t)) + 3.0 * t[0]


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=5), rng.uniform(0.5, 1.5, size=5)))
def root_of_squares_of_which_parts_are_read(x, y):
    t = x * x
    return np.sum(np.sqrt(t + y**2)) + np.sum(np.sqrt(t) * y) + np.sum(t[1:] * 0.5) + np.sum(t[::2])


@program(args=lambda rng: (rng.normal(size=4),))
def conjugate_of_a_number_in_the_text(x):
    w = 0.1 + 0.2j
    e = w.conjugate() * x + 1j * x[::-1]
    return np.sum(np.abs(e) ** 2)


@program(args=lambda rng: (v(1 + 2j, 3 - 1j),))
def real_view(z):
    w = z * z
    w.real[1:] *= 2.0
    return np.sum(np.abs(w) ** 2)


# += on a copied array in a loop (momentum).
@program(args=lambda rng: (v(1.0, 2.0),))
def small_momentum(w):
    w = w.copy()
    u = np.zeros_like(w)
    for _ in range(3):
        u *= 0.9
        u -= 0.1 * w**2
        w += u
    return np.sum(w**2)


# Force[i] += in nested loops, then velocity += force.
@program(args=lambda rng: (A34(),))
def small_forces(p):
    p = p.copy()
    for _ in range(2):
        f = np.zeros_like(p)
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                f[i] += p[j] - p[i] ** 2
        p += 0.05 * f
    return np.sum(p**2)


# Term = term @ A / k; total += term.
@program(args=lambda rng: (np.linspace(-0.5, 0.5, 9).reshape(3, 3),))
def small_series(A):
    total, term = np.eye(3), np.eye(3)
    for k in range(1, 4):
        term = term @ A / k
        total = total + term
    return np.trace(total @ total.T)


# Walrus in comprehension read after.
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def small_walrus(x):
    kept = [y * e for e in x if (y := e * e) > -1]
    return sum(kept) * y


# For x in seq: loop variable after loop.
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def loop_var_after(x):
    for i in range(3):
        a = x[i] ** 2
    return a * x[i]


# List of lists written by index.
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def small_grid(x):
    g = [[0.0] * 3 for _ in range(2)]
    for i in range(2):
        for j in range(3):
            g[i][j] = x[j] * (i + 1) if i == 0 else g[i - 1][j] * x[0]
    return g[1][2] + g[0][1]


# Exception swallowed by a with block.
@program(args=lambda rng: (v(1.0, 2.0, 3.0),))
def small_suppressed(x):
    t = np.sum(x**2)
    with contextlib.suppress(IndexError):
        t = t * x[0]
        t = t + x[3]
        t = 0.0
    return t


# Dict result with nested tuple: every leaf seeded with one.
@program(args=lambda rng: (2.0,))
def small_dict_result(t):
    return {"a": t * t, "b": [t, (t**3,)], "n": 3}


# Swap rows by fancy assignment.
@program(args=lambda rng: (np.linspace(-1, 1, 9).reshape(3, 3),))
def swap_rows(A):
    A[[0, 2]] = A[[2, 0]]
    return A * np.arange(9.0).reshape(3, 3)


# B[k], b[p] = b[p], b[k] with k from data.
@program(args=lambda rng: (v(1.0, 5.0, 3.0),))
def small_swap_elements(b):
    p = int(np.argmax(b))
    b[0], b[p] = b[p], b[0]
    return b * v(1.0, 2.0, 3.0)


# Put_along_axis.
@program(args=lambda rng: (A34(), v(1.0, 2.0, 3.0)), wrt=(0, 1))
def put_along(A, w):
    B = A * A
    o = np.argmin(A, axis=1)[:, None]
    np.put_along_axis(B, o, w[:, None], axis=1)
    return np.sum(B * A)


# Early return after a write in a loop.
@program(args=lambda rng: (v(0.5, 0.6, 0.7, 0.8),))
def small_early(x):
    y = x.copy()
    for i in range(1, 4):
        y[i] = y[i] * y[i - 1]
        if y[i] < 0.25:
            return np.sum(y * y)
    return np.sum(y)


# Buffers in a list, index alternates.
@program(args=lambda rng: (v(0.5, 0.6, 0.7),), tags=("second",))
def small_buffers(x):
    b = [x.copy(), np.empty_like(x)]
    for n in range(3):
        s, t = b[n % 2], b[(n + 1) % 2]
        t[:] = s * s + x
    return np.sum(b[1])


# Object argument: field replaced in loop.
@program(args=lambda rng: (Body(v(1.0, 2.0), 0.5),))
def small_body(b):
    for _ in range(3):
        b.p = b.p * b.m
        b.m = b.m * 0.9
    return np.sum(b.p)


# First position of *args.
@program(args=lambda rng: (2.0, 3.0))
def small_star(*args):
    return args[0] ** 2 * args[1]


# Returned argument shares memory with it.
@program(args=lambda rng: (v(1.0, 2.0),))
def small_identity(x):
    return x


# 0-d array argument keeps its kind.
@program(args=lambda rng: (np.array(0.7),))
def zerod(t):
    return t * t


# List of floats into np.array: gradients stay floats.
@program(args=lambda rng: ([0.5, 1.5],))
def small_floats(values):
    x = np.array(values)
    return np.sum(x * x)


# Augmented view of A's rows: for row in B: row *= row[0].
@program(args=lambda rng: (A34(),))
def small_rows(A):
    B = A.copy()
    for row in B:
        row *= row[0]
    return np.sum(B**2)


# Data-dependent alias of row in argmax.
@program(args=lambda rng: (v(1.0, 2.0, 0.5, 0.3), 0.4), wrt=(0, 1))
def argmax_index(x, t):
    x[np.array([1, 3, 2])] = x[int(np.argmax(x))]
    x[int(np.argmax(x))] = 0.5 * t
    return np.sum(np.sin(x))


# The element that a loop reads is the one before the array is written.
@program(args=lambda rng: (v(0.3, -0.5, 0.8), 0.4), wrt=(0, 1))
def element_read_before_the_write(y, t):
    for e in y:
        y += (y[::-1] * 0.4) ** 2
        t -= e
    return t**2


# A transpose reshaped to two axes is a copy.
@program(args=lambda rng: (A34(),))
def copy_by_reshape_of_transpose(A):
    for _ in range(2):
        A *= 0.5 + 0.3 * np.cos(A.T.reshape(3, 4) * 0.9)
    return np.sum(A * np.cos(A))


# A row of a scaled copy, written by a helper.
@program(args=lambda rng: (A34(),))
def helper_writes_a_row_of_a_copy(A):
    def bump(a, i, s):
        a[i] = 0.6 * a[i] + 0.3 * s

    A = (A[::-1]).T.reshape(3, 4) * 0.9
    bump(A[-1], 3, 0.7)
    return np.sum(A * np.cos(A))


# A list rebound by a loop that never runs.
@program(args=lambda rng: (v(0.3, -0.5, 0.8), 0))
def list_rebound_by_no_trip(x, n):
    q = [0.8 * x, x]
    for _ in range(n):
        q = [x * x, x[:]]
    return sum(np.sum(e**2) for e in q)


# An array filled through the list that holds it.
@program(args=lambda rng: (v(0.3, -0.5, 0.8), 1.1), wrt=(0, 1))
def fill_through_a_list(x, t):
    q = [np.tanh(x), x[::-1] * 1.0]
    q[-1].fill(t)
    return sum(np.sum(e**2) for e in q)


# A return inside two branches of which only the outer is taken.
@program(args=lambda rng: (v(0.3, -0.5, 0.8), 1.1), wrt=(0, 1))
def return_in_inner_branch(x, t):
    if x[0] < 1.0:
        if t < 0.45:
            return 0.2 - x
    return x * t


# The same with a constant.
@program(args=lambda rng: (v(0.3, -0.5, 0.8),))
def constant_fill_through_a_list(x):
    q = [np.tanh(x), x[::-1]]
    q[-1].fill(-0.8)
    return sum(np.sum(e**2) for e in q) + np.sum(x)


# A view that one branch binds; its base is written later.
@program(args=lambda rng: (v(0.3, -0.5, 0.8), 0.7), wrt=(0, 1))
def view_bound_in_one_branch(x, t):
    x = x * 1.0
    p = x[:2]
    if t > 5.0:
        pass
    else:
        w = p
    x[-2:] = np.exp(-t)
    return np.sum(np.sin(w))


# One cotangent for an array that is written and for one that is not.
@program(args=lambda rng: (v(0.5, 0.9, 0.7),), tags=("second",))
def sum_with_written(x):
    a = x * 2.0
    b = x * 3.0
    b[0] = 5.0 * x[1]
    c = a + b
    return np.sum(c * c * c)


@program(args=lambda rng: (v(0.5, 0.9, 0.7),))
def sum_with_written_in_loop(x):
    for _ in range(2):
        a = x * 2.0
        b = x * 3.0
        b[0] = 5.0 * x[1]
        x = (b + a) * x * 0.1
    return np.sum(np.sin(x) * x)
