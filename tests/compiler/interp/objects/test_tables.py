"""Objects in tables: what would tell that they are numbers of rows is refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import check_gradient

X = np.array([0.4, 1.3, -0.7, 0.9])


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y


@dataclass
class Equal:
    x: float


class Counted(Point):
    def __len__(self) -> int:
        return 0


def points(x: Any) -> Any:
    found = []
    for v in x:
        found.append(Point(v, 2 * v))
    return found


def printed(x: Any) -> Any:
    print(points(x)[0])
    return x[0]


def printed_list(x: Any) -> Any:
    print(points(x))
    return x[0]


def formatted(x: Any) -> Any:
    return x[0] if f"{points(x)[1]}" == "1" else x[1]


def texts(x: Any) -> Any:
    return x[0] if str(points(x)[1]) == "1" else x[1]


def returned(x: Any) -> Any:
    return points(x)[2], x[0]


def returned_list(x: Any) -> Any:
    return points(x), x[0]


def summed(x: Any) -> Any:
    return sum(points(x)) * x[0]


def made_an_array(x: Any) -> Any:
    return np.array(points(x)) @ x


def multiplied(x: Any) -> Any:
    return points(x)[2] * x[0]


def as_index(x: Any) -> Any:
    return x[points(x)[1]]


def as_integer(x: Any) -> Any:
    return x[0] * int(points(x)[3])


def as_key(x: Any) -> Any:
    found = points(x)
    table = {}
    for p in found:
        table[p] = p.x
    return sum(table.values())


def sorted_without_key(x: Any) -> Any:
    return sorted(points(x))[0].x


def any_of_them(x: Any) -> Any:
    return x[0] if any(points(x)[:1]) else x[1]


def compared(x: Any) -> Any:
    found = points(x)
    return x[0] if found[0] < found[1] else x[1]


def equal_by_fields(x: Any) -> Any:
    found = []
    for v in x:
        found.append(Equal(v * 0))
    return x[0] if found[0] == found[1] else x[1]


def is_inside(x: Any) -> Any:
    found = points(x)
    return x[0] if found[1] in found else x[1]


def deeply_copied(x: Any) -> Any:
    found = copy.deepcopy(points(x))
    found[0].x = 3.0
    return found[0].x * x[0]


def deeply_copied_object(x: Any) -> Any:
    first = points(x)[0]
    other = copy.deepcopy(first)
    other.x = 3.0
    return first.x * x[0]


def numbers_and_objects(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(Point(v, v))
        else:
            found.append(v)
    return sum(p * 1.0 for p in found if not isinstance(p, Point))


def false_object(x: Any) -> Any:
    found = None
    for v in x:
        found = Counted(v, found)
    return x[0] if found else x[1]


def assigned_later(x: Any) -> Any:
    found = points(x)
    found[0].z = x[0]
    return x[0] if hasattr(found[1], "z") else found[0].z


class Default:
    weight = 2.0

    def __init__(self, x: Any, special: bool) -> None:
        self.x = x
        if special:
            self.weight = x


def some_have_a_field(x: Any) -> Any:
    found = [Default(x[0], True), Default(x[1], False)]
    chosen = found[0] if x[0] > 0 else found[1]
    chosen.x = x[2]
    return sum(d.x * d.weight for d in found)


def test_a_field_that_some_have_of_their_class():
    x = np.array([0.4, -0.3, 0.8])
    check_gradient(some_have_a_field, (x,))
    check_gradient(some_have_a_field, (-x,))


REFUSED = [
    assigned_later,
    printed,
    printed_list,
    formatted,
    texts,
    returned,
    returned_list,
    summed,
    made_an_array,
    multiplied,
    as_index,
    as_integer,
    as_key,
    sorted_without_key,
    any_of_them,
    compared,
    deeply_copied,
    deeply_copied_object,
    numbers_and_objects,
    false_object,
]


def test_references_are_told_apart() -> None:
    for fn in (equal_by_fields, is_inside):
        value, gradient = ad.value_and_grad(fn)(X)
        assert value == fn(X)
        np.testing.assert_array_equal(gradient, np.eye(len(X))[0])


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_references_are_no_numbers(fn: Callable[..., Any]) -> None:
    with pytest.raises(Refused):
        ad.grad(fn)(X)
    with pytest.raises(Refused):
        ad.jvp(fn, (X,), (X,))


def test_truth_length_and_class() -> None:
    def fn(x: Any) -> Any:
        found = points(x)
        first = found[0]
        total = 0.0
        if first and isinstance(first, Point) and not isinstance(first, int) and type(first) is Point:
            total += len(found) * first.x
        if hasattr(first, "y") and not hasattr(first, "z") and not callable(first):
            total += getattr(first, "y") * getattr(first, "z", 3.0)
        return total

    np.testing.assert_allclose(ad.grad(fn)(X), [4 + 6, 0, 0, 0])


def test_a_missing_object_is_an_error() -> None:
    def fn(x: Any) -> Any:
        node = None
        for v in x:
            if v > 5:
                node = Point(v, node)
        return node.x  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'x'"):
        ad.grad(fn)(X)
    np.testing.assert_array_equal(ad.grad(fn)(X + 5), [0, 0, 0, 1])


def test_the_text_names_classes_and_fields() -> None:
    text = ad.adjoint_source(lambda x: sum(p.x * p.y for p in points(x)), X)
    assert re.search(r"Point_x\.append\(v\)", text)
    assert "d_Point_x" in text
