"""Lists, dicts, objects and iterators: gradients against central differences, and what must be refused."""

import itertools
import operator
from collections import defaultdict, deque

import numpy as np
import pytest

import autodiff_sct as ad

X = np.array([0.7, -1.2, 0.4, 1.9])


class N:
    def __init__(self, a):
        self.a = a

    def step(self, v):
        self.a = self.a * v


def item_read_before_append(x):
    L = [x[0]]
    prev = L[-1]
    L.append(x[1] * prev)
    return prev * L[-1]


def alias_of_a_list(x):
    a = [v * v for v in x]
    b = a
    b[0] = x[1]
    a.append(b[0] * a[1])
    return sum(b)


def slice_is_a_copy(x):
    a = [v * v for v in x]
    b = a[:]
    b[0] = x[1]
    return sum(a) * sum(b)


def dict_with_a_default(x):
    t = {}
    for i, v in enumerate(x):
        t[i % 2] = t.get(i % 2, 0.0) + v * v
    return t[0] * t[1]


def key_added_in_a_loop(x):
    t = {"a": x[0]}
    for k in range(3):
        t["a"] = t["a"] * x[k]
        t["b"] = t["a"] + 1
    return t["b"]


def stack(x):
    st = []
    for v in x:
        st.append(v)
        if len(st) > 1:
            a = st.pop()
            b = st.pop()
            st.append(a * b + a)
    return st[0]


def queue(x):
    q = deque([x[0]])
    for k in range(5):
        v = q.popleft()
        q.append(v * x[k % 4])
        q.append(v + x[0])
    return sum(q)


def list_edited(x):
    L = [v * 2 for v in x]
    L.insert(2, x[0] * x[1])
    L.remove(L[0])
    L.reverse()
    del L[1]
    return sum(v * (k + 1) for k, v in enumerate(L))


def accumulated(x):
    acc = list(itertools.accumulate(x))
    p = list(itertools.accumulate(x, operator.mul))
    return acc[2] * p[3]


def lists_repeated_and_extended(x):
    L = [x[0], x[1]]
    M = L * 2
    M[0] = x[2]
    L += [x[3]]
    return sum(M) * sum(L)


def list_of_a_length_known_at_run_time(x):
    n = int(x.size)
    L = [x[0]] * n
    L[1] = x[1] * L[0]
    return sum(v * v for v in L)


def dicts_united(x):
    d = {"a": x[0], "b": x[1]}
    d |= {"c": x[2]}
    e = {**d, "a": x[3]}
    return sum(d.values()) * e["a"] * e["c"]


def numbers_by_default(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 3] += v * v
    return d[0] * d[1] + d[2] + d[7]


def groups(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v)
    tot = 0.0
    for k, vs in d.items():
        tot += sum(vs) ** 2
    return tot


def tuples_in_a_list(x):
    L = [(v, v * v) for v in x]
    L.append((x[0], x[1]))
    L[0] = (L[1][1], x[3])
    return sum(a * b for a, b in L)


def consumed_from_the_front(x):
    L = [v for v in x]
    tot = 0.0
    while L:
        v = L.pop(0)
        tot = tot * 0.5 + v * v
    return tot


def tuples_sorted_by_key(x):
    pts = sorted([(x[0], x[1]), (x[2], x[3])], key=lambda p: p[0], reverse=True)
    return pts[0][1] * pts[1][0] ** 2


def list_changed_by_a_function(x):
    L = [x[0]]

    def f(l):
        l.append(l[0] * x[1])
        return l

    M = f(L)
    M[0] = x[2]
    return L[0] * L[1]


def arrays_in_a_dict_written(x):
    t = {0: x * 1.0}
    for k in range(1, 3):
        t[k] = t[k - 1] * x
        t[k][0] = x[1]
    return np.sum(t[2])


def slices_assigned(x):
    L = [x[0], x[1], x[2]]
    L[1:] = [x[3]]
    L[:0] = [x[0] * x[1]]
    L.extend(v * 2 for v in x[:2])
    return sum(v * k for k, v in enumerate(L, start=1))


def nested_dicts(x):
    m = {"p": {"w": x * 1.0, "b": [x[0]]}}
    m["p"]["w"][1] = x[0] * 4
    m["p"]["b"].append(x[1])
    m["p"]["b"][0] *= 3
    return np.sum(m["p"]["w"]) * sum(m["p"]["b"])


def functions_made_in_a_comprehension(x):
    fs = [lambda v, k=k: v**k for k in range(1, 4)]
    return sum(f(x[0]) for f in fs) * fs[1](x[1])


