"""What classes have in the place of Python's own operations: called, or refused; never passed over."""

from __future__ import annotations

import abc
import dataclasses
import functools
import math
import typing
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import V, check_gradient, check_tangent


class Doubling:
    def __init__(self, v):
        self.v = v

    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2.0)


class Lazy:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        if name == "tenfold":
            return self.v * 10
        raise AttributeError(name)


class Both:
    """Its own __setattr__ comes before the property."""

    def __init__(self, v):
        self.inner = v

    @property
    def v(self):
        return self.inner * 2

    @v.setter
    def v(self, value):
        self.inner = value * 10

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 3.0)


@dataclasses.dataclass(frozen=True)
class Scaled:
    v: float

    def __post_init__(self):
        object.__setattr__(self, "tripled", self.v * 3)


class Length:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


class Number:
    __array_ufunc__ = None

    def __init__(self, v):
        self.v = v

    def __float__(self):
        return self.v * 3

    def __round__(self, digits=0):
        return self.v * 8

    def __floor__(self):
        return self.v * 7

    def __reversed__(self):
        yield self.v
        yield self.v * 5

    def __rmul__(self, other):
        return np.sum(other) * self.v * 2

    def __add__(self, other):
        return self.v + other.v

    def __radd__(self, other):
        return self.v * 100


class Same(Number):
    """Its __radd__ is that of the class above, which has no precedence."""


class Other(Number):
    def __radd__(self, other):
        return self.v * 200


class Maker:
    factor = 3.0

    def __init__(self, v):
        self.v = v

    @classmethod
    def made(cls, v):
        return cls(v)


class Twice(Maker):
    factor = 4.0

    @classmethod
    def made(cls, v):
        return super().made(v * 2)

    def value(self):
        return super().factor * self.factor * self.v


def both(x):
    b = Both(x)
    b.v = b.v + 1
    return b.v


PROGRAMS: list[Callable[[Any], Any]] = [
    lambda x: Doubling(x).v * x,
    lambda x: Lazy(x).tenfold * x,
    lambda x: getattr(Lazy(x), "tenfold") * x,
    both,
    lambda x: Scaled(x).tripled * x,
    lambda x: x * 2 if Length(0) else x * 3,
    lambda x: x * 2 if Length(1) else x * 3,
    lambda x: float(Number(x)) * x,
    lambda x: round(Number(x)) * x,
    lambda x: math.floor(Number(x)) * x,
    lambda x: sum(reversed(Number(x))) * x,
    lambda x: (np.ones(2) * x) * Number(x),
    lambda x: Number(x) + Same(x * x),
    lambda x: Number(x) + Other(x * x),
    lambda x: Twice.made(x).value() * x,
]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_methods_in_the_place_of_operations(fn: Callable[[Any], Any]) -> None:
    for x in (1.2, -0.7):
        value, gradient = ad.value_and_grad(fn)(x)
        assert value == fn(x)
        np.testing.assert_allclose(gradient, (fn(x + 1e-5) - fn(x - 1e-5)) / 2e-5, rtol=1e-6)


class Slotted:
    __slots__ = ("v",)


def assign_no_slot(x):
    s = Slotted()
    s.w = x
    return s.w


def read_empty_slot(x):
    return Slotted().v * x


class Abstract(abc.ABC):
    @abc.abstractmethod
    def value(self): ...


@pytest.mark.parametrize(
    ("fn", "error"),
    [
        (assign_no_slot, AttributeError),
        (read_empty_slot, AttributeError),
        (lambda x: Lazy(x).elevenfold * x, AttributeError),
        (lambda x: Abstract().value() * x, TypeError),
    ],
)
def test_what_the_program_raises_is_raised(fn: Callable[[Any], Any], error: type[Exception]) -> None:
    for call in (fn, ad.grad(fn)):
        with pytest.raises(error):
            call(0.5)


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.v = made.v * 3.0
        return made


class Made(metaclass=Meta):
    def __init__(self, v):
        self.v = v


