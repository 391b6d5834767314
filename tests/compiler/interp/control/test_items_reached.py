"""Iterators over things known one by one: each is computed when it is reached, those behind it are still seen."""

from __future__ import annotations

import contextlib
import functools
import itertools
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


class Weights:
    def __init__(self, w: Any) -> None:
        self.w = w

    def dot(self, v: Any) -> Any:
        return np.sum(self.w * v)


# -- the items behind the one that is reached


@case(V)
def display_changed_in_its_loop(x: Any) -> Any:
    y, total = x * 1, 0.0
    for a in [x, y]:
        y += x
        total += np.sum(a * a)
    return total


@case(V)
def zipped_displays_changed_in_their_loop(x: Any) -> Any:
    y, total = x * 1, 0.0
    for (k, a), b in zip(enumerate((x, y, x)), [1.0, 2.0, 3.0]):
        y *= 2
        total += np.sum(a * a) * b * k
    return total


@case(V)
def display_changed_while_a_generator_goes_over_it(x: Any) -> Any:
    y, total = x * 1, 0.0

    def both() -> Any:
        for a in (x, y):
            yield a

    for a in both():
        y += x
        total += np.sum(a * a)
    return total


@case(V)
def display_changed_in_a_comprehension(x: Any) -> Any:
    y = x * 1

    def grow() -> float:
        nonlocal y
        y += x
        return 2.0

    return sum([grow() * np.sum(a * a) for a in [x, y]])


@case(V)
def array_changed_beside_objects(x: Any) -> Any:
    y, total = x * 1, 0.0
    for o, v in zip([Weights(x * 1), Weights(x * 2)], y):
        y[1] = 5 * x[0]
        total += o.dot(x) * v
    return total


@case(V)
def partial_of_an_array_that_changes(x: Any) -> Any:
    y, total = x * 1, 0.0
    for a in map(functools.partial(np.multiply, y), x):
        y += x
        total += np.sum(a * a)
    return total


@case(V)
def repeated_and_changed(x: Any) -> Any:
    y = x * 1
    same = itertools.repeat(y, 3)
    y += x
    return sum(np.sum(a * a) for a in same)


# -- items that functions make


@case(V)
def items_of_a_display_that_changes(x: Any) -> Any:
    y = x * 1
    squares = map(lambda a: np.sum(a * a), [y, x])
    y += x
    return sum(squares)


@case(V)
def function_that_counts(x: Any) -> Any:
    count, total = 0.0, 0.0

    def counted(a: Any) -> Any:
        nonlocal count
        count += x[0]
        return a

    for a in map(counted, [x, x * 2, x * 3]):
        total += count * np.sum(a)
    return total


@case(V)
def function_that_appends(x: Any) -> Any:
    seen: list[Any] = []
    pending = (seen.append(v) for v in [x[0], x[1]])
    before = len(seen)
    list(pending)
    return sum(seen) * len(seen) + x[2] * before


@case(V)
def numbers_drawn_in_between(x: Any) -> Any:
    rng = np.random.default_rng(3)
    scaled = map(lambda a: np.sum(a) * rng.normal(), [x, x])
    k = rng.normal()
    a, b = scaled
    return a * k + b


@case(V)
def left_before_it_raises(x: Any) -> Any:
    def small(a: Any) -> Any:
        if a[3] > 1.0:
            raise ValueError("too large")
        return a * 2

    total = 0.0
    for a in map(small, [x, x * 2, x * 3]):
        total += np.sum(a * a)
        if total > 0.1:
            break
    return total


@case(V)
def method_of_an_object_that_changes(x: Any) -> Any:
    o = Weights(x * 1)
    sums = map(o.dot, [x, x])
    o.w = o.w * x
    return sum(sums)


@case(V)
def function_behind_a_function(x: Any) -> Any:
    y = x * 1

    def inner(a: Any) -> Any:
        return np.sum(a * y)

    sums = map(lambda a: inner(a), [x, x])
    y = y * x
    return sum(sums)


@case(V)
def one_of_two_functions(x: Any) -> Any:
    y = x * 1
    f = (lambda a: np.sum(a * y)) if x[0] > 0 else (lambda a: np.sum(a * a * y))
    sums = map(f, [x, x])
    y *= x
    return sum(sums)


@case(V)
def moved_step_by_step(x: Any) -> Any:
    y, total = x * 1, 0.0
    sums = (np.sum(v * y) for v in [x, x * 2])
    for k in range(2):
        total += next(sums) * (k + 1)
        y = y * 3
    return total


