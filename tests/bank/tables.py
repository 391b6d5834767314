"""Objects of which only the run tells one from another: in lists, linked to each other, one of several."""

import copy
from dataclasses import dataclass, field, replace

import numpy as np

from tests.bank.registry import program


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def dot(self, other):
        return self.x * other.x + self.y * other.y


class Body:
    G = 0.3

    def __init__(self, place, speed, mass):
        self.place = place
        self.speed = speed
        self.mass = mass

    def attracted_by(self, other):
        way = other.place - self.place
        self.speed = self.speed + way * (self.G * other.mass / (way.dot(way) + 0.5))


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.uniform(0.5, 1, size=4), 4), wrt=(0, 1), tags={"second"})
def bodies_in_a_list(states, masses, n):
    bodies = []
    for k in range(n):
        x, y, u, v = states[k]
        bodies.append(Body(Vector(x, y), Vector(u, v), masses[k]))
    for _ in range(3):
        for one in bodies:
            for other in bodies:
                if one is not other:
                    one.attracted_by(other)
        for one in bodies:
            one.place = one.place + 0.1 * one.speed
    return sum(body.place.dot(body.speed) * body.mass for body in bodies)


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.uniform(0.5, 1, size=4)), wrt=(0, 1, 2), tags={"second"})
def bodies_moved_in_place(places, speeds, masses):
    bodies = [Body(p.copy(), v.copy(), m) for p, v, m in zip(places, speeds, masses)]
    for _ in range(3):
        for one in bodies:
            pull = np.zeros(3)
            for other in bodies:
                if one is not other:
                    way = other.place - one.place
                    pull += other.mass * way / (way @ way + 0.1) ** 1.5
            one.speed += 0.1 * pull
        for one in bodies:
            one.place += 0.1 * one.speed
    return sum(0.5 * b.mass * np.sum(b.speed**2) for b in bodies)


@dataclass
class Particle:
    x: float
    v: float
    trail: list = field(default_factory=list)

    @property
    def energy(self):
        return 0.5 * self.v**2 + self.x

    def step(self, dt):
        self.x += dt * self.v
        self.trail.append(self.x)


@program(args=lambda rng: (rng.normal(size=5) + 1, 7))
def particles_with_trails(x, n):
    particles = []
    for i in range(n):
        if x[i % 5] > 0.2:
            particles.append(Particle(x[i % 5], 0.1 * i))
    for p in particles:
        for k in range(2):
            p.step(0.1 * x[k])
    particles[0].v = particles[-1].x ** 2
    best = max(particles, key=lambda p: p.x)
    best.x *= 3
    particles.sort(key=lambda p: p.v)
    return sum(p.energy * p.x + sum(p.trail) for p in particles)


@dataclass
class Weights:
    w: np.ndarray
    uses: int = 0


@program(args=lambda rng: (rng.normal(size=(4, 3)), 6))
def objects_with_arrays(x, n):
    layers = [Weights(x[i % 4] * (i + 1)) for i in range(n)]
    for i, layer in enumerate(layers):
        layer.w[0] = layer.w[1] * 2
        layer.w *= 1.5
        layer.uses += i
    first = layers[0]
    first.w = first.w + layers[n - 1].w
    return sum(np.sum(layer.w**2) * layer.uses for layer in layers) + np.sum(layers[0].w)


@program(args=lambda rng: (rng.normal(size=5),))
def names_of_one_object(x):
    particles = []
    for v in x:
        particles.append(Particle(v, v))
    first = particles[0]
    other = particles[-1] if x[0] > 0 else particles[0]
    first.x = 5.0 * x[1]
    other.v = first.x * 2
    particles[2], particles[3] = particles[3], particles[2]
    particles[2].x = x[0]
    return sum(p.x * p.v for p in particles) + (first is other) * 2.0


