"""Items that `itertools` hands on: they may change while a loop goes over them, the pairs stay what they are."""

from itertools import chain, combinations, cycle, islice, pairwise, permutations, product

import numpy as np
import pytest

from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


class Body:
    def __init__(self, mass, place):
        self.mass, self.place = mass, place


def total(bodies):
    return sum(body.mass * body.place.sum() for body in bodies)


@case(V)
def pairs_of_three_bodies(v):
    bodies = [Body(v[0], v[:2]), Body(v[1], v[2:]), Body(v[2], v[1:3])]
    for a, b in combinations(bodies, 2):
        a.mass = a.mass * b.mass
        b.place = b.place + a.place
    return total(bodies)


@case(V)
def pairs_of_as_many_bodies_as_there_are(v):
    bodies = [Body(x, v * x) for x in v]
    for _ in range(2):
        for a, b in combinations(bodies, 2):
            a.mass = a.mass * b.mass
            b.place = b.place + a.place
    return total(bodies)


@case(V)
def arrangements_of_bodies(v):
    bodies = [Body(x, v * x) for x in v]
    for a, b, c in permutations(bodies, 3):
        a.mass = a.mass + b.mass * c.mass * 0.1
    return total(bodies)


@case(V)
def each_with_each(v):
    bodies = [Body(x, v * x) for x in v]
    for a, b in product(bodies, bodies[1:]):
        a.mass = a.mass + b.mass * 0.1
        if a is not b:
            b.place = b.place * 1.1
    return total(bodies)


@case(V)
def neighbours(v):
    bodies = [Body(x, v * x) for x in v]
    for a, b in pairwise(bodies):
        b.mass = a.mass + b.mass
        b.place = b.place * a.mass
    return total(bodies)


@case(V)
def one_after_the_other(v):
    bodies, others = [Body(x, v * x) for x in v], [Body(1.0, v)]
    for a in chain(bodies, others, bodies):
        a.mass = a.mass * 1.5
    for a in islice(bodies, 2):
        a.mass *= a.place[0]
    for k, a in zip(range(6), cycle(bodies)):
        a.mass = a.mass * 1.5 + k
    return total(bodies + others)


@case(V)
def pairs_of_arrays(v):
    rows = [v * k for k in range(1, 4)]
    for a, b in combinations(rows, 2):
        a += b[::-1] * 0.3
        b[0] *= a[1]
    return sum((row**2).sum() for row in rows)


@case(V)
def pairs_of_rows(v):
    table = np.outer(v, v)
    for a, b in combinations(table, 2):
        a += b * 0.1
    return (table**2).sum()


@case(V)
def pairs_of_numbers_in_a_list_that_changes(v):
    numbers = list(v)
    for a, b in combinations(numbers, 2):
        numbers[0] = numbers[0] * a + b
        numbers.append(a)
    return sum(numbers)


@case(V)
def pairs_under_a_name(v):
    bodies = [Body(x, v * x) for x in v]
    pairs = combinations(bodies, 2)
    bodies[0].mass = 5 * v[1]
    for a, b in pairs:
        a.mass = a.mass * b.mass
    return total(bodies)


@case(V)
def pairs_of_keys(v):
    table = {key: [x, 0.0] for key, x in zip("abcd", v)}
    for p, q in combinations(table, 2):
        table[p][1] += table[q][0]
        table[q][1] -= table[p][0] * 2
    return sum(first * second for first, second in table.values())


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)
