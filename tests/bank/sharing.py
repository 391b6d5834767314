"""Arrays that are written under names that the run decides: buffers that swap, views of branches, lists that share."""

import copy
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bank.registry import program

SHARED = {"inplace", "alias"}


def vector(rng):
    return (rng.normal(size=5),)


def matrix(rng):
    return (rng.normal(size=(3, 4)),)


@program(args=vector, tags=SHARED)
def view_or_whole(x):
    a = x.copy()
    if x[0] > 0:
        v = a[1:]
    else:
        v = a
    v *= 2
    return np.sum(a * a) + np.sum(v)


@program(args=vector, tags={"in_argument", "alias"})
def view_in_one_branch_returned(x):
    v = x
    if x[1] < 5.0:
        v = x[1:][::-1]
    v[0] *= v[1]
    return v


@program(args=vector, tags={"in_argument", "alias"})
def early_return_of_a_view(x):
    for i in range(4):
        if x[i] > 0.4:
            x[0] *= 2
            return x[1:], x * 2.0
    x[2] *= x[3]
    return x[:2], x


@program(args=vector, tags=SHARED)
def view_in_try(x):
    x = x * 1.0
    try:
        v = x[1:]
        if np.sum(x) < 100.0:
            raise ValueError
    except ValueError:
        v = x[::-1]
    v *= 3 * v[1]
    return np.sum(x * x)


@program(args=vector, tags=SHARED)
def view_that_moves(x):
    a = x.copy()
    v = a[::2]
    for i in range(4):
        v *= 1.5 * x[1]
        v = a[:2] if i % 2 else a[1:]
    return np.sum(a**2) + v[0]


@program(args=vector, tags=SHARED)
def double_buffer(u):
    old = u.copy()
    new = np.zeros_like(u)
    for _ in range(4):
        new[1:-1] = old[1:-1] + 0.1 * (old[2:] - 2 * old[1:-1] + old[:-2]) * old[1:-1]
        old, new = new, old
    return np.sum(old**2)


@program(args=vector, tags=SHARED)
def double_buffer_with_a_third_name(u):
    old = u.copy()
    new = u.copy()
    first = old
    for _ in range(3):
        new[1:-1] = 0.3 * (old[2:] * old[:-2] + old[1:-1])
        old, new = new, old
    return np.sum(old**2) + first[1]


@program(args=lambda rng: (rng.normal(size=7), rng.normal(size=7)), wrt=(0, 1), tags=SHARED)
def leapfrog_of_three_buffers(now, before):
    u, v, w = now.copy(), before.copy(), np.empty_like(now)
    for _ in range(4):
        w[1:-1] = 2 * u[1:-1] - v[1:-1] + 0.2 * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
        w[0] = w[-1] = 0.0
        v, u, w = u, w, v
    return np.sum(u * u) + np.sum(v)


@program(args=vector, tags=SHARED)
def previous_is_kept(x):
    a = x * 2
    b = x * 3
    for _ in range(3):
        prev = a
        a = a.copy()
        a[0] = prev[1] * b[0]
        prev[2] *= 0.5
    return np.sum(a) + np.sum(prev)


@program(args=vector, tags=SHARED)
def replaced_while_another_name_holds_it(x):
    a = x * 2
    p = a
    for _ in range(3):
        a[1:] *= a[:-1]
        a = a * 0.9
    return np.sum(p * a)


@program(args=vector, tags=SHARED)
def replaced_while_a_list_holds_it(x):
    kept = [0.2 - x, x * 1.0]
    y = kept[1]
    for _ in range(2):
        y[:2] *= 0.5 * x[3]
        y = y * 0.9
    return np.sum(np.sin(y)) + sum(np.sum(e**2) for e in kept)


@program(args=vector, tags=SHARED)
def best_so_far(x):
    best = x.copy()
    for i in range(3):
        y = x * (i + 1)
        y[0] = 2.0 * x[1]
        if y[1] < best[1]:
            best = y
        best[2] *= 0.5
    return np.sum(best)


@program(args=vector, tags=SHARED)
def ring_of_buffers(x):
    pool = [x * k for k in range(1, 4)]
    i, j = 0, 1
    for _ in range(5):
        source, target = pool[i], pool[j]
        target[1:] = 0.5 * source[:-1] * source[1:]
        i, j = j, (j + 1) % 3
    return np.sum(pool[0] * pool[1] * pool[2])


