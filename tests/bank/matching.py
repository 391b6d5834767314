"""`match` statements."""

from dataclasses import dataclass

import numpy as np

from tests.bank.registry import program


@dataclass
class Sphere:
    radius: float


@dataclass
class Cuboid:
    a: float
    b: float
    c: float = 1.0


def volume(shape):
    match shape:
        case Sphere(radius=r):
            return 4 / 3 * np.pi * r**3
        case Cuboid(a, b, c) if a > 100:
            return a * b * c * 0.0
        case Cuboid(a, b, c):
            return a * b * c
        case _:
            raise TypeError(shape)


def evaluate(tree, x):
    match tree:
        case "x":
            return x
        case int() | float():
            return tree
        case ("add", left, right):
            return evaluate(left, x) + evaluate(right, x)
        case ("mul", left, right):
            return evaluate(left, x) * evaluate(right, x)
        case ("sin", inner):
            return np.sin(evaluate(inner, x))


@program(args=lambda rng: (0.6, "quadratic"))
def match_literal(x, kind):
    match kind:
        case "linear":
            y = x
        case "quadratic" | "square":
            y = x**2
        case _:
            y = 0.0
    return np.sin(y)


@program(args=lambda rng: (0.6, 1.2, 0.9), wrt=(0, 1, 2))
def match_classes(r, a, b):
    total = 0.0
    for shape in (Sphere(r), Cuboid(a, b), Cuboid(a, b, c=r)):
        total = total * 0.5 + volume(shape)
    return total


@program(args=lambda rng: (0.6,))
def expression_tree(x):
    tree = ("add", ("mul", "x", ("sin", ("mul", 2, "x"))), ("mul", 0.5, ("mul", "x", "x")))
    return evaluate(tree, x)


@program(args=lambda rng: (rng.normal(size=4),))
def match_sequence(x):
    def total(values):
        match values:
            case []:
                return 0.0
            case [one]:
                return one**2
            case [first, *rest]:
                return first * 2.0 + total(rest) * 0.9

    return total(list(x)) * total([]) + total([x[0]])


@program(args=lambda rng: ({"kind": "spring", "k": 2.0, "rest": 0.3}, 0.8), wrt=(1,))
def match_mapping(law, x):
    match law:
        case {"kind": "spring", "k": k, "rest": rest}:
            energy = 0.5 * k * (x - rest) ** 2
        case {"kind": "gravity", "g": g}:
            energy = g * x
        case {}:
            energy = 0.0
    return energy


@program(args=lambda rng: (rng.normal(size=5),))
def match_in_loop(x):
    total = 1.0
    for i, v in enumerate(x):
        match (i % 3, v > 50):
            case (0, False):
                total = total + v
            case (1, _):
                total = total * v
            case (k, False) if k == 2:
                total = total - v**2
    return total


@program(args=lambda rng: (0.9, 1.4), wrt=(0, 1))
def match_captures_and_guards(x, y):
    match (x, y):
        case (a, b) if a > b:
            return a / b
        case (a, b) as pair if a * b > 1.0:
            return b**2 * a + pair[0]
        case (0, _) | (_, 0):
            return 0.0
    return x
