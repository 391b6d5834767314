"""Lists of a few known integers: known one by one where nothing needs them in a variable, and right in any case."""

from __future__ import annotations

import bisect
import collections
import copy
import functools
import heapq
import json
import operator
from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
X = np.array([0.7, 1.2, 0.4])
LOG: list[Any] = []


class Box:
    def __init__(self) -> None:
        self.places = [0, 1, 2]

    def bump(self) -> None:
        self.places[0] += 1
        self.places.append(3)


def changed(places: Any) -> None:
    places.append(2)
    places[0] = 1


@case(X)
def sorted_in_place(x: Any) -> Any:
    places = [2, 0, 1]
    places.sort()
    return x[places[0]] ** 2 + 3 * x[places[2]]


@case(X)
def by_functions_of_the_library(x: Any) -> Any:
    heap, line = [2, 0, 1], [0, 2]
    heapq.heapify(heap)
    bisect.insort(line, 1)
    setter = functools.partial(operator.setitem, line, 0)
    setter(2)
    return x[heap[0]] ** 2 + 3 * x[line[1]] + x[line[0]] * x[json.loads(json.dumps(line))[2]]


@case(X)
def by_a_helper_and_a_closure(x: Any) -> Any:
    places = [2, 0, 1]
    changed(places)

    def inner() -> None:
        places[1] = 2
        places.append(1)

    inner()
    return x[places[0]] ** 2 + 3 * x[places[3]] + x[places[1]] * x[places[4]]


@case(X)
def by_slices_and_methods(x: Any) -> Any:
    places = [2, 0, 1]
    del places[0]
    places[:] = [1, 1, 2]
    places += [1]
    places.extend([0])
    places.insert(0, 1)
    places.remove(2)
    places.reverse()
    return x[places[0]] ** 2 + 3 * x[places[3]] * len(places) + x[places.pop()]


@case(X)
def names_and_copies(x: Any) -> Any:
    places = [2, 0, 1]
    same, other, part = places, places.copy(), places[:]
    third, fourth = copy.copy(places), copy.deepcopy(places)
    same[0], other[0], part[1], third[2], fourth[0] = 1, 0, 2, 0, 2
    return x[places[0]] ** 2 + x[other[0]] + x[part[1]] * 2 + x[third[2]] * 3 + x[fourth[0]] * 5


@case(X)
def one_of_two(x: Any) -> Any:
    one, two = [0, 1], [1, 2]
    chosen = one if x[0] > 0.1 else two
    chosen[0] = 2
    if x[1] > 0.1:
        two[0] = 0
    return x[one[0]] ** 2 + x[two[0]] * 3


@case(X)
def counters(x: Any) -> Any:
    found, sums = [0, 0], [0] * 3
    for k in range(len(x)):
        found[int(x[k] > 0.5)] += 1
        sums[k % 3] += k
    return np.sum(x**2) * found[0] + np.sum(x) * found[1] + x[1] * sums[1] + x[2] * sums[2]


@case(X)
def kept_outside(x: Any) -> Any:
    LOG.clear()
    places = [0, 1]
    LOG.append(places)
    places[0] = 2
    box = Box()
    box.bump()
    return x[LOG[0][0]] ** 2 + x[box.places[0]] * len(box.places)


@case(X)
def in_containers(x: Any) -> Any:
    table = {"a": [0, 1], "b": [2]}
    table["a"].append(2)
    rows = [[0, 1], [2, 0]]
    rows[0][0] = 2
    queue = collections.deque([0, 1])
    queue.append(2)
    queue.rotate(1)
    return x[table["a"][2]] ** 2 + x[queue[0]] * sum(x[k] for row in rows for k in row) + x[table["b"][0]]


@case(X)
def growing(x: Any) -> Any:
    places = [0, 1]
    while len(places) < 5:
        places.append((places[-1] + places[-2]) % 3)
    out = x[places[4]] ** 2
    for k in places:
        if len(places) < 7:
            places.append(k)
        out = out + x[k]
    return out


@case(X)
def numbers_in_their_place(x: Any) -> Any:
    values = [0, 0, 0]
    for k in range(3):
        values[k] = x[k] * 2
    pair = [0, 1]
    pair[0] = x[2]
    pair[1] = pair[0] * 2
    return values[0] ** 2 + values[1] * values[2] + sum(values) + pair[0] * pair[1]


@case(X)
def asked_for(x: Any) -> Any:
    places = [0, 1]
    odd = (places == [0, 1]) * x[0] + (1 in places) * x[1] + max(places) * x[2] + places.index(1) * x[1]
    first, *rest = [0, 1, 2]
    rest[0] = 0
    twice = places * 2 + [2]
    return odd + sum(x[k] * k for k in places) + x[first] * x[rest[0]] + x[twice[4]] * twice[3]


@case(X)
def read_by_an_iterator(x: Any) -> Any:
    places = [0, 1]
    later = (k for k in places)
    places[0] = 2
    return sum(x[k] * 2 for k in later) + x[places[0]]


@case(X)
def in_recursion(x: Any) -> Any:
    def product(places: Any, depth: int) -> Any:
        if depth == 0:
            return x[places[0]]
        places[0] = (places[0] + 1) % 3
        return x[places[0]] * product(places, depth - 1)

    return product([0, 1], 3)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)
