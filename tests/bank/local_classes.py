"""Classes and managers that are defined inside the function."""

import abc
import contextlib
import dataclasses
import functools
import time
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

from tests.bank.registry import program


def vector(rng):
    return (rng.normal(size=5),)


@program(args=vector)
def layers_of_a_local_class(x):
    class Layer:
        """A layer."""

        rate = 0.5

        def __init__(self, w):
            self.w = w

        def __call__(self, v):
            return np.tanh(self.w * v) * self.rate

    layers = [Layer(x[i]) for i in range(3)]
    h = 0.3
    for layer in layers:
        h = layer(h)
    return h


@program(args=vector)
def local_objects_with_attributes(x):
    class N:
        pass

    a = N()
    a.v = x[0]
    a.kids = []
    b = N()
    b.v = x[1]
    b.kids = []
    a.kids.append(b)
    return a.v * a.kids[0].v


@program(args=vector)
def linked_list_of_a_local_class(x):
    class Cell:
        def __init__(self, v, nxt):
            self.v = v
            self.nxt = nxt

    head = None
    for v in x:
        head = Cell(v, head)
    total, k, c = 0.0, 1, head
    while c is not None:
        total += k * c.v**2
        c = c.nxt
        k += 1
    return total


@program(args=vector)
def methods_read_the_function_around(x):
    scale = 2.0

    class Term:
        def __init__(self, k):
            self.k = k

        def value(self):
            return scale * x[self.k] ** 2 + helper(self.k)

    def helper(k):
        return x[k] * x[0]

    t = [Term(0), Term(1)]
    a = t[0].value()
    scale = 3.0
    return a * t[1].value()


@program(args=vector)
def local_classes_inherit(x):
    class Shape(abc.ABC):
        def area(self):
            raise NotImplementedError

        def twice(self):
            return 2 * self.area()

    class Sq(Shape):
        def __init__(self, a):
            super().__init__()
            self.a = a

        def area(self):
            return self.a**2

    class Cu(Sq):
        def area(self):
            return super().area() * self.a

    return Sq(x[0]).twice() * Cu(x[1]).twice() + (1.0 if isinstance(Cu(x[0]), Shape) else 0.0)


@program(args=vector)
def local_dataclass(x):
    @dataclass
    class State:
        pos: float
        vel: float = 0.0
        log: list = field(default_factory=list)

        @property
        def energy(self):
            return self.pos**2 + self.vel**2

        def step(self, h=0.1):
            self.vel -= h * self.pos
            self.pos += h * self.vel
            self.log.append(self.pos)

    s = State(x[0])
    for _ in range(4):
        s.step()
    return s.energy + sum(s.log) + dataclasses.replace(s, vel=x[1]).energy


@program(args=vector)
def classes_of_two_activations(x):
    def make(k):
        class Power:
            def __call__(self, v):
                return v**k * x[k]

        return Power()

    f, g = make(1), make(2)
    return f(x[0]) * g(x[1]) + f(x[2])


@program(args=vector)
def local_objects_in_a_list(x):
    class P:
        def __init__(self, a):
            self.a = a

    ps = []
    for v in x:
        if v > -5:
            ps.append(P(v * 2))
    return sum(q.a**2 for q in ps)


@program(args=vector)
def methods_of_all_kinds(x):
    class V2:
        __slots__ = ("a", "b")

        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, o):
            return V2(self.a + o.a, self.b + o.b)

        @classmethod
        def zero(cls):
            return cls(0.0, 0.0)

        @staticmethod
        def dot(p, q):
            return p.a * q.a + p.b * q.b

        @property
        def n(self):
            return self._n2() ** 0.5

        def _n2(self):
            return V2.dot(self, self)

    acc = V2.zero()
    for i in range(len(x) - 1):
        acc = acc + V2(x[i], x[i + 1])
    return acc.n


@program(args=vector)
def class_in_a_loop(x):
    total = 0.0
    for k in range(len(x)):

        class C:
            def f(self):
                return x[k] * k

        total += C().f() ** 2
    return total


@program(args=vector)
def private_attributes_of_a_local_class(x):
    class C:
        def __init__(self, a):
            self.__a = a

        def get(self):
            return self.__a**2

    return C(x[0]).get() * C(x[1]).get()


@program(args=vector)
def decorates_with_wraps(x):
    def timed(f):
        @functools.wraps(f)
        def inner(*a, **k):
            t = time.time()
            r = f(*a, **k)
            return r

        return inner

    @timed
    def loss(v, scale=1.0):
        return scale * np.sum(v**2)

    return loss(x, scale=2.0)


@program(args=vector)
def local_manager(x):
    @contextlib.contextmanager
    def scaled(v):
        yield v * 2

    with scaled(x) as y:
        s = np.sum(y**2)
    return s


@program(args=vector)
def local_managers_in_each_other(x):
    depth = 0

    @contextlib.contextmanager
    def deeper():
        nonlocal depth
        depth += 1
        try:
            yield depth
        finally:
            depth -= 1

    with deeper() as a:
        with deeper() as b:
            s = np.sum(x**2) * a + np.sum(x) * b
    return s * (depth + 1)


@program(args=vector)
def local_iterator(x):
    class Count:
        def __init__(self, n):
            self.n, self.k = n, 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.k >= self.n:
                raise StopIteration
            self.k += 1
            return x[self.k - 1]

    return sum(v**2 for v in Count(3))


@program(args=vector)
def local_class_that_yields(x):
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            for k in range(self.n):
                yield x[k] * k

    total = 0.0
    for v in Count(3):
        total += v**2
    return total


@program(args=lambda rng: (rng.normal(size=4),), tags={"second"})
def named_tuples_made_inside(x):
    Point = namedtuple("Point", "x y z", defaults=[2.0])
    points = [Point(v, v * v) for v in x]
    last = points[-1]._replace(y=x[0])
    return sum(p.x * p.y + p.z for p in points) + last.y * last.x + Point._make([x[1], x[2], 1.0]).y


@program(args=lambda rng: (rng.normal(size=4),), tags={"second"})
def property_computed_once(x):
    class Model:
        def __init__(self, w):
            self.w = w

        @functools.cached_property
        def energy(self):
            return np.sum(self.w**2)

    model = Model(x)
    first = model.energy
    model.w = 3.0 * x
    return first * model.energy + np.sum(model.w)


@program(args=vector)
def fields_in_a_list(x):
    fields = ["lower_bound", "upper_bound"]
    Bounds = namedtuple("Bounds", fields)
    bounds = Bounds(np.min(x), np.max(x) ** 2)
    return bounds.lower_bound * bounds.upper_bound + sum(bounds)
