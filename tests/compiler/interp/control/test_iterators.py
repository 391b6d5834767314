"""Iterators that are moved and lists that change while a loop goes over them: refused, for loops count beforehand."""

from itertools import accumulate, chain, count, groupby, islice, pairwise, repeat

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import check_gradient

X = np.array([0.4, 1.3, -0.7, 0.9])


def item_of_the_loops_iterator(x):
    it, total = iter(x), 0.0
    for v in it:
        total = total + v * next(it, 1.0)
    return total


def item_in_a_branch(x):
    it, total = enumerate(x), 0.0
    for k, v in it:
        if v > 0.5:
            next(it, None)
        total = total + k * v
    return total


def loop_in_a_loop_over_one_iterator(x):
    it, total = iter(x), 0.0
    for v in it:
        for w in it:
            total = total + v * w
    return total


def item_of_an_iterator_that_is_mapped(x):
    it = iter(x)
    return sum([v * next(it, 2.0) for v in enumerate(it)][0])


def item_by_a_function(x):
    it, items = iter(x), []

    def more():
        return next(it, 1.0)

    for v in it:
        items.append(v * more())
    return sum(items)


MOVED = [item_of_the_loops_iterator, item_in_a_branch, loop_in_a_loop_over_one_iterator]
MOVED += [item_of_an_iterator_that_is_mapped, item_by_a_function]


@pytest.mark.parametrize("fn", MOVED)
def test_moved_in_a_loop_over_it(fn):
    with pytest.raises(Refused, match="inside a loop that goes over it"):
        ad.grad(fn)(X)


def generator_in_its_own_loop(x):
    values, total = (v * v for v in x if v > 0), 0.0
    for v in values:
        total += v + sum(values)
    return total


def test_a_generator_is_asked_for_more_by_the_loop_over_it():
    with pytest.raises(Refused, match="is gone through that may have been"):
        ad.grad(generator_in_its_own_loop)(np.ones(3))


def enumerated_list_grows(x):
    items, total = [x[0], x[1]], 0.0
    for k, v in enumerate(items):
        if k < 3:
            items.append(v * x[2])
        total += v * (k + 1)
    return total


def zipped_list_grows(x):
    items, total = [x[0], x[1]], 0.0
    for v, w in zip(items, x):
        if len(items) < 4:
            items.append(v * w)
        total += v * w
    return total


def mapped_list_grows(x):
    items, total = [v * 2 for v in x], 0.0
    for v in map(lambda q: q * 2, items):
        if len(items) < 6:
            items.append(v)
        total += v * v
    return total


def iterator_over_a_list_that_grows(x):
    items, total = [x[0], x[1]], 0.0
    pairs = zip(items, x)
    items.append(x[2])
    for v, w in pairs:
        total += v * w
    return total


@pytest.mark.parametrize("fn", [zipped_list_grows, mapped_list_grows, iterator_over_a_list_that_grows])
def test_list_that_changes_its_length_meanwhile(fn):
    with pytest.raises(Refused, match="changes its length while"):
        ad.grad(fn)(X)


def chained_list_is_written(x):
    items, total = [x[0], x[1]], 0.0
    for v in chain(items, x):
        items[-1] = v * 2
        total += v * v
    return total


def filtered_array_is_written(x):
    y, total = x * 1.0, 0.0
    for v in filter(None, y):
        y[-1] = v * 2
        total += v * v
    return total


def accumulated_array_is_written(x):
    y, total = x * 1.0, 0.0
    for v in accumulate(y):
        y[-1] = v * 2
        total += v * v
    return total


def pairs_of_an_array_that_is_written(x):
    y, total = x * 1.0, 0.0
    for k, (a, b) in enumerate(pairwise(y)):
        y[-1] = a * 2
        total += a * b * k
    return total


def what_a_filter_reads_is_assigned(x):
    limit, total = 0.0, 0.0
    for v in filter(lambda q: q > limit, x):
        limit = 1.0
        total += v
    return total