class New:
    def __new__(cls, v):
        made = object.__new__(cls)
        made.factor = 4.0
        return made

    def __init__(self, v):
        self.v = v


class BelowNew(New):
    pass


class Reading:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 2


class Descriptor:
    def __get__(self, obj, cls=None):
        return obj.hidden * 7

    def __set__(self, obj, value):
        obj.hidden = value * 2


class Described:
    v = Descriptor()

    def __init__(self, v):
        self.v = v

    @functools.cached_property
    def doubled(self):
        return self.v * 2

    @functools.lru_cache
    def times(self, x):
        return x * 6


class Plain:
    def __init__(self, v):
        self.v = v

    @functools.cached_property
    def doubled(self):
        return self.v * 2

    def __mul__(self, other):
        return other * self.v

    __rmul__ = __mul__


class Pair(typing.NamedTuple):
    a: float
    b: float = 3.0

    def __getitem__(self, k):
        return tuple.__getitem__(self, k) * 2


class Table(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2


def in_a_branch(x):
    plain = Plain(x)
    total = plain.doubled if x > 1.0 else 0.0
    plain.v = 3.0
    return total + plain.doubled


def in_a_loop(x):
    plain, total = Plain(x), 0.0
    for _ in range(3):
        total = total + plain.doubled
        plain.v = 3.0 * x
    return total


def of_many(x):
    return sum(plain.doubled for plain in [Plain(x * k) for k in range(100)])


def computed_default(x):
    return namedtuple("Local", "a b", defaults=[x])(x).b * x


def frozen(x):
    scaled = Scaled(x)
    scaled.v = 3.0
    return scaled.v * x


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: Made(x).v * x,
        lambda x: BelowNew(x).v * x,
        lambda x: Reading(x).v * x,
        in_a_branch,
        in_a_loop,
        of_many,
        computed_default,
        lambda x: Described(x).times(x) * x,
        lambda x: Pair(x)[0] * x,
        lambda x: Table(a=x)["a"] * x,
        lambda x: x if hasattr(Lazy(x), "tenfold") else x * 3,
        lambda x: np.sum(np.array([x, x * x]) * Plain(x)),
        frozen,
    ],
)
def test_what_cannot_be_followed_is_refused(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(Refused):
        ad.grad(fn)(0.5)


class Remembered:
    """A property that is computed once, kept in a dict of the object."""

    def __init__(self, fn):
        self.fn = fn

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        try:
            cache = obj._cache
        except AttributeError:
            cache = obj._cache = {}
        value = cache.get(self.fn.__name__)
        if value is None:
            value = cache[self.fn.__name__] = self.fn(obj)
        return value

    def __set__(self, obj, value):
        raise AttributeError(f"{self.fn.__name__!r} cannot be set")


class Sample:
    def __init__(self, data):
        self.data = data

    @Remembered
    def mean(self):
        return np.mean(self.data)

    @Remembered
    def spread(self):
        return np.sqrt(np.mean((self.data - self.mean) ** 2))


def test_descriptors_written_in_python() -> None:
    def fn(x: Any) -> Any:
        sample = Sample(x * x)
        return sample.spread / sample.mean + Described(x[0]).v * x[1] + sample.mean

    def assigning(x: Any) -> Any:
        sample = Sample(x)
        sample.mean = 3.0
        return sample.mean

    check_gradient(fn, (V,))
    check_tangent(fn, (V,))
    with pytest.raises(AttributeError, match="cannot be set"):
        ad.grad(assigning)(V)


def test_a_tuple_or_dict_of_its_own_kind_as_an_argument() -> None:
    with pytest.raises(Refused):
        ad.grad(lambda x, p: x * p[0])(0.5, Pair(2.0))
    assert ad.grad(lambda x, t: x * t["a"])(0.5, Table(a=2.0)) == 4.0  # its own methods run as they are
    with pytest.raises(Refused):
        ad.grad(lambda x, t: x * t["a"], 1)(0.5, Table(a=2.0))


# -- operators of named tuples


class Vector(typing.NamedTuple):
    x: Any
    y: Any

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __radd__(self, number):
        return Vector(number + self.x, number + self.y)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return self.x * self.x + self.y * self.y

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __iadd__(self, other):
        return Vector(self.x + 2.0 * other.x, self.y)

    def __call__(self, t):
        return self.x + t * self.y


class Turned(Vector):
    @property
    def x(self):
        return 3.0 * self[1]

    def __radd__(self, other):
        return Vector(self.y, self.y)


def increased(x):
    v = Vector(x, x * x)
    v += Vector(x, 1.0)
    return v.x + v.y


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (Vector(x, 1.0) + Vector(x * x, x))[0],
        lambda x: len(Vector(x, 1.0) + Vector(x * x, x)) * x,
        lambda x: (Vector(x, x * x) * 2.0).y + (3.0 * Vector(x, 1.0)).x,
        lambda x: (1.0 + Vector(x, x * x)).y,
        lambda x: (-Vector(x, x * x)).y,
        lambda x: abs(Vector(x, x * x)),
        lambda x: Vector(x, 2.0) @ Vector(x, x),
        lambda x: Vector(x, x * x)(x),
        lambda x: Turned(x, x * x).x,
        lambda x: (Vector(x, 1.0) + Turned(x, x * x)).x,
        lambda x: (Turned(x, 1.0) + Vector(x, x * x)).x,
        increased,
    ],
)
def test_operators_of_named_tuples_are_called(fn: Callable[[Any], Any]) -> None:
    assert ad.grad(fn)(0.5) == pytest.approx((fn(0.5 + 1e-6) - fn(0.5 - 1e-6)) / 2e-6, rel=1e-6)


