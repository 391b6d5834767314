"""Objects of several classes in one list, or under one name after a branch."""

import dataclasses
import math

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused
from tests.compiler.checked import check_gradient

X = np.array([0.4, 1.3, 0.7, 0.9])


class Base:
    scale = 2.0

    def __init__(self, w):
        self.w = w

    def twice(self):
        return 2 * self.area()

    @property
    def half(self):
        return self.area() / 2


class Square(Base):
    def area(self):
        return self.w**2


class Box(Base):
    def __init__(self, w, h):
        super().__init__(w)
        self.h = h

    def area(self):
        return self.w * self.h

    @property
    def half(self):
        return self.area() / 3


class Rows(Base):
    scale = 5.0

    def __init__(self, w):
        self.w, self.h = w, np.array([w, 2.0])

    def area(self):
        return np.sum(self.h) * self.w


@dataclasses.dataclass
class Left:
    a: float


@dataclasses.dataclass
class Right:
    b: float
    c: float = 2.0


class Number:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v


class Sum:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def value(self):
        return self.a.value() + self.b.value()


class Product(Sum):
    def value(self):
        return self.a.value() * self.b.value()


def of_two(x):
    return [Square(v) if v > 0.6 else Box(v, 2.0 * v) for v in x]


def inherited_method(x):
    return sum(s.twice() + s.half for s in of_two(x))


def attributes_of_three_classes(x):
    shapes, total = [], 0.0
    for i, v in enumerate(x):
        shapes.append(Square(v) if i % 3 == 0 else Box(v, 2.0) if i % 3 == 1 else Rows(v))
    for s in shapes:
        total = 0.9 * total + s.scale * s.area() * s.w
    return total


def fields_written(x):
    shapes = of_two(x)
    for _ in range(2):
        for s in shapes:
            s.w = s.w + 0.1 * s.area()
    return sum(s.area() for s in shapes)


def attribute_of_one_class(x):
    total = 0.0
    for s in of_two(x):
        try:
            total += s.h * s.w
        except AttributeError:
            total += s.w**3
    return total


def patterns(x):
    total = 0.0
    for part in [Left(v) if v > 0.6 else Right(v, v) for v in x]:
        match part:
            case Left(a=a):
                total += a
            case Right(b=b, c=c):
                total += b * c
    return total


def told_by_identity(x):
    a, b, chosen = Square(x[0]), Box(x[1], 2.0), []
    for i in range(4):
        chosen.append(a if i % 2 else b)
    a.w = 3.0 * x[2]
    return sum(2.0 * s.area() if s is a else s.area() for s in chosen) + (x[0] if a is b else 0.0)


def first_rows_of_two_tables(x):
    squares, boxes = [Square(v) for v in x], [Box(v, v) for v in x]
    return sum(a.area() * (10.0 if a is b else b.area()) for a, b in zip(squares, boxes))


def some_are_none(x):
    shapes = [None if i == 2 else Square(v) if v > 0.6 else Box(v, 2.0) for i, v in enumerate(x)]
    return sum(s.area() for s in shapes if s is not None) + sum(s.w for s in shapes if s)


def tree(x):
    root = Number(x[0])
    for i, v in enumerate(x[1:]):
        root = Product(root, Number(v)) if i % 2 else Sum(root, Number(v))
    return root.value()


def names_exchanged(x):
    a, b = Square(x[0]), Box(x[1], 2.0)
    for _ in range(3):
        a, b = b, a
        a.w = a.w * 1.5
    return a.area() + 2 * b.area()


def taken_out(x):
    shapes, total = of_two(x), 0.0
    while shapes:
        largest = max(shapes, key=lambda s: s.area())
        shapes.remove(largest)
        total = 0.5 * total + largest.area()
    return total


RIGHT = [inherited_method, attributes_of_three_classes, fields_written, attribute_of_one_class, patterns]
RIGHT += [told_by_identity, first_rows_of_two_tables, some_are_none, tree, names_exchanged, taken_out]


@pytest.mark.parametrize("fn", RIGHT)
def test_right(fn):
    check_gradient(fn, (X,))
    check_gradient(fn, (X[::-1].copy(),))
    tangent = ad.jvp(fn, (X,), (np.ones(4),))[1]
    np.testing.assert_allclose(tangent, np.sum(ad.grad(fn)(X)), rtol=1e-12)


def asked_for_its_type(x):
    return sum(s.w if type(s) is Square else 1.0 for s in of_two(x))


def compared_by_a_method(x):
    parts = [Left(v) if v > 0.6 else Right(v) for v in x]
    return sum(x[0] for part in parts if part == parts[0])


def taken_out_of_another_table(x):
    squares, boxes = [Square(v) for v in x], [Box(v, v) for v in x]
    squares.remove(boxes[0])
    return sum(s.area() for s in squares)


def numbers_and_objects(x):
    parts = []
    for v in x:
        parts.append(Square(v) if v > 0.6 else v)
    return sum(p.area() if isinstance(p, Square) else p for p in parts)


@pytest.mark.parametrize(
    "fn", [asked_for_its_type, compared_by_a_method, taken_out_of_another_table, numbers_and_objects]
)
def test_refused(fn):
    with pytest.raises(Refused):
        ad.grad(fn)(X)


def test_an_attribute_that_one_class_lacks():
    def heights(x):
        return sum(s.h * math.sqrt(s.w) for s in of_two(x))

    with pytest.raises(AttributeError, match="'Square' object has no attribute 'h'"):
        ad.grad(heights)(X)
    assert ad.grad(heights)(np.array([0.25]))[0] == 1.5
