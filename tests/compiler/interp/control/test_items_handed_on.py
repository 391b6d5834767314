"""Items that `itertools` hands on: they may change while a loop goes over them, the pairs stay what they are."""

from itertools import accumulate, chain, combinations, cycle, islice, pairwise, permutations, product, takewhile

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
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


def squares_of_sums(v):
    return sum(map(lambda x: x * x, accumulate(v))) + sum([x**3 for x in map(abs, accumulate(v))])


def squares_of_what_is_left(v):
    return max(map(lambda x: -x * x, filter(lambda x: x > 0, v))) + sum(sorted(map(abs, chain(list(v), v))))


def functions_of_two_iterators(v):
    numbers = [*map(lambda a, b: a * b, accumulate(v), filter(lambda x: x > 0, v))]
    first, *others = map(lambda x: x * x, accumulate(v))
    return sum(numbers) + first * sum(others) + sum(map(lambda x: x + 1, takewhile(lambda x: x < 1, v)))


@pytest.mark.parametrize("fn", [squares_of_sums, squares_of_what_is_left, functions_of_two_iterators])
def test_functions_of_what_an_iterator_gives(fn):
    check_gradient(fn, (V,))
    check_tangent(fn, (V,))


def in_a_list_display(v):
    y = v * 1.0

    def change(x):
        y[-1] = x * 2
        return x * x

    return sum([change(x) for x in filter(None, y)])


def in_a_generator_expression(v):
    y = list(v)

    def change(x):
        y[-1] = x * 2
        return x * x

    return sum(change(x) for x in chain(y, v))


def through_map(v):
    y = v * 1.0

    def change(x):
        y[-1] = x * 2
        return x * x

    return sum(map(change, accumulate(y)))


def counted_while_it_is_filtered(v):
    count = 0

    def positive(x):
        nonlocal count
        count += 1
        return x > 0

    return sum([x * count for x in filter(positive, v)])


def what_a_test_reads(v):
    limit = 0.0

    def change(x):
        nonlocal limit
        limit = 1.0
        return x

    return sum([change(x) for x in filter(lambda x: x > limit, v)])


def values_of_a_dict(v):
    table = {"a": v[0], "b": v[1], "c": v[2]}

    def change(x):
        table["c"] = x * 2
        return x * x

    return sum([change(x) for x in table.values()])


def items_of_a_dict_through_map(v):
    table = {"a": v[0], "b": v[1], "c": v[2]}

    def change(pair):
        table["c"] = pair[1] * 2
        return pair[1] ** 2

    return sum(map(change, table.items()))


CHANGED = [in_a_list_display, in_a_generator_expression, through_map, counted_while_it_is_filtered]
CHANGED += [what_a_test_reads, values_of_a_dict, items_of_a_dict_through_map]


@pytest.mark.parametrize("fn", CHANGED)
def test_what_is_read_ahead_may_not_change(fn):
    with pytest.raises(Refused, match="is changed before it is at its end"):
        ad.grad(fn)(V)


def counted_and_then_added_up(v):
    count = 0

    def positive(x):
        nonlocal count
        count += 1
        return x > 0

    return sum(filter(positive, v)) * count + sum(list(filter(positive, v))) * count


def test_what_is_only_collected_may_change_meanwhile():
    check_gradient(counted_and_then_added_up, (V,))