def functions_made_in_a_loop(x):
    fs = []
    for k in range(3):

        def f(v, k=k):
            return v * x[k]

        fs.append(f)
    r = 1.0
    for f in fs:
        r = f(r)
    return r


def iterators_combined(x):
    s = 0.0
    for a, b in itertools.product(x, [x[0], x[1]]):
        s += a * b
    for a, b in itertools.combinations(x, 2):
        s += a * b * b
    for a in itertools.chain([x[0]], x, (x[2],)):
        s *= 1 + 0.1 * a
    return s


def keys_in_order(x):
    d = {}
    for i, v in enumerate(x):
        if i % 3 not in d:
            d[i % 3] = v
        else:
            d[i % 3] *= v
    t = 0.0
    for k in sorted(d):
        t += k * d[k]
    return t + sum(d.values())


def keys_in_another_order(x):
    d = {i: v for i, v in enumerate(x)}
    e = {3 - i: v for i, v in enumerate(x)}
    t = x[0] if d.keys() == e.keys() else x[1]
    for k in d.keys() ^ {1, 3, 5}:
        t = 0.5 * t + d.get(k, x[2])
    return t * (x[3] if d.keys().isdisjoint(e) else x[2])


def order_by_use(x):
    d = {i: v for i, v in enumerate(x)}
    if x[0] > 0.0:
        d[1] = d.pop(1)
    (_, last), t = d.popitem(), 0.0
    for k, v in enumerate(d.values()):
        t = t + k * v
    return t * last


def dicts_copied(x):
    d = {i: v for i, v in enumerate(x)}
    e = dict(d)
    e[0] = x[1] * 3
    d[1] = d[1] * e[0]
    return sum(d.values()) * sum(e.values())


def keys_deleted(x):
    d = {i: v for i, v in enumerate(x)}
    for i in range(2):
        del d[i]
    w = d.pop(3)
    return sum(d.values()) * w


def mapped_and_filtered(x):
    return sum(map(lambda a, b: a * b, x, x[1:])) + sum(filter(lambda v: v > 0, x)) + sum(v for v in reversed(list(x)))


def stack_of_tuples(x):
    st = [(x[0], 1)]
    tot = 0.0
    while st:
        v, dep = st.pop()
        tot += v * dep
        if dep < 4:
            st.append((v * x[1], dep + 1))
            st.append((v + x[2], dep + 1))
    return tot


def one_row_three_times(x):
    L = [[0.0] * 2] * 3
    L[0][0] = x[1]
    L[1][1] = x[2]
    return sum(L[2]) * L[0][0]


def elimination_on_lists(x):
    m = [[x[i] * x[j] for j in range(4)] for i in range(4)]
    for i in range(1, 4):
        f = m[i][0] / m[0][0] + 0.1
        for j in range(4):
            m[i][j] -= f * m[0][j]
    return m[1][1] + m[2][3] * m[3][2]


def items_of_an_array_that_is_written(x):
    h = []
    s = x * 1.0
    for k in range(3):
        s[k] *= x[3]
        h.append(s[k])
    return h[0] * h[2] + np.sum(s)


def items_exchanged(x):
    L = [1.0, 2.0]
    for v in x:
        L[0], L[1] = L[1] * v, L[0] + v
    return L[0] * L[1]


def list_in_a_tuple(x):
    t = (x * 1.0, [x[0]])
    t[0][1] = x[2] * 3
    t[1].append(x[1])
    return np.sum(t[0]) * sum(t[1])


def two_names_at_once(x):
    a = b = [x[0]]
    a.append(x[1])
    return sum(b) * a[0]


def one_list_for_two_parameters(x):
    def f(l, m):
        l.append(x[2])
        return sum(m)

    L = [x[0]]
    return f(L, L)


def shallow_copies_of_a_dict(x):
    d = {"l": [x[0]]}
    e = dict(d)
    g = d.copy()
    d["l"].append(x[1])
    return sum(e["l"]) * sum(g["l"])


def list_from_a_branch(x):
    c = [x[0]] if x[1] < 0 else [x[2]]
    c.append(x[3])
    return sum(c)


def tuples_from_a_branch(x):
    L = []
    for k in range(3):
        t = (x[k], x[k] * 2)
        if x[k] > 0:
            t = (x[3], x[0] * x[k])
        L.append(t)
    return sum(a * b for a, b in L)


def objects_that_change_each_other(x):
    objs = [N(x[k]) for k in range(3)]
    for o in objs:
        o.step(x[3])
    for i, o in enumerate(objs):
        o.step(objs[i - 1].a)
    return sum(o.a for o in objs)


