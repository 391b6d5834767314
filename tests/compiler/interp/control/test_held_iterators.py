"""Iterators that are held while what they read changes: Python reads when the next item is asked for."""

from itertools import accumulate, chain, islice, takewhile

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax
from tests.compiler.checked import check_gradient

X = np.array([0.5, 0.2, 0.9])


class Holder:
    def __init__(self, items, v=1.0):
        self.items, self.v = items, v


# -- generator expressions


def changed_by_a_call(x):
    c = x[0]

    def change():
        nonlocal c
        c = x[1] * 3.0

    products = (v * c for v in x)
    change()
    return sum(products)


def changed_by_its_reader(x):
    factors = [x[0]]

    def add_up(items):
        factors[0] = x[1] * 3.0
        return sum(items)

    return add_up(v * factors[0] for v in x)


def field_changed(x):
    holder = Holder([x[0]], x[1])
    products = (v * holder.v for v in x)
    same = holder
    same.v = x[2] * 5.0
    return sum(products)


def dict_changed(x):
    table = {"c": x[0]}
    products = (v * table["c"] for v in x)
    table.update(c=x[1] * 3.0)
    return sum(products)


def list_grown_in_a_tuple(x):
    items = [x[0], x[1]]
    pair = ((v * 2.0 for v in items), 3.0)
    items.append(x[2])
    return sum(pair[0]) * pair[1]


def kept_in_a_field(x):
    items = [x[0], x[1]]
    holder = Holder(v * v for v in items)
    items[0] = x[2]
    return sum(holder.items)


def several_with_one_variable(x):
    generators = [(v * c for v in x) for c in (1.0, 2.0)]  # both read the last `c`
    return sum(generators[0]) + sum(generators[1]) * x[0]


def changed_while_gone_over(x):
    y, total = x * 2.0, 0.0
    for v in (q * q for q in y):
        total += v
        y[2] = total
    return total


def in_steps(x):
    items = list(x)
    squares = (v * v for v in items)
    first = next(squares)
    items[1] = first * x[2]
    return first + sum(squares)


def extended_by_itself(x):
    items = list(x)
    items.extend(v * len(items) for v in x)
    items += (v * len(items) for v in x)
    return sum(k * v for k, v in enumerate(items))


def with_conditions(x):
    items = list(x)
    large = (v * w for v in items if v > 0.3 for w in x)
    items[0] = x[2]
    return sum(large)


# -- iterators around iterators


def parts_of_an_iterator(x):
    it, total = iter(list(x) * 3), 0.0
    for k in range(5):
        total += sum(islice(it, 2)) ** 2 * k
    return total


def chunks(x):
    it, total = iter(list(x) * 3), next(iter(x))
    while True:
        part = list(islice(it, 4))
        if not part:
            break
        total += part[0] * part[-1]
    return total


def rest_behind_a_part(x):
    it, total = iter([x[0], x[1], x[2]]), 0.0
    for v in islice(it, 2):
        total += v * v
        if v > 0.4:
            break
    return total * sum(it)


def rest_behind_a_condition(x):
    it = iter(list(x) * 2)
    found = any(v < 0.4 for v in it)
    return sum(it) * (2.0 if found else 3.0)


def rest_behind_takewhile(x):
    it = iter(list(x) * 2)
    return sum(takewhile(lambda v: v > 0.4, it)) * sum(it)


# -- lists repeated in place


def repeated_in_place(x):
    items = list(x)
    same = items
    items *= 2
    same[1] = x[0] * 7.0
    items *= len(x) - 1
    return sum(k * v * v for k, v in enumerate(same))


def repeated_in_a_function(x):
    def repeat(items):
        items *= 2

    rows = [[v] for v in x]
    repeat(rows[1])
    rows[1][0] = x[2] * 4.0
    return sum(sum(row) for row in rows)


def repeated_while_it_is_gone_over_later(x):
    items = [x[0]]
    squares = enumerate(items)
    holder = Holder(items)
    holder.items *= 2
    return sum(v * v for v in items) + sum([v for _, v in enumerate(holder.items)]) + len([*squares][:0])


# -- the order of keys


def changed_on_one_path(x):
    table = {"p": x[0], "q": x[1], "r": x[2]}
    if x[0] > 0.1:
        table["q"] += 1.0
    return sum([k * v * v for k, v in enumerate(table.values())])


def put_last_on_one_path(x):
    table = {"p": x[0], "q": x[1], "r": x[2]}
    if x[0] > 0.1:
        first = table.pop("p")
        table["p"] = first * 2.0
    return sum([k * v * v for k, v in enumerate(table.values())])


def own_keys_assigned(x):
    table = {k: x[k] for k in range(3)}
    for k in table:
        for j in table:
            table[j] = table[j] * table[k]
    return sum(table.values())


def next_table(x):
    table = {0: x[0]}
    for v in x:
        after = {}
        for k, w in table.items():
            after[k] = after.get(k, 0.0) + w * v
            after[k + 1] = after.get(k + 1, 0.0) + w
        table = after
    return sum([k * v * v for k, v in table.items()])


PROGRAMS = [changed_by_a_call, changed_by_its_reader, field_changed, dict_changed]
PROGRAMS += [kept_in_a_field, several_with_one_variable, changed_while_gone_over, in_steps, extended_by_itself]
PROGRAMS += [with_conditions, parts_of_an_iterator, chunks, rest_behind_a_part, rest_behind_a_condition]
PROGRAMS += [rest_behind_takewhile, repeated_in_place, repeated_in_a_function, changed_on_one_path]
PROGRAMS += [put_last_on_one_path, own_keys_assigned, next_table]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradient(fn):
    check_gradient(fn, (X,))


