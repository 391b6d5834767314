"""Generators left early, kept under names, and gone through beside other things."""

import contextlib
import itertools
import math

import numpy as np

from tests.bank.registry import program


def vector(rng):
    return (rng.uniform(0.3, 1.7, size=4),)


def squares_of(x):
    print("begin")
    for v in x:
        yield v * v
        print("next")
    print("end")


def cleaned_up(y):
    try:
        for v in y:
            yield v * v
    finally:
        print("closed")
        y[0] = 0.0


def iterates(a):
    x = 1.0
    while True:
        yield x
        x = 0.5 * (x + a / x)


def nested(x):
    for v in squares_of(x):
        if v > 100.0:
            return
        yield from iterates(v)


def two_and_a_result(x):
    yield x[0]
    yield x[1]
    return x[2] * x[3]


def with_result(x):
    result = yield from two_and_a_result(x)
    yield result


class Walk:
    """Remembers how far it has been gone through."""

    def __init__(self, values):
        self.values = values
        self.k = 0

    def __iter__(self):
        while self.k < len(self.values):
            yield self.values[self.k]
            self.k += 1


@program(vector, tags={"second"})
def generator_left_by_break(x):
    total = 0.0
    for v in squares_of(x):
        if v > 0.5 and total > 0.2:
            break
        total += v
        print("body")
    else:
        total *= 2
    return total


@program(vector)
def generator_left_by_return(x):
    def first_over(bound):
        for v in squares_of(x):
            if v > bound:
                return v
        return x[0]

    return first_over(0.4) * first_over(50.0)


@program(vector)
def generator_that_cleans_up(x):
    y = x.copy()
    total = 0.0
    for v in cleaned_up(y):
        total += v
        if total > 0.1:
            break
    return total * np.sum(y)


@program(lambda rng: (2.0,), tags={"second"})
def endless_generator_until_converged(a):
    for k, x in enumerate(iterates(a)):
        if k == 20 or abs(x * x - a) < 1e-9:
            break
    return x


@program(vector)
def endless_generator_inside_another(x):
    total = 0.0
    for k, v in enumerate(nested(x), start=2):
        if k == 7:
            break
        total += v * k
    return total


@program(vector)
def generator_under_a_name(x):
    y = x * 1.0
    values = squares_of(y)
    y += 1.0
    total = 0.0
    for v in values:
        total += v * y[0]
        y[3] = total
    for v in values:
        total += 100.0 * v
    return total


@program(vector)
def generator_whose_argument_gets_another_name(x):
    y = x * 1.0
    values = squares_of(y)
    y = y * 3.0
    return sum(v * w for v, w in zip(values, y))


@program(vector)
def generator_beside_others(x):
    total = 0.0
    for i, v, w in zip(range(3), squares_of(x), x):
        total += i * v * w
        if total > 0.5:
            continue
        total += v
    return total


@program(vector)
def generator_with_a_result(x):
    return sum(with_result(x)) * x[0]


@program(vector)
def itertools_around_generators(x):
    total = 0.0
    for v in itertools.islice(iterates(x[1]), 1, 7, 2):
        total += v
    for v in map(lambda q: q * q, squares_of(x)):
        total += v
    for v in itertools.chain(squares_of(x), [x[0]], squares_of(x)):
        total += v
        if total > 8.0:
            break
    for v in itertools.takewhile(lambda q: q < 1.5, squares_of(x)):
        total += v**2
    for v in itertools.dropwhile(lambda q: q < 0.5, squares_of(x)):
        total += v**3
    return total


@program(vector)
def generator_that_goes_on_where_its_object_is(x):
    walk = Walk(x)
    total = 0.0
    for i, v in enumerate(walk, 1):
        total += i * v * v
        if i == 2:
            break
    for v in walk:
        total += v
    return total * walk.k


@program(vector)
def generator_in_a_try(x):
    total = x[0] ** 2
    try:
        for v in squares_of(x):
            if v > 0.7:
                raise ValueError("large")
            total += v
    except ValueError:
        total *= 2
    return total


@contextlib.contextmanager
def doubled(y):
    y[0] *= 2
    try:
        yield y
    finally:
        y[0] /= 2


def lines_of(x):
    y = x.copy()
    with doubled(y) as z:
        for v in z:
            yield v
    yield y[0]


@program(vector)
def generator_with_a_manager(x):
    total = 0.0
    for v in lines_of(x):
        total = total * 0.5 + v * v
        if total > 1.0:
            break
    return total + sum(lines_of(x))


@program(lambda rng: (np.array([0.5, 1.5, -1.0, 2.0]),))
def asks_for_values_only_until_it_knows(x):
    factor = 2.0 if any(math.sqrt(v) > 1.0 for v in x) else 3.0
    if all(math.log(v) < 0.0 for v in x):
        factor = 5.0
    return factor * next(v for v in x if math.sqrt(v) > 1.0) * next((v for v in x if v > 9.0), x[0])
