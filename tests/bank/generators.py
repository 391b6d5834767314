"""Generators: functions with `yield`, managers made of them, and generator expressions."""

import contextlib

import numpy as np

from tests.bank.registry import program


def vector(rng):
    return (rng.uniform(0.3, 1.7, size=4),)


def squares_of(x):
    for v in x:
        yield v * v


def neighbours(x, factor=2.0):
    print("first")
    yield x[0] * factor
    for i in range(1, len(x)):
        if x[i] > 0.8:
            yield x[i] * x[i - 1]
        else:
            yield factor * x[i]
    print("last")


def from_both(x):
    yield from squares_of(x)
    yield from [x[0], x[1] * x[2]]


def in_order(n, x):
    if n > 0:
        yield from in_order(n - 1, x)
        yield x[n]


class Doubled:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        for v in self.values:
            yield v * 2.0


@program(vector, tags={"second"})
def loop_over_a_generator(x):
    total = 0.0
    for v in squares_of(x):
        total = total + v * np.sin(total)
    return total


@program(vector)
def generator_that_yields_in_several_places(x):
    total = 1.0
    for v in neighbours(x, factor=x[1]):
        total += v**2
        print(v)
    return total


@program(vector)
def generator_delegates(x):
    total = 0.0
    for v in from_both(x):
        if v < 0.5:
            continue
        total += v * x[0]
    for v in in_order(3, x):
        total += v**3
    return total


@program(vector)
def generators_gone_through_by_builtins(x):
    last = sum(squares_of(x)) * max(squares_of(x)) + list(squares_of(x))[1]
    return last + sum(v**2 for v in squares_of(x)) * sorted(squares_of(x))[0]


@program(vector)
def object_that_yields(x):
    total = 0.0
    for v in Doubled(x):
        total += v**2
    a, b, c, d = Doubled(x)
    return total * a * b + c * d


@program(lambda rng: (rng.normal(size=(3, 4)),), tags={"second"})
def generator_defined_inside(x):
    def rows(a):
        for row in a:
            yield row * row

    total = 0.0
    for row in rows(x):
        total = total + np.sum(row) ** 2
    return total


def each_once(y):
    for i in range(len(y)):
        yield y[i]


@program(vector)
def generator_reads_what_the_loop_writes(x):
    y = x.copy()
    total = 0.0
    for v in each_once(y):
        total += v
        y[3] = x[0] * total
    return total * y[3]


@contextlib.contextmanager
def twice(k):
    print("in")
    try:
        yield k * 2.0
    finally:
        print("out")


@contextlib.contextmanager
def scaled(y, k):
    y *= k
    yield
    y /= k


@program(vector, tags={"second"})
def manager_made_of_a_generator(x):
    with twice(x[0]) as k:
        return np.sum(x) * k


@program(vector)
def manager_that_changes_an_array(x):
    y = x * 1.0
    with scaled(y, x[0]), twice(x[1]) as k:
        total = np.sum(y**2) * k
    return total + np.sum(y)


@program(vector)
def manager_in_a_loop(x):
    total = 0.0
    for i in range(3):
        with twice(x[i]) as k:
            if i == 1:
                continue
            total += k * x[i]
    return total


class Counted:
    """Counts how often it is gone through."""

    def __init__(self, values):
        self.values = values
        self.count = 0

    def __iter__(self):
        self.count += 1
        print("from the start")
        for v in self.values:
            yield v * self.count


@program(vector)
def object_that_counts_its_iterations(x):
    values = Counted(x)
    a, b, c, d = values
    total = sum(values)
    for v in values:
        total = total * v
    first, *others = values
    return a * b * total + list(values)[1] + max(values) + first * sum(others) + values.count * x[0]


def running(x):
    total = 0.0
    for v in x:
        total = total + v
        yield total


@program(vector)
def generators_inside_each_other(x):
    total = sum(a * b for a in running(x[:2]) for b in squares_of(x) if b < 3.0)
    for v in running(x):
        for w in running(x * 2.0):
            total = total + v * w * total * 0.1
    return total