def test_an_array_before_a_named_tuple_is_refused() -> None:
    with pytest.raises(Refused):
        ad.grad(lambda x: np.sum(np.array([x, x]) * Vector(x, 1.0)))(0.5)


# -- methods that are replaced


def test_replaced_methods_are_called() -> None:
    class Base:
        factor = 2.0

        def __init__(self, v):
            self.v = v

        def step(self, x):
            return x * self.factor * self.v

    class Child(Base):
        factor = 3.0

        def step(self, x):
            return super().step(x) * super().factor

        def __bool__(self):
            return True

    def fn(x):
        made = Child(x)
        return made.step(x) if made else x

    gradient = ad.grad(fn)

    def check() -> None:
        np.testing.assert_allclose(gradient(0.5), (fn(0.5 + 1e-5) - fn(0.5 - 1e-5)) / 2e-5, rtol=1e-6)

    check()
    Base.factor = 5.0
    check()
    Base.step = lambda self, x: x**3 * self.v
    check()
    Base.__init__ = lambda self, v: setattr(self, "v", v * 4)
    check()
    Child.__bool__ = lambda self: False
    check()
    del Child.__bool__
    Child.__len__ = lambda self: 0
    check()
    del Child.__len__
    Child.__setattr__ = lambda self, name, value: object.__setattr__(self, name, value * 7)
    check()


def test_a_replaced_function_of_a_class() -> None:
    class Functions:
        @staticmethod
        def scaled(x):
            return x * 2

        @classmethod
        def shifted(cls, x):
            return x * 3

    gradient = ad.grad(lambda x: Functions.scaled(x) * Functions.shifted(x))
    assert gradient(1.0) == 12.0
    Functions.scaled = staticmethod(lambda x: x * 5)
    assert gradient(1.0) == 30.0
    Functions.shifted = classmethod(lambda cls, x: x * 7)
    assert gradient(1.0) == 70.0


def test_what_is_registered_for_a_class_later() -> None:
    @functools.singledispatch
    def weight(x):
        return x * 2.0

    gradient = ad.grad(lambda x: np.sum(weight(x)))
    assert gradient(np.ones(2)).tolist() == [2.0, 2.0]
    weight.register(np.ndarray, lambda x: x * 3.0)
    assert gradient(np.ones(2)).tolist() == [3.0, 3.0]
    assert gradient(1.0) == 2.0