@program(args=lambda rng: (rng.normal(size=4),), tags={"second"})
def one_of_two_objects(x):
    a, b = Particle(x[0], x[1]), Particle(x[2], x[3])
    chosen = a if x[0] > x[2] else b
    chosen.x = chosen.x * 2
    other = b if chosen is a else a
    other.v += chosen.x
    return a.x * a.v + b.x * b.v + chosen.v


@program(args=lambda rng: (rng.normal(size=4), 4))
def copies_of_objects(x, n):
    particles = [Particle(x[i], 2.0) for i in range(n)]
    twin, changed, same = copy.copy(particles[1]), replace(particles[2], v=x[0]), particles[3]
    twin.x = twin.x * 3
    changed.x += 1.0
    same.x = x[1] * 5
    return sum(p.x**2 * p.v for p in [*particles, twin, changed])


class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


@program(args=lambda rng: (rng.normal(size=6),), tags={"second"})
def linked_list(x):
    head = None
    for v in x:
        head = Node(v, head)
    total, node, k = 0.0, head, 1
    while node is not None:
        total += k * node.value**2
        if node.left:
            node.left.value += 0.1 * node.value
        node = node.left
        k += 1
    return total


@program(args=lambda rng: (rng.normal(size=6),))
def search_tree(x):
    root = Node(x[0])
    for v in x[1:]:
        node = root
        while True:
            if v < node.value:
                if node.left is None:
                    node.left = Node(v)
                    break
                node = node.left
            else:
                if node.right is None:
                    node.right = Node(v)
                    break
                node = node.right
    stack, total, k = [root], 0.0, 1
    while stack:
        node = stack.pop()
        total += k * node.value**2
        k += 1
        if node.left:
            stack.append(node.left)
        if node.right:
            stack.append(node.right)
    return total


class Chain:
    def __init__(self, value):
        self.value = value
        self.before = None


@program(args=lambda rng: (rng.normal(size=4), 5), tags={"second"})
def history(x, n):
    now = Chain(x[0])
    for i in range(n):
        following = Chain(now.value * x[i % 4] + 0.1)
        following.before = now
        now = following
    total = 0.0
    while now is not None:
        total += now.value**2
        now = now.before
    return total


@program(args=lambda rng: (rng.normal(size=4), 3))
def objects_by_name(x, n):
    table = {}
    for i in range(n):
        table[f"p{i}"] = Particle(x[i], x[i + 1])
    table["p1"].x = x[0] * 2
    return sum(p.x * p.v for p in table.values()) + table[f"p{n - 1}"].x


def weighed(node, depth):
    if node is None:
        return 0.0
    return depth * node.value**2 + weighed(node.left, depth + 1) * node.value + weighed(node.right, depth + 2)


@program(args=lambda rng: (rng.normal(size=7),))
def tree_built_by_recursion(x):
    def build(low, high):
        if low >= high:
            return None
        middle = (low + high) // 2
        return Node(x[middle], build(low, middle), build(middle + 1, high))

    return weighed(build(0, len(x)), 1)


class Traced:
    def __init__(self, value, parents=None):
        self.value = value
        self.parents = [] if parents is None else parents
        self.slope = 0.0

    def __mul__(self, other):
        return Traced(self.value * other.value, [(self, other.value), (other, self.value)])

    def __add__(self, other):
        return Traced(self.value + other.value, [(self, 1.0), (other, 1.0)])


@program(args=lambda rng: (rng.normal(size=3),))
def tape_of_objects(x):
    def back(node, slope):
        node.slope += slope
        for parent, factor in node.parents:
            back(parent, slope * factor)

    a, b, c = Traced(x[0]), Traced(x[1]), Traced(x[2])
    y = a
    for _ in range(3):
        y = y * b + c
    back(y, 1.0)
    return a.slope * b.slope + c.slope


ROUGHNESS = {
    "steel, bare": (0.3, (1.2, 2.0)),
    "steel (lined)": (0.2, (0.7, 3.0)),
    "class": (0.1, (0.4, 1.5)),
    "7732-18-5": (0.5, (0.6, 2.5)),
}


