"""Objects and dicts that a loop makes anew, that change places in it, or that branches choose from."""

import numpy as np
import pytest

from tests.compiler.checked import check_gradient, check_tangent, names, registrar

CASES = []
case = registrar(CASES)
TRIPS = [(0.7, n) for n in (0, 1, 2, 3)]


class Box:
    def __init__(self, v, w=1.0):
        self.v, self.w = v, w


@case(*TRIPS)
def places_changed(x, n):
    a, b = Box(x), Box(x * 2)
    for _ in range(n):
        a, b = b, a
    return a.v * 3 + b.v


@case(*TRIPS)
def places_handed_on(x, n):
    a, b, c = Box(x * 3), Box(x * 2), Box(x)
    for _ in range(n):
        a, b, c = b, c, Box(a.v + b.v * x)
    return a.v * 3 + b.v + c.v * 2


@case(*TRIPS)
def handed_on_the_other_way(x, n):
    c, b, a = Box(x), Box(x * 2), Box(x * 3)
    for i in range(n):
        a, b, c = b, c, Box(a.v + b.v * x)
        if i == 1:
            c.v = c.v * x
    return a.v * 3 + b.v + c.v * 2


@case(*TRIPS)
def old_and_new(x, n):
    old, new = {"v": x}, {"v": x * 2}
    for _ in range(n):
        following = {"v": new["v"] * 2 - old["v"] * 0.5}
        old, new = new, following
        new["v"] += 1
    return old["v"] * 3 + new["v"]


@case(*TRIPS)
def boxes_in_boxes(x, n):
    a, b = Box(Box(x), x), Box(Box(x * 2), 1.0)
    for i in range(n):
        a, b = b, Box(Box(a.v.v * 2), b.w)
        if i == 1:
            a, b = b, a
    return a.v.v * 3 + b.v.v * b.w + a.w


@case(*TRIPS)
def in_a_tuple(x, n):
    state = (Box(x), Box(x * 2), 1.0)
    for _ in range(n):
        state = (state[1], Box(state[0].v * state[2]), state[2] + x)
    return state[0].v * 3 + state[1].v * state[2]


@case(*TRIPS)
def places_of_items_changed(x, n):
    table = {"a": {"v": x}, "b": {"v": x * 2}}
    for _ in range(n):
        table["a"], table["b"] = table["b"], {"v": table["a"]["v"] * x}
    return table["a"]["v"] * 3 + table["b"]["v"]


@case(*TRIPS)
def gradients_in_a_dict(x, n):
    params = {"w": x, "b": x * x}
    moments = {name: 0.0 for name in params}
    for _ in range(n):
        gradients = {name: 2 * value for name, value in params.items()}
        gradients["b"] = gradients["b"] + gradients["w"]
        for name in params:
            moments[name] = moments[name] * 0.9 + gradients[name]
            params[name] = params[name] - 0.1 * moments[name]
    return params["w"] * params["b"]


@case((np.array([1.0, 2.0]), 3), (np.array([1.0, 2.0]), 0))
def params_in_a_new_dict(x, n):
    params = {"w": x, "b": np.sum(x)}
    for _ in range(n):
        params = {name: value - 0.1 * value * value for name, value in params.items()}
    return np.sum(params["w"]) * params["b"]


@case((0.7, True, False), (0.7, False, True), (0.7, True, True), (0.7, False, False))
def chosen_twice(x, first, second):
    a, b = Box(x), Box(x * 2)
    one = a if first else b
    other = a if second else b
    return one.v * 3 + other.v


@case((0.7, True, False), (0.7, False, True), (0.7, True, True), (0.7, False, False))
def chosen_in_pairs(x, first, second):
    a, b = Box(x), Box(x * 2)
    one, two = (a, b) if first else (b, a)
    three, four = (a, b) if second else (b, a)
    return one.v * 3 + two.v + three.v * 5 + four.v * 7


@case(*TRIPS)
def two_loops_begin_with_one_object(x, n):
    first = Box(x)
    box = first
    for _ in range(n):
        box = Box(box.v - 0.1 * box.v**2)
    kept, box = box, first
    for _ in range(n):
        box = Box(box.v * 0.5)
    return kept.v**2 * box.v + first.v


@case(*TRIPS)
def inner_loop_begins_with_one_object(x, n):
    first, total = Box(x), 0.0
    for _ in range(n):
        box = first
        for _ in range(3):
            box = Box(box.v - 0.1 * box.v**2)
        total += box.v**2
    return total + x


@case(*TRIPS)
def inner_loop_goes_on_from_time_to_time(x, n):
    kept, total = Box(x), 0.0
    for k in range(n):
        box = kept
        for _ in range(4):
            box = Box(box.v - 0.1 * box.v**2)
        total += box.v * kept.v
        if k % 2 == 0:
            kept = box
    return total + x


@case(*TRIPS)
def dicts_begin_anew(x, n):
    total = 0.0
    for k in range(n):
        state = {"x": x, "k": k}
        while state["x"] > 0.2:
            state = {"x": 0.7 * state["x"], "k": state["k"] + 1}
        total += state["x"] * state["k"]
    return total + x


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_loop(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