@program(args=vector, tags=SHARED)
def one_array_three_times_in_a_list(x):
    a = x * 2
    rows = [a] * 3
    rows[0][1] *= 3
    rows[2][0] += a[1]
    return np.sum(a * rows[1])


@program(args=matrix, tags={"in_argument", "alias"})
def rows_in_a_list(a):
    rows = [a[i] for i in range(len(a))]
    for k in range(2):
        rows[k] += a[k + 1] * rows[0]
    return np.sum(a * a)


@program(args=matrix, tags=SHARED)
def rows_by_list(a):
    b = a * 1.0
    for row in list(b):
        row *= row[0]
    return np.sum(b)


@program(args=matrix, tags=SHARED)
def rows_by_star(a):
    b = a * 1.0
    first, *rest = b
    for row in rest:
        row *= first
    return np.sum(b)


@program(args=matrix, tags=SHARED)
def rows_by_zip(a):
    b = a * 1.0
    for row, other in zip(b[1:], a):
        row *= other
        row[0] = 1.0
    return np.sum(b * b)


@program(args=vector, tags=SHARED)
def history_written_later(x):
    history = [x.copy()]
    for _ in range(3):
        y = history[-1].copy()
        y[0] *= y[1]
        history.append(y)
        history[0][2] += y[0]
    return np.sum(history[0]) + np.sum(history[-1]) + history[1][0]


@program(args=lambda rng: (rng.normal(size=4), 0.7), wrt=(0, 1), tags=SHARED)
def pairs_of_array_and_number(x, t):
    kept = [(x * 1.0, t), (x * 2.0, t * t)]
    a, s = kept[0]
    a *= s
    b = kept[1][0]
    b[1] = a[0]
    for u, v in kept:
        u *= v
    return np.sum(a) + np.sum(b) * kept[0][1]


@program(args=vector, tags=SHARED)
def rotated_list(x):
    q = [x * 1.0 for _ in range(3)]
    q.append(q.pop(0))
    q[0] *= 2
    q[2][1] = 7.0 * q[1][0]
    c = q[1:]
    c[0][0] = c[1][1]
    return np.sum(np.array(q) ** 2)


@program(args=vector, tags=SHARED)
def dict_with_one_array_twice(x):
    d = {"a": x * 1.0, "b": x * 2.0}
    for k in ["a", "b"]:
        v = d[k]
        v *= 2
        d[k] = v
    d["c"] = d["a"]
    d["c"][0] = d["b"][1]
    return np.sum(d["a"] ** 2) + np.sum(d["b"])


@program(args=vector, tags=SHARED)
def overlapping_views_in_a_list(x):
    y = x * 1.0
    views = []
    for i in range(3):
        views.append(y[i : i + 2])
    for v in views:
        v *= v[::-1]
    return np.sum(y) + np.sum(np.concatenate(views))


@program(args=vector, tags=SHARED)
def stack_with_one_array_twice(x):
    stack = [x.copy()]
    while len(stack) < 4:
        top = stack[-1]
        top[0] = top[0] * top[1]
        stack.append(top)
        if len(stack) == 3:
            stack.append(top * 2)
    a = stack.pop()
    b = stack.pop()
    a *= b
    return np.sum(a) + np.sum(stack[0])


@program(args=lambda rng: (rng.normal(size=5), 0.4), wrt=(0, 1), tags={"loop"})
def name_of_a_loop_test(x, t):
    t -= 0.7
    n = 0
    while n < 1 and -0.9 < t < x[-1] + 100.0:
        n += 1
        t = x[-1]
    return t**2 + np.sum(np.sin(x))


def twice(f, a):
    return f(f(a))


@program(args=vector)
def lambda_made_in_a_loop(x):
    for k in range(3):
        q = twice(lambda e, k=k: 0.7 * np.cos(e + k), x)
    return np.sum(q * x)


@dataclass
class Holder:
    a: Any
    more: Any = None


@program(args=vector, tags=SHARED)
def copy_of_an_object_shares(x):
    first = Holder(x * 1.0, [x * 2.0])
    second = copy.copy(first)
    second.a *= 2
    second.more[0][1] = 7 * x[0]
    second.more = None
    return np.sum(first.a * first.more[0])


