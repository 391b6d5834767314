"""Objects with ``__lt__``: sorted, the least and the greatest of them, and dataclasses that compare their fields."""

import heapq
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


@dataclass
class Item:
    w: float
    v: object

    def __lt__(self, other):
        return self.w < other.w


@dataclass
class Both:
    a: object
    b: object

    def __iter__(self):
        yield self.a
        yield self.b

    def __add__(self, other):
        return Both(self.a + other.a, self.b * other.b)

    def __radd__(self, other):
        return self

    def __lt__(self, other):
        return self.b < other.b

    def __gt__(self, other):
        return self.b > other.b


@dataclass(order=True)
class Ordered:
    w: float
    v: float


@case(V, -V)
def sorted_in_place(x):
    items = [Item(v, v * x) for v in x]
    items.sort()
    return sum(i.w * (k + 1) * np.sum(i.v) for k, i in enumerate(items))


@case(V, -V)
def equal_ones_stay_in_order(x):
    items = []
    for k, v in enumerate(x):
        items.append(Item(v * v if k != 1 else x[0] ** 2, v * x))
    items.sort(reverse=True)
    forwards = sorted(items)
    return sum((k + 1) * np.sum(i.v + j.v * x[0]) for k, (i, j) in enumerate(zip(items, forwards)))


@case(V, -V)
def sorted_display(x):
    items = sorted([Item(x[0], x), Item(x[1], x * 2), Item(x[0], x * 3)], reverse=True)
    return np.sum(items[1].v) * items[0].w


@case(V, -V)
def sorted_by_a_key(x):
    rows = sorted([(v, Item(-v, v * v)) for v in x], key=lambda row: row[1])
    return rows[0][0] * rows[1][1].v


@case(V, -V)
def least_and_greatest(x):
    a, b = Item(x[0], x), Item(x[1], x * 2)
    least = min(a, b, Item(x[2], x * x))
    return np.sum(min(a, b).v * max(a, b).v) + np.sum(least.v) * least.w


@case(V, -V)
def least_of_a_list(x):
    items = []
    for v in x:
        items.append(Item(v, v * x))
    return np.sum(min(items).v) * max(items).w


@case(V, -V)
def greatest_of_two_that_can_be_gone_over(x):
    a, b = Both(x[0], x[1]), Both(x[1] * 2, x[0])
    total = sum([a, b], Both(x[2], x[3]))
    return max(a, b).a * min(a, b).b + total.a * total.b


@case(V, -V)
def on_a_heap(x):
    heap = []
    for v in x:
        heapq.heappush(heap, Item(v, v * x))
    total = 0.0
    while heap:
        item = heapq.heappop(heap)
        total = total * 0.5 + item.w * np.sum(item.v)
    return total


@case(V, -V)
def by_the_fields_of_a_dataclass(x):
    items = sorted([Ordered(v, v * x[0]) for v in x])
    a, b = Ordered(x[0], x[1]), Ordered(x[1], x[2])
    return items[0].v * items[1].w + (a if a < b else b).v * max(items).w + (x[0] if a >= a else x[1])


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def test_the_least_of_none():
    def f(x):
        items = []
        for v in x:
            if v > 100:
                items.append(Ordered(v, v))
        return min(items).v

    with pytest.raises(ValueError, match="empty"):
        ad.grad(f)(V)