@program(lambda rng: (1.3, "steel (lined)"))
def table_by_text(d, name):
    plain, (a, b) = ROUGHNESS[name]
    total = a * d ** (b + 1.0) + plain * d
    for other in ("class", "7732-18-5", "steel, bare"):
        total = total + ROUGHNESS[other][0] * d * total
    return total


class Disc:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return np.pi * self.radius**2

    def grow(self, factor):
        self.radius = self.radius * factor


class Box:
    sides = 4.0

    def __init__(self, width, height):
        self.width, self.height = width, height

    def area(self):
        return self.width * self.height

    def grow(self, factor):
        self.width *= factor


class Ring(Disc):
    def __init__(self, radius, hole):
        super().__init__(radius)
        self.hole = hole

    def area(self):
        return super().area() - np.pi * self.hole**2


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=5),), tags={"second"})
def shapes_of_several_classes(x):
    shapes = []
    for i, v in enumerate(x):
        if i % 2:
            shapes.append(Disc(v))
        else:
            shapes.append(Box(v, 1.0 + v) if v > 0.6 else Ring(v, 0.5 * v))
    total = 0.0
    for shape in shapes:
        shape.grow(1.5)
        total = 0.9 * total + shape.area()
        if isinstance(shape, Box):
            total = total + shape.height * shape.sides
        elif isinstance(shape, Disc):
            total = total + shape.radius**3
    return total + max(shapes, key=lambda shape: shape.area()).area()


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=4),))
def one_of_two_shapes(x):
    first = Disc(x[0])
    shape = first if x[1] > 0.8 else Box(x[2], x[3])
    shape.grow(x[1])
    same = 2.0 if shape is first else 3.0
    return shape.area() * same + first.area()


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, other):
        if isinstance(other, Point):
            return Point(self.x * other.x, self.y * other.y)
        return Point(self.x * other, self.y * other)


class Wall:
    def __init__(self, centre, colour):
        self.centre, self.colour = centre, colour

    def reached_from(self, point):
        distance = self.centre.x - point.x
        return distance if distance > 0 else None


def seen_from(point, walls, depth):
    nearest, wall = np.inf, None
    for candidate in walls:
        distance = candidate.reached_from(point)
        if distance is not None and distance < nearest:
            nearest, wall = distance, candidate
    if not wall:
        return Point(0.2, 0.1)
    colour = wall.colour * Point(0.9, 1.1)
    if depth < 3:
        behind = seen_from(wall.centre * 1.01, walls, depth + 1)
        colour = colour + behind * wall.colour * 0.3
    return colour * (1.0 + nearest)


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=3),), tags={"second"})
def nearest_of_objects_in_objects(x):
    walls = [Wall(Point(x[0], x[1]), Point(x[1], 0.5)), Wall(Point(2.0, 0.2), Point(x[2], x[0]))]
    seen = seen_from(Point(0.1, x[2]), walls, 0)
    return seen.x + 2.0 * seen.y


@dataclass
class Layer:
    thickness: float
    conductivity: float


def layer_at(layers, share):
    return layers[min(int(share * len(layers)), len(layers) - 1)]


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=3), {"cells": 7, "layers": [{"thickness": 0.4}] * 3}), wrt=(0,))
def objects_added_in_a_loop_and_taken_by_a_number_of_the_run(x, config):
    layers = []
    for k, entry in enumerate(config["layers"]):
        layer = Layer(**entry, conductivity=0.1)
        if k == 1:
            layer.conductivity = x[0]
        layers.append(layer)
    resistance = np.zeros(config["cells"])
    for i in range(config["cells"]):
        layer = layer_at(layers, (i + 0.5) / config["cells"])
        resistance[i] = layer.thickness / layer.conductivity
    return np.sum(resistance**2 * x[1]) + x[2]
