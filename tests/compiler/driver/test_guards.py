"""What a compiled function is used under: one look at each function that it calls, and none at one that changed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import NamedTuple

import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver import specialization
from autodiff_sct.compiler.driver.dispatch import Compiled


def square(x):
    return x * x


def cube(x):
    return x * x * x


def several(x):
    return square(x) + square(x + 1.0) + square(x + 2.0)


def test_a_function_called_several_times_is_looked_at_once():
    gradient = ad.grad(several)
    gradient(1.0)
    variant = gradient.prepared().latest
    assert len(variant.guards) < len(variant.emitted.guards)
    assert len(variant.guards) == 2  # the name and the code of `square`


def test_a_changed_function_is_compiled_anew():
    gradient = ad.grad(several)
    assert gradient(1.0) == 2.0 + 4.0 + 6.0
    code = square.__code__
    try:
        square.__code__ = cube.__code__
        assert gradient(1.0) == 3.0 + 12.0 + 27.0
    finally:
        square.__code__ = code
    assert gradient(1.0) == 2.0 + 4.0 + 6.0


# -- methods of the user's classes, one guard a class


class Base:
    def __init__(self, w):
        self.w = w

    def scale(self, x):
        return self.w * x

    def shift(self, x):
        return x + 1.0

    @property
    def rate(self):
        return 2.0 * self.w

    @staticmethod
    def power(x):
        return x * x


class Middle(Base):
    pass


class Model(Middle):
    def loss(self, x):
        return self.scale(x) * self.rate + self.power(x)

    def shift(self, x):
        return super().shift(x) * 3.0


class Pair(NamedTuple):
    a: float
    b: float


def of_model(w, x):
    return Model(w).loss(x)


def of_shift(w, x):
    return Model(w).shift(w * x)


def of_pair(w, x):
    pair = Pair(w * x, x)
    total = 0.0
    for item in pair:
        total = total + item * item
    return total + pair.a


def of_sum(w, x):
    return (Pair(w, x) + Pair(x, w))[0] * w


def numeric(fn, w, x):
    step = 1e-6
    return (fn(w + step, x) - fn(w - step, x)) / (2 * step)


@contextmanager
def put(owner, name, value):
    """Set, or with `ABSENT` delete, an attribute of a class for a while."""
    own = vars(owner).get(name, ABSENT)
    try:
        delattr(owner, name) if value is ABSENT else setattr(owner, name, value)
        yield
    finally:
        if own is not ABSENT:
            setattr(owner, name, own)
        elif name in vars(owner):
            delattr(owner, name)


ABSENT = object()
CHANGES = {
    "a method of the class": (of_model, Model, "loss", lambda self, x: self.scale(x) ** 3),
    "a method of a base": (of_model, Base, "scale", lambda self, x: self.w * x * x),
    "a method in between": (of_model, Middle, "scale", lambda self, x: self.w**2 * x),
    "a method in front of a base's": (of_model, Model, "scale", lambda self, x: self.w**3 * x),
    "a property": (of_model, Base, "rate", property(lambda self: self.w**4)),
    "a property in front": (of_model, Middle, "rate", property(lambda self: 5.0 * self.w)),
    "a number in front of a property": (of_model, Middle, "rate", 7.0),
    "a static method": (of_model, Base, "power", staticmethod(lambda x: x)),
    "a static method made a class method": (of_model, Base, "power", classmethod(lambda cls, x: x + 1.0)),
    "what super() finds": (of_shift, Base, "shift", lambda self, x: x * x),
    "what super() finds in between": (of_shift, Middle, "shift", lambda self, x: x**3),
    "a method that goes, so that a base's is there": (of_shift, Model, "shift", ABSENT),
    "__init__": (of_model, Base, "__init__", lambda self, w: setattr(self, "w", 2.0 * w)),
    "__init__ in between": (of_model, Middle, "__init__", lambda self, w: setattr(self, "w", 4.0 * w)),
    "__iter__ of a named tuple": (of_pair, Pair, "__iter__", lambda self: iter([self.a, self.a])),
    "__add__ of a named tuple": (of_sum, Pair, "__add__", lambda self, other: (self.a * other.a,)),
    "a field of a named tuple": (of_pair, Pair, "a", property(lambda self: 2.0 * self[0])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_replaced_in_a_class_is_seen_at_the_next_call(change):
    fn, owner, name, new = CHANGES[change]
    gradient = ad.grad(fn)
    before = gradient(1.5, 0.7)
    assert before == pytest.approx(numeric(fn, 1.5, 0.7), rel=1e-6)
    for _ in range(2):  # what was there before is there again, and goes again
        with put(owner, name, new):
            try:
                expected = numeric(fn, 1.5, 0.7)
                found = gradient(1.5, 0.7)
            except ad.AutodiffError:
                continue  # refused, and no number of before
            assert found == pytest.approx(expected, rel=1e-6)
            assert found != pytest.approx(before, rel=1e-6) or expected == pytest.approx(before, rel=1e-6)
        assert gradient(1.5, 0.7) == before


@pytest.mark.parametrize("name", ["__getattr__", "__getattribute__", "__setattr__"])
def test_a_hook_that_a_class_or_its_base_gets_later_is_seen(name):
    hooks = {
        "__getattr__": lambda self, attr: 3.0,
        "__getattribute__": lambda self, attr: 3.0 if attr == "w" else object.__getattribute__(self, attr),
        "__setattr__": lambda self, attr, value: object.__setattr__(self, attr, 2.0 * value),
    }
    gradient = ad.grad(of_model)
    before = gradient(1.5, 0.7)
    for owner in (Model, Middle, Base):
        with put(owner, name, hooks[name]):
            expected = numeric(of_model, 1.5, 0.7)
            try:
                found = gradient(1.5, 0.7)
            except ad.AutodiffError:
                continue
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert gradient(1.5, 0.7) == before


def test_a_method_that_is_set_to_none_is_no_method_of_a_base():
    gradient = ad.grad(of_model)
    gradient(1.5, 0.7)
    with put(Middle, "scale", None), pytest.raises((TypeError, AttributeError, ad.AutodiffError)):
        gradient(1.5, 0.7)


def test_another_base_is_seen():
    class Other:
        def scale(self, x):
            return self.w**3 * x

    class Heir(Middle):
        def shift(self, x):
            return super().shift(x) * 2.0

    def program(w, x):
        heir = Heir(w)
        return heir.shift(heir.scale(x))

    gradient = ad.grad(program)
    before = gradient(1.5, 0.7)
    assert before == pytest.approx(numeric(program, 1.5, 0.7), rel=1e-6)
    Heir.__bases__ = (type("First", (Other, Middle), {}),)
    assert gradient(1.5, 0.7) == pytest.approx(numeric(program, 1.5, 0.7), rel=1e-6)
    assert gradient(1.5, 0.7) != pytest.approx(before, rel=1e-3)


def test_an_object_with_a_method_of_its_own_is_seen():
    model = Model(2.0)
    gradient = ad.grad(lambda x: model.loss(x))
    assert gradient(0.7) == pytest.approx(2.0 * 4.0 + 1.4)
    model.loss = lambda x: x**3
    assert gradient(0.7) == pytest.approx(3 * 0.7**2)
    del model.loss
    assert gradient(0.7) == pytest.approx(2.0 * 4.0 + 1.4)
    model.__class__ = type("Sub", (Model,), {"scale": lambda self, x: x**2})
    assert gradient(0.7) == pytest.approx(2 * 0.7 * 4.0 + 1.4)


def test_what_is_no_method_may_change_without_another_program():
    class Constant:
        factor = 2.0
        note = "one"

        def loss(self, x):
            return x * x

    thing = Constant()
    gradient = ad.grad(lambda x: thing.loss(x))
    gradient(1.5)
    variant = gradient.prepared().latest
    Constant.note, Constant.other = "two", 3
    assert gradient(1.5) == 3.0
    assert gradient.prepared().latest is variant


def test_each_class_is_looked_at_once():
    gradient = ad.grad(of_model)
    gradient(1.5, 0.7)
    guards = gradient.prepared().latest.guards
    assert [guard.cls for guard in guards if hasattr(guard, "cls")] == [Model]


# -- how many programs are kept


def by_name(x, kind):
    return x * x if kind == "square" else x * len(kind)


def count_compilations(monkeypatch):
    compiled = []
    compile_one = Compiled.compile
    monkeypatch.setattr(Compiled, "compile", lambda self, *args: compiled.append(1) or compile_one(self, *args))
    return compiled


@pytest.mark.parametrize("of_world", [False, True])
def test_settings_with_many_values_are_compiled_once_each(monkeypatch, of_world):
    compiled = count_compilations(monkeypatch)
    gradient = ad.grad(by_flag if of_world else by_name)
    for k in 3 * [*range(1, 21)]:
        monkeypatch.setitem(globals(), "FLAG", "m" * k)
        assert gradient(*((2.0,) if of_world else (2.0, "m" * k))) == k
    assert len(compiled) == 20


FLAG = ""


def by_flag(x):
    return x * len(FLAG)


def test_the_program_used_least_recently_is_dropped_first(monkeypatch):
    monkeypatch.setattr(specialization, "MOST", 3)
    gradient = ad.grad(by_name)
    for kind in ("a", "bb", "ccc", "a", "dddd", "a"):
        assert gradient(2.0, kind) == len(kind)
    assert [kinds[1][1] for (kinds, _) in gradient.prepared().variants.by_kinds] == ["a", "ccc", "dddd"]
