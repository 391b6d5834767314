"""Python's standard library: caches, heaps, groups, objects of `operator`."""

import functools
import heapq
import itertools
import math
import operator

import numpy as np

from tests.bank.registry import program

weights_of = operator.itemgetter("weights")
two_of = operator.itemgetter(0, 2)
rate_of = operator.attrgetter("optimiser.rate")
column_sums = operator.methodcaller("sum", axis=0)
parabola = np.poly1d([1.0, -2.0, 3.0])


def vector(rng):
    return (rng.uniform(0.3, 1.7, size=6),)


@program(lambda rng: (0.7,), tags={"second"})
def cache_inside(x):
    @functools.lru_cache(maxsize=None)
    def bessel(n):
        if n == 0:
            return math.sin(x) / x
        if n == 1:
            return math.sin(x) / x**2 - math.cos(x) / x
        return (2 * n - 1) / x * bessel(n - 1) - bessel(n - 2)

    return bessel(5) + bessel(2)


@program(vector)
def cache_filled_on_one_path(x):
    @functools.cache
    def term(n, scale=1.0):
        return scale * x[n] ** 2

    total = 0.0
    if x[0] > 1.0:
        total = term(1) * term(1)
    for k in range(3):
        total += term(1) * term(2, scale=2.0) * k
    return total + term(1) + term(n=2)


@program(vector)
def groups_of_neighbours(x):
    labels = [0, 0, 1, 1, 1, 2]
    total = 0.0
    for label, group in itertools.groupby(zip(labels, x), key=lambda pair: pair[0]):
        total += (label + 1) * sum(v for _, v in group) ** 2
    for above, group in itertools.groupby(x > 1.0):
        total += len(list(group)) * x[0] if above else 0.0
    return total


@program(lambda rng: (rng.uniform(1.0, 2.0, size=6),))
def shortest_paths(w):
    graph = {0: [(1, 0), (2, 1)], 1: [(3, 2), (2, 3)], 2: [(3, 4)], 3: [(0, 5)]}
    distance = {0: 0.0}
    heap = [(0.0, 0)]
    done = set()
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v, edge in graph[u]:
            far = d + w[edge]
            if v not in distance or far < distance[v]:
                distance[v] = far
                heapq.heappush(heap, (far, v))
    return distance[3] ** 2 + distance[2]


@program(vector)
def sorted_by_a_heap(x):
    heap = [v * v for v in x]
    heap.append(heap[1])
    heapq.heapify(heap)
    total = 0.0
    for k in range(7):
        total += (k + 1) * heapq.heappop(heap)
    return total


@program(vector)
def heap_of_steps_between_loops(x):
    steps, total = [1, 2], 0.0
    for k in steps:
        total = total + x[k] * k
    heapq.heappush(steps, 0)
    for k in steps:
        total = total * 0.5 + x[k] ** 2
    return total


class Optimiser:
    def __init__(self, rate):
        self.rate = rate


class Trainer:
    def __init__(self, rate):
        self.optimiser = Optimiser(rate)


@program(vector, tags={"second"})
def objects_of_operator(x):
    a, b = two_of(x)
    sums = column_sums(x.reshape(2, 3) ** 2)
    pairs = sorted([(2, x[0]), (1, x[1]), (3, x[2])], key=operator.itemgetter(0))
    first, last = operator.itemgetter(0, -1)(x)
    rate = rate_of(Trainer(x[3]))
    return a * b * sums[0] * rate + pairs[0][1] * first * last + np.sum(weights_of({"weights": x}) ** 2)


@program(vector, tags={"second"})
def polynomial_made_outside(x):
    return np.sum(parabola(x) * x)


@program(lambda rng: (rng.normal(size=4), 0.5), wrt=(0, 1))
def sums_with_a_start(x, s):
    return sum(list(x), s) + sum([v * v for v in x], start=s * 2)


@functools.singledispatch
def weight_of(value):
    return 2 * value


@weight_of.register
def _(value: tuple):
    return 3 * value[0]


@weight_of.register(list)
def _(value):
    return sum(value) ** 2


@program(args=lambda rng: (rng.normal(size=3),), tags={"second"})
def chosen_by_class(x):
    return weight_of([x[0], x[2]]) * weight_of((x[0], 1.0)) + weight_of(x[1])


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=4),))
def largest_by_methods(x):
    by_name = {"a": x[0] ** 2, "b": x[1]}
    places = [v * v for v in x]
    del places[::2]
    return x[max(range(len(x)), key=x.__getitem__)] ** 2 + by_name[min(by_name, key=by_name.__getitem__)] + places[1]


def check_length(variables, name, length):
    if len(variables[name]) != length:
        raise ValueError(f"{name} must have {length} items")
    return length


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def checked_by_name(vector, onto):
    check_length(locals(), "vector", 3)
    count = check_length(locals(), "onto", 3)
    return count * onto * np.dot(vector, onto) / np.dot(onto, onto)


@program(args=lambda rng: (rng.normal(size=(3, 4)),), float32=False, tags={"inplace"})
def arrays_as_required(x):
    a = np.require(x * 2, dtype=np.float64, requirements=["C", "W"])
    a[0] *= 3
    b = np.require(x.T, requirements=["F_CONTIGUOUS", "OWNDATA"])
    return np.sum(a**2) + np.sum(np.require(x, float) * b.T**2)


@program(args=lambda rng: (rng.normal(size=(3, 4)),), tags={"inplace"})
def ranges_beside_arrays(x):
    a = np.zeros((3, *x.shape))
    a[0] = x
    a[1, ...] = range(x.shape[1])
    a[2, :, 0] = range(1, x.shape[0] + 1)
    return np.sum(a[0] * a[1]) + np.sum(x * range(x.shape[1])) + np.sum(a[2] * x**2)
