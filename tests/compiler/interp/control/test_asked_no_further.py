"""Iterators are asked for no more items than are needed, also where coming to an item changes something."""

import itertools

import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


@case(V, V[:1])
def named_by_any(x):
    if any((found := v) > 1 for v in x):
        return found * found
    return x[0]


@case(V, V[:2])
def named_by_all(x):
    if not all((found := v) > 0 for v in x):
        return found * found
    return x[0]


@case(V)
def named_by_next(x):
    found = 0.0
    first = next(((found := v) for v in x if v > 1), x[0])
    return first * found


@case(V)
def counted_by_a_name(x):
    count = 0
    several = any((count := count + 1) > 2 for _ in x)
    return count * x[0] if several else x[1]


@case(V, -V)
def function_that_notes_what_it_gets(x):
    noted = []

    def large(v):
        noted.append(v)
        return v > 1

    seen = any(large(v) for v in x)
    seen = any(map(large, x)) and seen
    small = all(map(lambda v: not large(v), x))
    return sum((k + 1) * v for k, v in enumerate(noted)) * (2.0 if seen else 3.0) * (5.0 if small else 7.0)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def noting(x, go_through):
    noted = []

    def note(v):
        noted.append(v)
        return v

    total = go_through(map(note, x))
    return len(noted) * total


def zipped(x):
    return noting(x, lambda items: sum(a * b for a, b in zip(items, [1.0, 2.0])))


def cut_at_once(x):
    noted = []

    def note(v):
        noted.append(v)
        return v

    return sum(itertools.islice(map(note, x), 2)) * len(noted)


@pytest.mark.parametrize("fn", [zipped, cut_at_once])
def test_one_item_too_many_is_refused(fn):
    with pytest.raises(Refused, match="changes something when it comes to its items"):
        ad.grad(fn)(V)


def test_a_part_of_one_that_has_a_name():
    check_gradient(lambda x: noting(x, lambda items: sum(itertools.islice(items, 2))), (V,))


def test_a_shorter_one_before_it():
    check_gradient(lambda x: noting(x, lambda items: sum(a * b for a, b in zip([1.0, 2.0], items))), (V,))