def what_a_filter_reads_is_assigned_before_it_is_used(x):
    limit = 0.0
    large = filter(lambda q: q > limit, x)
    limit = 1.0
    return sum(large)


def chain_with_a_name_over_a_list_that_is_written(x):
    items, total = [x[0], x[1]], 0.0
    both = chain(items, items)
    items[1] = x[2]
    for v in both:
        total += v * v
    return total


def functions_that_are_replaced_before_their_turn(x):
    functions, total = [np.sin, np.cos], 0.0
    for k, fn in enumerate(functions):
        if k == 0:
            functions[1] = np.tanh
        total += np.sum(fn(x))
    return total


AHEAD = [chained_list_is_written, filtered_array_is_written, accumulated_array_is_written]
AHEAD += [pairs_of_an_array_that_is_written, what_a_filter_reads_is_assigned]
AHEAD += [what_a_filter_reads_is_assigned_before_it_is_used]
AHEAD += [functions_that_are_replaced_before_their_turn]


@pytest.mark.parametrize("fn", AHEAD)
def test_what_an_iterator_reads_is_changed(fn):
    with pytest.raises(Refused, match="is changed before it is at its end"):
        ad.grad(fn)(X)


def test_what_an_iterator_with_a_name_reads_is_changed():
    with pytest.raises(Refused, match="beside changes of what it reads"):
        ad.grad(chain_with_a_name_over_a_list_that_is_written)(X)


def test_groups_that_are_kept():
    def program(x):
        kept = [group for _, group in groupby(x, key=lambda v: v > 0)]
        return x[0] + sum(sum(group) for group in kept)

    with pytest.raises(Refused):
        ad.grad(program)(X)


def values_of_a_dict_that_grows(x):
    table = {"a": x[0], "b": x[1]}
    values = table.values()
    table["c"] = x[2]
    return sum(values)


def items_of_a_dict_of_numbers_that_grows(x):
    table = {}
    for k in range(3):
        table[2 * k] = x[k]
    items = table.items()
    table[1] = x[0] * x[1]
    return sum(k * v for k, v in items)


@pytest.mark.parametrize("fn", [values_of_a_dict_that_grows, items_of_a_dict_of_numbers_that_grows])
def test_dict_that_changes_while_a_view_of_it_has_a_name(fn):
    with pytest.raises(Refused, match="a dict is changed while"):
        ad.grad(fn)(X)


def left_and_taken_up_again(x):
    it, total = iter(x), 0.0
    for v in it:
        total += v * v
        if v > 1.0:
            break
    return total + next(it, 0.5) ** 2


def list_that_grows_between_loops(x):
    items, total = [v * 2 for v in x], 0.0
    for j in range(len(items)):
        for v in items:
            total += v * j
        items.append(total * 0.1)
    return total


def functions_beside_a_list_that_grows(x):
    items = [x[0], x[1]]
    for fn, v in zip([np.sin, np.cos], items):
        items.append(fn(v))
    return sum(items)


def values_that_are_replaced_before_their_turn(x):
    table, total = {"a": x[0], "b": x[1]}, 0.0
    for _, v in table.items():
        table["b"] = v * 2
        total += v * v
    for v in table.values():
        table["b"] = table["a"] * v
        total += v * v
    return total


def layers_that_are_replaced_before_their_turn(x):
    functions, total = [np.sin, np.cos, np.exp], 0.0
    for fn in functions:
        functions[2] = np.tanh
        total += np.sum(fn(x))
    return total


def keys_in_order(x):
    table, total = {"b": 1.0, "a": 3.0, "c": 2.0}, 0.0
    for key in sorted(table, reverse=True):
        total = total * 0.5 + table[key] * x[0]
    for key in sorted(table, key=table.get):
        total = total * 0.5 + table[key] * x[1]
    return total


def key_that_is_not_there(x):
    table = {"a": x[0]}
    try:
        y = table.pop("b")
    except KeyError:
        y = x[1] * 2
    return y + table["a"]


def repeated_so_often(x):
    return sum(a * b for a, b in zip(x, repeat(2.0, times=2)))


