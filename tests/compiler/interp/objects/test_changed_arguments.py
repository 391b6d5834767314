"""Lists, dicts and objects that the program changes: the caller's stay as they are, and none may be in two places."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_sct as ad


def item_of_an_inner_list(m):
    m[0][0] *= m[1][1]
    m[1] = [m[0][1]] + m[1]
    return sum(sum(r) for r in m)


def first_of_each(m):
    for r in m:
        r[0] = r[1] * r[1]
    return sum(np.sum(r) for r in m)


def moved_between_lists(m):
    m[0].append(m[1].pop() * 2)
    return sum(q * q for r in m for q in r)


def array_in_an_inner_list(m):
    m[0][0][0] = m[1][0][1] ** 2
    return sum(np.sum(q) for r in m for q in r)


def array_in_an_inner_tuple(m):
    for k in range(len(m)):
        m[k][1][:] = m[k][1] * m[k][0][0]
    return sum(np.sum(r[1]) for r in m)


def three_lists_deep(m):
    m[1][0][0] = m[0][0][1] * 3
    return sum(sum(sum(q) for q in r) for r in m)


def inner_dict_of_lists(d):
    for k in range(2):
        d["w"][k][0] = d["b"][k] ** 2
    return sum(sum(r) for r in d["w"])


def pair(*items):
    return np.array(items)


CHANGING = [
    (item_of_an_inner_list, [[1.0, 2.0], [3.0, 4.0]], [[4.0, 2.0], [1.0, 2.0]]),
    (first_of_each, [[1.0, 2.0], [3.0, 4.0]], [[0.0, 5.0], [0.0, 9.0]]),
    (moved_between_lists, [[1.0, 2.0], [3.0]], [[2.0, 4.0], [24.0]]),
    (array_in_an_inner_list, [[pair(1.0, 2.0)], [pair(3.0, 4.0)]], [[pair(0.0, 1.0)], [pair(1.0, 9.0)]]),
    (
        array_in_an_inner_tuple,
        [(pair(1.0, 2.0), pair(2.0, 3.0)), (pair(3.0, 2.0), pair(2.0, 4.0))],
        [(pair(5.0, 0.0), pair(1.0, 1.0)), (pair(6.0, 0.0), pair(3.0, 3.0))],
    ),
    (three_lists_deep, [[[1.0, 2.0], [3.0]], [[3.0]]], [[[1.0, 4.0], [1.0]], [[0.0]]]),
    (inner_dict_of_lists, {"w": [[1.0, 2.0], [3.0]], "b": [4.0, 5.0]}, {"w": [[0.0, 1.0], [0.0]], "b": [8.0, 10.0]}),
]


@pytest.mark.parametrize(("fn", "given", "expected"), CHANGING, ids=lambda v: getattr(v, "__name__", ""))
def test_the_callers_stay_as_they_are(fn, given, expected):
    value = fn(copy.deepcopy(given))
    derivatives = [
        ad.grad(fn),
        lambda m: ad.value_and_grad(fn)(m)[1],
        lambda m: ad.vjp(fn, m)[1](1.0)[0],
    ]
    for derivative in derivatives:
        m = copy.deepcopy(given)
        assert repr(derivative(m)) == repr(expected) and repr(m) == repr(given)
    m, tangents = copy.deepcopy(given), copy.deepcopy(given)
    assert ad.jvp(fn, (m,), (tangents,))[0] == value
    assert repr(m) == repr(given) and repr(tangents) == repr(given)


@dataclass
class Body:
    mass: float
    path: list


def item_of_one_list(a, b):
    a[0] = 5.0
    return sum(a) + 2 * sum(b)


def item_of_one_dict(a, b):
    a["x"] = 5.0
    return a["x"] + 2 * b["x"]


def field_of_one_object(a, b):
    a.mass = 5.0
    return a.mass + 2 * b.mass


def end_of_one_path(a, b):
    a.path.append(a.mass)
    return sum(a.path) + 2 * sum(b.path)


def item_of_a_row(m):
    m[0][0] = 5.0
    return sum(sum(r) * (k + 1) for k, r in enumerate(m))


def array_of_one_dict(d):
    d["a"]["w"][0] = 5.0
    return np.sum(d["a"]["w"]) + np.sum(d["b"]["w"])


ROW, BODY, WEIGHTS = [1.0, 2.0], Body(2.0, [1.0]), {"w": pair(1.0, 2.0)}
TWICE = [
    (item_of_one_list, (ROW, ROW)),
    (item_of_one_dict, ({"x": 2.0},) * 2),
    (field_of_one_object, (BODY, BODY)),
    (end_of_one_path, (BODY, Body(3.0, BODY.path))),
    (item_of_a_row, ([ROW, ROW],)),
    (array_of_one_dict, ({"a": WEIGHTS, "b": WEIGHTS},)),
]


@pytest.mark.parametrize(("fn", "args"), TWICE, ids=[fn.__name__ for fn, _ in TWICE])
def test_what_is_changed_may_not_be_in_two_places(fn, args):
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda *a: ad.vjp(fn, *a), lambda *a: ad.jvp(fn, a, a)):
        with pytest.raises(ad.AutodiffError, match="are one object, and it is changed"):
            derivative(*args)
    if len(args) > 1:
        apart = tuple(map(copy.deepcopy, args))
        assert ad.value_and_grad(fn)(*apart)[0] == fn(*copy.deepcopy(apart))


def test_what_is_only_read_may_be_in_two_places():
    assert ad.grad(lambda a, b: a.mass * b.mass * sum(b.path), (0, 1))(BODY, BODY)[0].mass == 2.0


def test_a_field_may_be_changed_beside_a_list_that_is_in_two_places():
    assert ad.grad(field_of_one_object, (0, 1))(BODY, Body(2.0, BODY.path))[1].mass == 2.0


def inserted_beside(arrays):
    arrays[0] += arrays[1]
    arrays.insert(0, arrays[1] * 2)
    return np.sum(arrays[1] * arrays[0] + arrays[2])


def sorted_beside(arrays):
    arrays[0] *= arrays[1]
    arrays.sort(key=lambda a: -a[0])
    arrays[0] *= 2
    return np.sum(arrays[0] + arrays[1] * arrays[2])


def deleted_beside(arrays):
    arrays[1] *= arrays[0]
    del arrays[0]
    return np.sum(arrays[0] * arrays[1])


def swapped_in_a_row(m):
    m[0][0] *= m[1][0]
    m[0][0], m[0][1] = m[0][1], m[0][0]
    return np.sum(m[0][0] * m[0][1] * m[1][0])


def deleted_in_a_row(m):
    m[0][1] *= m[1][0]
    del m[0][0]
    return np.sum(m[0][0] + m[1][1])


def moved_to_the_end_of_each_row(m):
    for r in m:
        a = r.pop(0)
        a *= r[0]
        r.append(a)
    return sum(np.sum(r[0] * r[1]) for r in m)


X, Y = pair(0.4, 1.3), pair(-0.7, 0.9)
BESIDE = [
    (inserted_beside, lambda x, y: [x * 1, y * 1, x * y]),
    (sorted_beside, lambda x, y: [x * 1, y * 1, x * 3]),
    (deleted_beside, lambda x, y: [x * 1, y * 1, x * y]),
    (swapped_in_a_row, lambda x, y: [[x * 1, y * 1], [x * y, x * 2]]),
    (deleted_in_a_row, lambda x, y: [[x * 1, y * 1], [x * y, x * 2]]),
    (moved_to_the_end_of_each_row, lambda x, y: [[x * 1, y * 1], [x * y, x * 2]]),
]


@pytest.mark.parametrize(("fn", "given"), BESIDE, ids=[fn.__name__ for fn, _ in BESIDE])
def test_gradients_are_where_the_arrays_were(fn, given):
    gradient, step = ad.grad(fn)(given(X, Y)), 1e-6
    for place, array in places(given(X, Y)):
        for k in range(2):
            ends = []
            for sign in (1, -1):
                moved = given(X, Y)
                at(moved, place)[k] = array[k] + sign * step
                ends.append(fn(moved))
            assert np.isclose(at(gradient, place)[k], (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-8)


def places(value, path=()):
    """The arrays in lists with their places."""
    if isinstance(value, np.ndarray):
        return [(path, value)]
    return [found for k, item in enumerate(value) for found in places(item, (*path, k))]


def at(value, path):
    for k in path:
        value = value[k]
    return value


class Model:
    def __init__(self):
        self.row, self.bias = [1.0, 2.0], 3.0


MODEL, TABLE = Model(), {"a": 1.0}


def item_seen_outside(x, row):
    row[0] = 5.0
    return x[0] * MODEL.row[0]


def field_seen_outside(x, model):
    model.bias = 5.0
    return x[0] * MODEL.bias


def changed_outside(x, table):
    TABLE["a"] = 5.0
    return x[0] * table["a"]


@pytest.mark.parametrize(
    ("fn", "shared", "other"),
    [
        (item_seen_outside, lambda: MODEL.row, lambda: [1.0, 2.0]),
        (field_seen_outside, lambda: MODEL, Model),
        (changed_outside, lambda: TABLE, lambda: {"a": 2.0}),
    ],
)
def test_nor_outside_as_well(fn, shared, other):
    x = pair(0.4, 1.3)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn)):
        with pytest.raises(ad.AutodiffError, match="are one object, and it is changed"):
            derivative(x, shared())
        derivative(x, other())
    assert (MODEL.row, MODEL.bias) == ([1.0, 2.0], 3.0)
