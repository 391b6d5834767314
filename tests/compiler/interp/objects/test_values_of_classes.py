"""Attributes that objects have of their class until they are given their own; lists that NumPy returns."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
X = np.array([0.5, 0.2, 0.9])
Y = np.array([-0.6, 1.2, 0.4])


class Total:
    value = 0.5
    other = None

    def add(self, e):
        self.value += e


class Start(Total):
    value = 3.0


class Getter:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        return 0.45 * self.v


@case(X, Y)
def in_a_loop(x):
    a = Total()
    for e in x:
        a.value = a.value * e + 1
    return a.value * Total.value


@case(X, Y)
def in_a_branch(x):
    a = Start()
    if x[0] > 0.3:
        a.value = x[1]
    return a.value * x[2]


@case(X, Y)
def by_a_method_through_another_name(x):
    a = b = Total()
    i = 0
    while a.value < 3 and i < 5:
        b.add(x[0] ** 2)
        i += 1
    return a.value


@case(X, Y)
def in_a_try(x):
    a = Total()
    try:
        if x[0] > 0.3:
            a.value = x[0] * 2
            raise ValueError
    except ValueError:
        a.value *= 2
    return a.value * x[1]


@case(X, Y)
def none_in_the_class(x):
    a, s = Total(), 0.0
    for e in x:
        if a.other is None:
            a.other = e * 2
        s += a.other * e
    return s if hasattr(a, "other") else s * 2


@case(X, Y)
def of_objects_in_a_list(x):
    objects = [Total() for _ in x]
    for o, e in zip(objects, x):
        if e > 0.3:
            o.value = e * 2
    objects[0].value += 1
    return sum(o.value**2 * e for o, e in zip(objects, x))


@case(X, Y)
def getattr_of_objects_in_a_list(x):
    return sum(o.extra * o.v for o in [Getter(e) for e in x])


@case(X, Y)
def dicts_in_a_chain(x):
    n = {"v": x[0], "next": None}
    for e in x[1:]:
        n = {"v": e, "next": n}
    s, w = 0.0, 1.0
    while n:
        s, w, n = s + n["v"] ** 2 * w, w + 1, n["next"]
    return s


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_each(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def getter_on_one_path(x):
    a = Getter(x[0])
    if x[0] > 0.6:
        a.extra = x[1]
    return a.extra * x[2]


def asked_on_one_path(x):
    a = Total()
    if x[0] > 0.6:
        a.more = x[1]
    return x[1] * (a.more if hasattr(a, "more") else 0.3)


def tried_on_one_path(x):
    a = Total()
    if x[0] > 0.6:
        a.more = x[1]
    try:
        return a.more * x[0]
    except AttributeError:
        return x[1]


def class_assigned_after_that(x):
    a = Total()
    if x[0] > 0.6:
        a.value = x[1]
    Total.value = 0.7
    return a.value * x[2]


def getter_asked_of_objects_in_a_list(x):
    return sum(getattr(o, "extra", 0.2) * o.v for o in [Getter(e) for e in x])


@pytest.mark.parametrize(
    "fn",
    [
        getter_on_one_path,
        asked_on_one_path,
        tried_on_one_path,
        class_assigned_after_that,
        getter_asked_of_objects_in_a_list,
    ],
)
def test_what_only_the_run_tells_is_refused(fn):
    with pytest.raises(Refused):
        ad.grad(fn)(X)


def appended(x):
    parts = np.split(x, 3)
    parts.append(x * 2)
    return sum(np.sum(p**2) for p in parts)


def assigned(x):
    parts = np.array_split(x, 2)
    parts[0] = parts[0] * x[2]
    return np.sum(parts[0]) + np.sum(parts[1] ** 2)


def added_to(x):
    parts = [x] + np.hsplit(x, 3)[1:]
    parts += [x * 2]
    del parts[1]
    return sum((k + 1) * np.sum(p**2) for k, p in enumerate(parts))


def asked(x):
    parts = np.split(x, [1])
    return x[0] * (1.0 if isinstance(parts, list) else 2.0) + np.sum(parts[1] ** 2)


def views_in_a_list(x):
    y = x * 1.0
    parts = np.split(y, 3)
    for p in parts:
        p *= 2
    parts.append(x)
    y[0] = x[1]
    return np.sum(np.concatenate(parts) ** 2)


def place_in_a_tuple(x):
    t = (1, 2, 1)
    try:
        last = t.index(5)
    except ValueError:
        last = 1
    return x[t.index(1, 1)] * 2 + x[t.index(2)] * x[last] ** 2


@pytest.mark.parametrize("fn", [appended, assigned, added_to, asked, views_in_a_list, place_in_a_tuple])
def test_lists_of_numpy_and_places_in_tuples(fn):
    check_gradient(fn, (X,))