def digits(x):
    return int("101", 2) * x[0] + int("ff", base=16) * x[1]


def groups_are_gone_through_once(x):
    total = 0.0
    for _, group in groupby(x, key=lambda v: v > 0):
        total = total * 0.5 + next(group) * 2 + sum(group) + 3 * sum(group)
        for v in group:
            total += v
    return total


class Task:
    def __init__(self, value, depth=0):
        self.value, self.depth = value, depth


def tasks_in_a_loop_that_may_be_left(x):
    tasks, total = [Task(x[1])], 0.0
    for task in tasks:
        total += task.value**2
        if task.depth > 2:
            break
        tasks.append(Task(task.value * x[0], task.depth + 1))
    return total


def numbered_tasks(x):
    tasks, total = [Task(x[1], 0)], 0.0
    for number, task in enumerate(tasks, 1):
        total += number * task.value
        if task.depth < 3:
            tasks.append(Task(task.value * x[0], task.depth + 1))
    return total


def tasks_beside_numbers(x):
    tasks, total = [Task(x[1])], 0.0
    for task, v in zip(tasks, [1.0, 2.0, 3.0]):
        total += task.value * v
        tasks.append(Task(task.value * x[0]))
    return total


def tasks_in_a_comprehension(x):
    tasks = [Task(x[1])]

    def done(task):
        if task.depth < 3:
            tasks.append(Task(task.value * x[0], task.depth + 1))
        return task.value

    return sum([done(task) for task in tasks])


def task_replaced_before_its_turn(x):
    tasks = [Task(x[1]), Task(x[2])]

    def done(task):
        tasks[1] = Task(x[0])
        return task.value

    return sum([done(task) for task in tasks])


TASKS = [tasks_beside_numbers, tasks_in_a_comprehension]


@pytest.mark.parametrize("fn", TASKS)
def test_objects_that_come_later(fn):
    with pytest.raises(Refused, match="changed before it is at its end|changes its length while"):
        ad.grad(fn)(X)


def test_an_object_that_is_replaced_before_its_turn():
    np.testing.assert_allclose(ad.grad(task_replaced_before_its_turn)(X), np.eye(len(X))[0] + np.eye(len(X))[1])


def list_that_shrinks(x):
    items, total = [v * v for v in x], 0.0
    for v in items:
        total = 0.5 * total + v
        if v > 0.5:
            items.remove(v)
    return total + items[-1]


def both_loops_over_a_list_that_grows(x):
    items, total = [x[0], x[1]], 0.0
    for v in items:
        for w in items:
            total = 0.5 * total + v * w
            if len(items) < 5:
                items.append(v * w)
    return total


RIGHT = [
    enumerated_list_grows,
    tasks_in_a_loop_that_may_be_left,
    numbered_tasks,
    list_that_shrinks,
    both_loops_over_a_list_that_grows,
    groups_are_gone_through_once,
    left_and_taken_up_again,
    list_that_grows_between_loops,
    functions_beside_a_list_that_grows,
]
RIGHT += [values_that_are_replaced_before_their_turn, layers_that_are_replaced_before_their_turn, keys_in_order]
RIGHT += [key_that_is_not_there, repeated_so_often, digits]


@pytest.mark.parametrize("fn", RIGHT)
def test_right(fn):
    check_gradient(fn, (X,))


def test_the_beginning_of_what_has_no_end():
    def first_four(x):
        return sum(islice((np.sum(x * k) for k in count(1)), 4))

    check_gradient(first_four, (X,))


def test_no_list_is_made_of_what_has_no_end():
    def every_number(x):
        return sum([np.sum(x * k) for k in count(1)])

    with pytest.raises(Refused, match="an iterator without an end"):
        ad.grad(every_number)(X)


def test_places_before_the_first_are_an_error():
    gradient = ad.grad(lambda x, n: sum(islice(x, n)))
    assert gradient(X, 2).tolist() == [1.0, 1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="islice"):
        gradient(X, -1)