@case(V)
def numbered(x: Any) -> Any:
    y, total = x * 1, 0.0
    for k, a in enumerate(map(lambda a: a * y, [x, x])):
        total += (k + 1) * np.sum(a * a)
        y = y * 3
    return total


@case(V)
def beside_a_loop_of_numbers(x: Any) -> Any:
    y, total = x * 1, 0.0
    for a, k in zip(map(lambda a: a * y, [x, x * 2]), range(2)):
        total += np.sum(a * a) * (k + 1)
        y = y * 3
    return total


@case(V)
def objects_that_a_function_makes(x: Any) -> Any:
    a, b = map(Weights, [x * 1, x * 2])
    a.w += b.w
    c, d, *_ = (Weights(v * x) for v in x)
    c.w += d.w
    first, second = map(lambda v: {"w": v}, [x * 1, x * 2])
    first["w"] = x * 3
    return np.sum(a.w * b.w) + np.sum(c.w * d.w) + np.sum(first["w"] * second["w"])


@case(np.array([0.4, 1.3, 0.9]))
def list_that_grows_beside_known_items(x: Any) -> Any:
    items = list(x)
    products = (v * len(items) for v in [x[0], items[1]])
    items.append(x[2])
    return sum(products)


@case(np.array([0.4, 1.3, 0.9]), np.array([0.2, 1.3, 0.9]))
def number_that_changes_beside_known_items(x: Any) -> Any:
    s = x[0]
    products = map(lambda v: v * s, [x[1], s])
    t = next(products)
    s *= 3.0 * t
    return sum(products) + s


@case(V)
def number_that_the_loop_assigns(x: Any) -> Any:
    factor, total = 1.0, 0.0
    for v in map(lambda q: q * factor, (x[0], x[1])):
        factor = 3.0
        total += v
    return total


# -- what a library makes of a function holds its defaults


@case(V)
def gradient_of_a_function_with_a_default(x: Any) -> Any:
    y = x * 1
    g = ad.grad(lambda z, y=y: np.sum(z * z * y))
    y += x
    return np.sum(g(x))


@case(V)
def manager_with_a_default(x: Any) -> Any:
    y = x * 1

    @contextlib.contextmanager
    def scaled(b: Any = y) -> Any:
        yield b * x

    y += x
    with scaled() as c:
        return np.sum(c)


@case(V)
def cache_with_a_default(x: Any) -> Any:
    y = x * 1

    @functools.lru_cache
    def f(n: int, y: Any = y) -> Any:
        return np.sum(y * n * x)

    y += x
    return np.sum(y * f(2))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


# -- what is read at once, and must stay as it was


def filtered_by_what_counts(x: Any) -> Any:
    count, total = 0.0, 0.0

    def counted(a: Any) -> Any:
        nonlocal count
        count += x[0]
        return np.sum(a) > -100.0

    for a in filter(counted, [x, x * 2]):
        total += count * np.sum(a)
    return total


def filtered_objects_that_change(x: Any) -> Any:
    o = Weights(x * 1)
    found = filter(lambda a: a.dot(x) > 0.0, [o, o])
    o.w = o.w - x * 3
    return sum(np.sum(a.w) for a in found) + x[0]


def accumulated_display_that_changes(x: Any) -> Any:
    y = x * 1
    sums = itertools.accumulate([y, x, x])
    y += x
    return sum(np.sum(a * a) for a in sums)


def pairs_made_by_a_function(x: Any) -> Any:
    y, total = x * 1, 0.0
    for a, b in itertools.pairwise(map(lambda a: a * y, [x, x, x])):
        y = y * 2
        total += np.sum(a * b)
    return total


def list_that_grows_behind_an_iterator(x: Any) -> Any:
    items = [Weights(x * 1), Weights(x * 2)]
    walk = iter(items)
    a = next(walk)
    items.append(Weights(x * 5))
    next(walk)
    return a.dot(x) * next(walk).dot(x)


@pytest.mark.parametrize(
    "fn",
    [
        list_that_grows_behind_an_iterator,
        filtered_by_what_counts,
        filtered_objects_that_change,
        accumulated_display_that_changes,
        pairs_made_by_a_function,
    ],
)
def test_changes_of_what_was_read_at_once_are_refused(fn: Any) -> None:
    with pytest.raises(ad.AutodiffError):
        ad.grad(fn)(V)