# -- what is refused


def moved_by_another(x):
    it = iter(x)
    squares = map(lambda v: v * v, it)
    return sum(it) + sum(squares)


def part_held(x):
    it = iter(x)
    first = islice(it, 2)
    return next(it) + sum(first) * 2.0


def filtered_and_left_early(x):
    it = iter(list(x) * 3)
    return next(filter(lambda v: v > 0.3, it)) * sum(it)


def chained_items_changed(x):
    rows = [[v] for v in x]
    items = chain.from_iterable(rows)
    rows[1][0] = x[0] * 9.0
    return sum(items)


def chained_rows_grown(x):
    rows = [[v] for v in x]
    items = chain.from_iterable(rows)
    rows[1].append(x[0])
    return sum(items)


def accumulated_and_changed(x):
    items = list(x)
    sums = accumulate(items)
    items[0] = x[1]
    return sum(sums)


def searched(x):
    it = iter(list(x))
    return sum(it) if x[1] in it else x[0]


def one_of_two(x):
    it = iter(x)
    if x[0] > 0.1:
        it = reversed(x)
    return sum(it)


def another_in_each_step(x):
    it, total = iter(x), 0.0
    for _ in range(2):
        total += next(it)
        it = iter(x * 2.0)
    return total + next(it)


def key_added_in_a_loop(x):
    table = {k: x[k] for k in range(3)}
    for k in table:
        table[k + 7] = x[0]
    return sum(table.values())


def known_key_added_in_a_loop(x):
    table = {"p": x[0]}
    for k in table:
        table[k + "q"] = x[1]
    return sum(table.values())


REFUSED = [
    moved_by_another,
    part_held,
    filtered_and_left_early,
    chained_items_changed,
    chained_rows_grown,
]
REFUSED += [accumulated_and_changed, searched, one_of_two, another_in_each_step, key_added_in_a_loop]
REFUSED += [known_key_added_in_a_loop, list_grown_in_a_tuple, repeated_while_it_is_gone_over_later]


def functions_appended_behind_a_generator(x):
    functions = [np.sin, np.cos]
    found = (f(x[0]) for f in functions)
    functions.append(np.exp)
    return sum(found)


def functions_appended_behind_an_iterator(x):
    functions = [np.sin, np.cos]
    found = iter(functions)
    functions.append(np.exp)
    return sum([f(x[0]) for f in found])


def functions_appended_behind_pairs(x):
    functions = [np.sin, np.cos]
    found = zip(functions, [1.0, 2.0, 3.0])
    functions.append(np.exp)
    return sum([c * f(x[0]) for f, c in found])


REFUSED += [functions_appended_behind_a_generator, functions_appended_behind_an_iterator]
REFUSED += [functions_appended_behind_pairs]


@pytest.mark.parametrize("fn", REFUSED)
def test_what_could_not_be_followed_is_refused(fn):
    with pytest.raises(UnsupportedSyntax):
        ad.grad(fn)(X)


def test_functions_that_are_repeated_in_place_are_under_each_name():
    def fn(x):
        functions = [np.sin, np.cos]
        other = functions
        functions *= 2
        return sum([f(x[0]) for f in other])

    assert ad.grad(fn)(X)[0] == pytest.approx(2 * (np.cos(X[0]) - np.sin(X[0])))


# -- what is unpacked and changed beside it


def test_what_is_unpacked_and_changed_behind_is_refused():
    def fn(x):
        items = list(x)
        both = [*items, items.pop()]
        return sum(k * v for k, v in enumerate(both))

    with pytest.raises(UnsupportedSyntax, match="what is unpacked changes"):
        ad.grad(fn)(X)


# -- what is popped from an item


class Thing:
    def __init__(self, v, items):
        self.v, self.items = v, items


def total(things):
    result = 0.0
    for k, thing in enumerate(things):
        result += (k + 1) * thing.v * thing.v + sum([(j + 1) * v * v for j, v in enumerate(thing.items)])
    return result


def lists_of_objects_grow(x):
    things = [Thing(v, [x[0]]) for v in x]
    for thing in things:
        thing.items.append(x[0] + things[2].v)
    return total(things)


def one_of_them_grows(x):
    things = [Thing(v, [x[0]]) for v in x]
    things[len(things) - 1].items.append(x[0])
    return total(things)


def changed_in_a_branch(x):
    things = [Thing(v, [v, v * v]) for v in x]
    things[0].items[0] = 3.0 * x[0]
    if x[0] > 0.7:
        things[2].v = things[0].v
    return total(things)


def last_items_added_behind_themselves(x):
    rows = [[v] for v in x]
    for i in range(3):
        rows[2] += [rows[i][-1], x[0]]
    return sum([(k + 1) * sum([(j + 1) * v * v for j, v in enumerate(row)]) for k, row in enumerate(rows)])


OF_LISTS = [lists_of_objects_grow, one_of_them_grows, changed_in_a_branch, last_items_added_behind_themselves]


@pytest.mark.parametrize("fn", OF_LISTS)
def test_objects_and_their_lists(fn):
    check_gradient(fn, (X,))
    _, pullback = ad.vjp(fn, X)
    for seed in (1.0, 2.0):
        np.testing.assert_allclose(np.ravel(pullback(seed)), seed * ad.grad(fn)(X), rtol=1e-12)