@program(args=vector, tags=SHARED)
def deepcopy_of_an_object_keeps_its_aliases(x):
    first = Holder(x * 1.0)
    first.more = first.a
    second = copy.deepcopy(first)
    second.a *= 2 * first.a[1]
    return np.sum(second.more * first.a)


@program(args=vector, tags=SHARED)
def deepcopy_of_lists(x):
    rows = [[x * 1.0], [x * 2.0]]
    deep = copy.deepcopy(rows)
    deep[0][0] *= 3
    shallow = copy.copy(rows)
    shallow[1][0] *= 2
    pairs = [(x * 1.0, 2.0)]
    others = copy.deepcopy(pairs)
    others[0][0][1] = 3 * x[0]
    return np.sum(rows[0][0] * deep[0][0] * rows[1][0]) + np.sum(pairs[0][0] * others[0][0])


def doubled_from(a, count):
    if a[0] > 0.9:
        return a
    for m in range(1, count):
        following = a[:]
        following[m] = following[m - 1] * 2 + a[0]
        a = following
    return a


@program(args=vector, tags=SHARED)
def returned_early_or_replaced(x):
    total = 0.0
    for start in (x[0], 1.0 + x[1]):
        found = doubled_from([start, *x], 4)
        found[1] *= x[2]
        total = total + sum([v * v for v in found])
    return total


@program(args=vector, tags=SHARED)
def copy_of_a_number_or_an_array(x):
    length = x * 1.0
    if x[0] > 5.0:
        length = 0.5
    for _ in range(3):
        before = copy.copy(length)
        deep = copy.deepcopy(before)
        length = np.sin(length) + x
        try:
            before[0] = 2 * x[1]
        except TypeError:
            before = 2 * x[1]
        length = length + before * deep
    return np.sum(length)


@program(args=vector, tags=SHARED)
def deepcopy_of_a_dict(x):
    table = {"a": x * 1.0}
    deep, shallow = copy.deepcopy(table), copy.copy(table)
    deep["a"][0] = 4 * x[1]
    shallow["a"][1] = 3.0
    return np.sum(table["a"] * deep["a"] * shallow["a"])


@program(args=vector, tags=SHARED)
def list_in_two_lists(x):
    inner = [x * 1.0]
    outer = []
    outer.append(inner)
    others = [[x * 3.0]]
    others[0] = inner
    outer[0][0] *= 2
    return np.sum(inner[0] * others[0][0])


@program(args=vector, tags=SHARED)
def copies_of_nested_lists(x):
    rows = [[x * 1.0], [x * 2.0]]
    part = rows[:]
    part[0][0] *= 3
    both = rows + rows
    both[3][0] *= 2
    return np.sum(rows[0][0] * part[1][0] * both[1][0])


@program(args=vector, tags=SHARED)
def one_list_under_two_keys(x):
    inner = [x * 1.0]
    table = {}
    for k in range(2):
        table[k] = inner
    table[0][0] *= 2
    table[1][0][1] = 3 * x[0]
    return np.sum(inner[0] * table[0][0])


@program(args=matrix, tags=SHARED)
def views_of_the_items_of_a_list(A):
    rows = [A[i] * 1.0 for i in range(A.shape[0])]
    views = [r[:2] for r in rows]
    for i, v in enumerate(views):
        v[0] = 0.1 * i + v[-1]
    return sum(np.sum(r**2) for r in rows)


@program(args=matrix, tags=SHARED)
def views_of_items_in_a_dict(A):
    rows = [A[i] * 1.0 for i in range(A.shape[0])]
    views = {}
    for i, r in enumerate(rows):
        views[i] = r.reshape(1, -1)[0, 1:]
    for i in range(len(rows)):
        views[i] *= rows[i][0]
    return sum(np.sum(r**2) for r in rows)


@program(args=matrix, tags=SHARED)
def first_of_a_queue_changes_in_each_step(A):
    q = []
    s = 0.0
    for i in range(A.shape[0]):
        q.append(A[i] * 1.0)
        q[0] *= 0.5
        s += np.sum(q[0] ** 2)
    return s


@program(args=matrix, tags=SHARED)
def window_of_a_queue_of_fresh_arrays(A):
    q = deque(maxlen=2)
    s = 0.0
    for row in A:
        q.append(row * 1.0)
        q[0][0] *= 0.5
        s += sum(np.sum(v**2) for v in q)
    return s