def a_shallow_copy(x):
    a = [x * 1.0]
    b = a[:]
    b[0][0] = x[1] * 7
    return np.sum(a[0] ** 2)


def an_array_kept_under_its_name(x):
    w = x * 1.0
    L = [w]
    L.append(x * 2)
    w[0] = x[3]
    return np.sum(L[0] * L[1])


def one_buffer_many_times(x):
    L = []
    buf = np.zeros(4)
    for k in range(3):
        buf[k] = x[k] * 2
        L.append(buf)
    return np.sum(L[0] * L[2])


def views_of_a_matrix(x):
    h = []
    s = np.outer(x, x)
    for k in range(3):
        h.append(s[k])
    s[0, 0] = 7 * x[1]
    return np.sum(h[0])


def a_list_that_grows_under_its_loop(x):
    L = [x[0], x[1]]
    out = 0.0
    for v in L:
        if len(L) < 5:
            L.append(v * x[2])
        out += v
    return out


def an_item_in_use_while_its_list_changes(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    r = rows[0]
    r[0] = r[1] * 2
    rows[1] = [r[0], x[0]]
    rows[1][0] = rows[1][0] * 3
    return rows[0][0] * rows[1][0] + r[1]


def differences(function, x, step=1e-6):
    moves = step * np.eye(x.size)
    return np.array([(function(x + move) - function(x - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize(
    "function",
    [
        item_read_before_append,
        alias_of_a_list,
        slice_is_a_copy,
        dict_with_a_default,
        key_added_in_a_loop,
        stack,
        queue,
        list_edited,
        accumulated,
        lists_repeated_and_extended,
        list_of_a_length_known_at_run_time,
        dicts_united,
        numbers_by_default,
        groups,
        tuples_in_a_list,
        consumed_from_the_front,
        tuples_sorted_by_key,
        list_changed_by_a_function,
        arrays_in_a_dict_written,
        slices_assigned,
        nested_dicts,
        functions_made_in_a_comprehension,
        functions_made_in_a_loop,
        iterators_combined,
        keys_in_order,
        keys_in_another_order,
        order_by_use,
        dicts_copied,
        keys_deleted,
        mapped_and_filtered,
        stack_of_tuples,
        one_row_three_times,
        elimination_on_lists,
        items_of_an_array_that_is_written,
        items_exchanged,
        a_list_that_grows_under_its_loop,
        list_in_a_tuple,
        two_names_at_once,
        one_list_for_two_parameters,
        shallow_copies_of_a_dict,
        list_from_a_branch,
        tuples_from_a_branch,
        objects_that_change_each_other,
        a_shallow_copy,
        an_array_kept_under_its_name,
        one_buffer_many_times,
        views_of_a_matrix,
    ],
)
def test_gradient(function):
    value, gradient = ad.value_and_grad(function)(X.copy())
    np.testing.assert_allclose(value, function(X.copy()))
    np.testing.assert_allclose(gradient, differences(function, X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "function",
    [
        an_item_in_use_while_its_list_changes,
    ],
)
def test_refused(function):
    with pytest.raises(ad.AutodiffError) as caught:
        ad.grad(function)(X.copy())
    assert "test_containers.py" in str(caught.value)


def grows(arrays):
    arrays.append(arrays[0] * 2.0)
    arrays[1] = arrays[1] * arrays[0]
    return np.sum(arrays[1] * arrays[2]), arrays


def test_a_list_that_is_argument_and_result():
    arrays = [np.ones(2), np.full(2, 3.0)]
    (value, after), gradient = ad.value_and_grad(grows, has_aux=True)(arrays)
    assert value == 12.0 and len(arrays) == 2
    np.testing.assert_allclose(after, [[1, 1], [3, 3], [2, 2]])
    np.testing.assert_allclose(gradient, [[12, 12], [2, 2]])


def test_an_item_that_may_be_a_number_is_changed_in_place_if_it_is_an_array():
    def program(x):
        items = [x * 2.0, 0.5]
        for item in items:
            item *= x
        return np.sum(items[0])

    np.testing.assert_allclose(ad.grad(program)(X), 4.0 * X)


def test_a_gradient_through_a_vectorized_function_has_one():
    def program(x):
        return np.sum(np.vectorize(lambda t: t**3)(x))

    gradient = ad.grad(program)
    np.testing.assert_allclose(gradient(X), 3 * X**2)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(gradient(x)))(X), 6 * X)
