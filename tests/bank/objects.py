"""Classes: methods, properties, inheritance, operators, dataclasses, objects as arguments."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

import numpy as np

from tests.bank.registry import program


@dataclass
class Body:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0

    def kinetic(self):
        return 0.5 * self.mass * np.sum(self.velocity**2)

    @property
    def momentum(self):
        return self.mass * self.velocity


@dataclass(frozen=True)
class Settings:
    rate: float
    scales: list = field(default_factory=list)


class Dual:
    """First-order forward mode, the operator-overloading classic."""

    def __init__(self, value, slope=0.0):
        self.value = value
        self.slope = slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    __rmul__ = __mul__

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __sub__(self, other):
        return self + -other

    def __lt__(self, other):
        return self.value < other


class Shape:
    factor = 2.0

    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size**2

    def scaled(self, k):
        return self.factor * k * self.area()

    @staticmethod
    def unit(x):
        return x / (1.0 + x * x)

    @classmethod
    def double(cls, size):
        return cls(cls.factor * size)


class Circle(Shape):
    def __init__(self, size, shift):
        super().__init__(size)
        self.shift = shift

    def area(self):
        return np.pi * super().area() + self.shift


class Accumulator:
    def __init__(self):
        self.total = 0.0
        self.history = []

    def __call__(self, value):
        self.total += value
        self.history.append(self.total * value)
        return self

    def __len__(self):
        return len(self.history)

    def __getitem__(self, i):
        return self.history[i]


class Grid:
    def __init__(self, values):
        self.values = values.copy()
        self.steps = 0

    def step(self, rate):
        v = self.values
        v[1:-1] += rate * (v[:-2] - 2 * v[1:-1] + v[2:])
        self.steps += 1

    def __iadd__(self, other):
        self.values += other
        return self

    def __matmul__(self, other):
        return self.values @ other.values


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        y = 0.0
        for c in self.coefficients[::-1]:
            y = y * x + c
        return y


class Box:
    scale = 2.0


class Activation(enum.Enum):
    TANH = "tanh"
    SINE = "sine"


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3), 1.4), wrt=(0, 1, 2))
def dataclass_inside(x, v, m):
    body = Body(x, v, mass=m)
    for _ in range(3):
        body.velocity = body.velocity - 0.1 * np.sin(body.position)
        body.position = body.position + 0.1 * body.velocity
        body.mass *= 1.1
    return body.kinetic() + np.sum(body.momentum * body.position)


@program(args=lambda rng: (Body(rng.normal(size=3), rng.normal(size=3), 1.4), 0.3), wrt=(0, 1))
def dataclass_argument(body, dt):
    position = body.position + dt * body.velocity
    return body.kinetic() - 1.0 / np.sqrt(np.sum(position**2)) * body.mass


@program(args=lambda rng: (Body(rng.normal(size=2), rng.normal(size=2)), 4), tags={"in_argument", "inplace"})
def dataclass_argument_written(body, steps):
    for _ in range(steps):
        body.velocity -= 0.1 * body.position * body.mass
        body.position = body.position + 0.1 * body.velocity
        body.mass = body.mass * 0.9
    return np.sum(body.position**2)


@program(args=lambda rng: ([Body(rng.normal(size=2), rng.normal(size=2), m) for m in (1.0, 2.0)],))
def list_of_objects(bodies):
    total = 0.0
    for body in bodies:
        total = total + body.kinetic()
    gap = bodies[0].position - bodies[1].position
    return total - bodies[0].mass * bodies[1].mass / np.linalg.norm(gap)


@program(args=lambda rng: (Settings(0.4, [0.5, 1.5]), rng.normal(size=3)), wrt=(0, 1))
def frozen_dataclass(settings, x):
    other = replace(settings, rate=settings.rate**2)
    y = x
    for scale in settings.scales:
        y = np.tanh(scale * y + other.rate)
    return np.sum(y) * settings.rate


@program(args=lambda rng: (0.7, 1.2), wrt=(0, 1))
def operator_overloading(x, y):
    a = Dual(x, 1.0)
    b = a * a * 3.0 - 2.0 * a + y
    if b < 100.0:
        b = b * a
    return b.slope * b.value


@program(args=lambda rng: (0.7, 0.2, 1.5), wrt=(0, 1, 2))
def inheritance_and_super(size, shift, k):
    shapes = [Circle(size, shift), Shape(size * k), Shape.double(shift)]
    total = 0.0
    for shape in shapes:
        total += shape.scaled(k)
        if isinstance(shape, Circle):
            total *= Shape.unit(shape.size)
    return total


@program(args=lambda rng: (rng.normal(size=4),))
def callable_object(x):
    acc = Accumulator()
    for v in x:
        acc(v)
    acc(x[0])(x[1] ** 2)
    return acc.total * acc[-1] + acc[0] * len(acc)


@program(args=lambda rng: (rng.normal(size=6), 0.2), wrt=(0, 1), tags={"inplace"})
def object_with_array(u, rate):
    grid = Grid(u)
    other = Grid(u * u)
    for _ in range(3):
        grid.step(rate)
        grid += 0.01 * other.values
    other.step(rate**2)
    return grid @ other * grid.steps


@program(args=lambda rng: (Polynomial(rng.normal(size=4)), 0.8), wrt=(0, 1))
def object_argument(p, x):
    return p(x) * p(x * x) + p.coefficients[0]


@program(args=lambda rng: (rng.normal(size=3), Activation.SINE))
def enum_switch(x, activation):
    if activation is Activation.TANH:
        y = np.tanh(x)
    elif activation == Activation.SINE:
        y = np.sin(x)
    else:
        raise ValueError(activation)
    return np.sum(y * len(activation.value))


class Oscillator:
    def __init__(self, stiffness, damping):
        self.stiffness = stiffness
        self.damping = damping
        self._energy = None

    def acceleration(self, x, v):
        return -self.stiffness * x**3 - self.damping * v

    def simulate(self, x, steps=5):
        v = 0.0
        for _ in range(steps):
            v = v + 0.1 * self.acceleration(x, v)
            x = x + 0.1 * v
        self._energy = 0.5 * v**2
        return x * x + self._energy


program(args=lambda rng: (1.3,), name="bound_method", tags={"second"})(Oscillator(0.8, 0.1).simulate)
program(args=lambda rng: (0.4,), name="callable_instance")(Polynomial([0.3, -1.0, 2.0]))


@program(args=lambda rng: (0.8, 0.1, 1.3), wrt=(0, 1, 2))
def object_made_inside(stiffness, damping, x):
    return Oscillator(stiffness, damping).simulate(x, steps=4)


@program(args=lambda rng: (rng.normal(size=3),))
def attributes_by_name(x):
    box = Box()
    for i, name in enumerate(("a", "b", "c")):
        setattr(box, name, x[i] * box.scale)
    box.scale = box.a * 2.0
    return getattr(box, "b") * box.scale + getattr(box, "missing", 1.0) * box.c


class Layer:
    """Its state begins in its methods: what it was given, and its gradients."""

    def __init__(self, weights):
        self.weights = weights * 1.0

    def forward(self, x):
        self.given = x
        self.result = np.tanh(x @ self.weights)
        return self.result

    def backward(self, d):
        d = d * (1 - self.result**2)
        self.slope = self.given.T @ d / len(d)
        return d @ self.weights.T


@program(lambda rng: (rng.normal(size=(3, 2)), 0.5 * rng.normal(size=(2, 4)), 0.5 * rng.normal(size=(4, 1)), 0.3))
def epochs_of_layers_in_a_list(x, first, second, rate):
    layers, losses = [Layer(first), Layer(second)], []
    for _ in range(3):
        result = x
        for layer in layers:
            result = layer.forward(result)
        losses.append(np.mean((result - 1.0) ** 2))
        d = result - 1.0
        for layer in reversed(layers):
            d = layer.backward(d)
        for layer in layers:
            layer.weights -= rate * layer.slope
    return losses[-1] + np.sum(layers[0].weights)
