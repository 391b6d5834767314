"""The methods that Python generates for dataclasses and named tuples take their arguments as Python's do."""

from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, asdict, astuple, dataclass, field, fields, replace
from typing import ClassVar

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)
Pair = namedtuple("Pair", "a b")


@dataclass
class Point:
    a: float
    b: float = 2.0


@dataclass
class Scaled:
    a: float
    scale: InitVar[float]
    b: float = 1.0
    more: InitVar[float] = 3.0
    c: float = field(init=False, default=0.5)

    def __post_init__(self, scale, more=9.0):
        self.c = self.a * scale * more


@dataclass
class ScaledAgain(Scaled):
    z: float = 0.0

    def __post_init__(self, scale, more):
        super().__post_init__(scale, more)
        self.z += self.c


@dataclass
class ByName:
    a: float
    _: KW_ONLY
    b: float = 3.0

    def __post_init__(self):
        self.b *= self.a


class Empty:
    pass


@case(V)
def parameters_that_are_no_fields(x):
    first, second = Scaled(x[0], x[1]), Scaled(x[0], x[1], x[2], x[3])
    third = Scaled(a=x[1], scale=x[2], more=x[3])
    return first.c + second.c * second.b + third.c * third.b + first.b


@case(V)
def handed_on_to_the_base(x):
    first = ScaledAgain(x[0], x[1], z=x[2])
    return first.z * first.c + ScaledAgain(x[0], x[1], x[2], x[3], x[0]).z + first.more


@case(V)
def replaced_with_another_scale(x):
    return replace(Scaled(x[0], x[1]), a=x[2], scale=x[3]).c


@case(V)
def fields_by_name(x):
    point = ByName(x[1], b=x[2])
    total = ByName(x[0]).b * point.b
    for each in fields(point):
        total += getattr(point, each.name) * len(each.name)
    return total


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def too_many_fields(x):
    return Point(x[0], x[1], x[2]).a


def unknown_field(x):
    return Point(x[0], c=x[1]).a


def field_that_is_missing(x):
    return Point(b=x[1]).b


def field_given_twice(x):
    return Point(x[0], a=x[1]).b * x[0]


def by_name_only(x):
    return ByName(x[0], x[1]).b


def parameter_that_is_missing(x):
    return Scaled(x[0]).a


def replaced_without_what_is_no_field(x):
    return replace(Scaled(x[0], x[1]), a=x[2]).c


def replaced_what_is_computed(x):
    return replace(Scaled(x[0], x[1]), scale=x[2], c=x[2]).c


def too_many_items(x):
    return Pair(x[0], x[1], x[2]).a


def unknown_item(x):
    return Pair(x[0], c=x[2]).a


def item_given_twice(x):
    return Pair(x[0], x[1], a=x[2]).a


def class_without_arguments(x):
    return Empty(x[0]).a


WRONG = [too_many_fields, unknown_field, field_that_is_missing, field_given_twice, by_name_only]
WRONG += [parameter_that_is_missing, replaced_without_what_is_no_field, replaced_what_is_computed]
WRONG += [too_many_items, unknown_item, item_given_twice, class_without_arguments]


@pytest.mark.parametrize("fn", WRONG)
def test_wrong_arguments_raise_what_python_raises(fn):
    with pytest.raises((TypeError, ValueError)) as expected:
        fn(V)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x), lambda x: ad.jvp(fn, (x,), (x,))):
        with pytest.raises(expected.type) as found:
            derivative(V)
        assert str(found.value) == str(expected.value)


@dataclass
class Holder:
    array: object
    items: object = None
    inner: object = None


def copied_arrays(x):
    holder = Holder(x * 2, [x[1]])
    table = asdict(holder)
    table["array"][0] = 3.0
    table["items"][0] = 1.0
    return holder.array[0] * holder.items[0] + table["array"].sum()


def dataclasses_inside(x):
    table = asdict(Holder(x, [Point(x[0]), (x[1], Point(x[2]))], {"a": Point(x[3])}))
    first, (number, second) = table["items"]
    return first["a"] * second["a"] + table["inner"]["a"]["a"] * number * second["b"]


def one_array_in_three_fields(x):
    array = x * 2
    table = asdict(Holder(array, [array], array))
    table["array"] += 1
    table["items"][0] *= 2
    return table["array"] @ table["items"][0] + table["inner"].sum() * array[0]


def fields_as_an_array(x):
    return np.array(astuple(Point(x[0], x[1]))).sum() + np.array(list(asdict(Point(x[2], x[3])).values())).prod()


def tuples_inside(x):
    array, items, inner = astuple(Holder(x * 2, (Point(x[0]), (x[1], Point(x[2]))), {"a": Point(x[3])}))
    array[0] = 3.0
    first, (number, second) = items
    return first[0] * second[1] * array.sum() + inner["a"][0] * number


COPIES = [copied_arrays, dataclasses_inside, one_array_in_three_fields, fields_as_an_array, tuples_inside]


@pytest.mark.parametrize("fn", COPIES)
def test_dicts_and_tuples_of_fields_are_copies(fn):
    check_gradient(fn, (V,))
    check_tangent(fn, (V,))


@dataclass
class Model:
    scale: object
    _: KW_ONLY
    rate: float = 2.0
    exact: bool = False
    kind: ClassVar[str] = "normal"

    def settings(self):
        first = {f.name: getattr(self, f.name) for f in fields(self) if not f.kw_only}
        return {**first, **{f.name: getattr(self, f.name) for f in fields(self) if f.kw_only}}


def scaled(x, scale=1.0, rate=1.0, exact=True):
    return np.sum(x) if exact else np.sum(np.exp(-rate * x)) * scale


def test_descriptions_of_fields():
    outside = Model(0.3, rate=1.1)

    def fn(x):
        names = [f.name for f in fields(Model)]
        total = sum(getattr(outside, f.name) for f in fields(outside) if f.name != "exact")
        return scaled(x, **Model(x[0]).settings()) * len(names) + total * x[1]

    check_gradient(fn, (V,))
    check_tangent(fn, (V,))
