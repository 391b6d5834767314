"""Calls with ``*items`` whose number only the run tells, and stacks of tuples."""

import functools
import math
from collections import deque, namedtuple

import numpy as np

from tests.bank.registry import program

Point = namedtuple("Point", "x y")


def vector(rng):
    return (rng.normal(size=5),)


def points(rng):
    return (rng.normal(size=(8, 2)),)


def cross(o, a, b):
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)


@program(args=points)
def convex_hull(points):
    ordered = sorted((Point(*p) for p in points), key=lambda p: (p.x, p.y))

    def half(points):
        hull = []
        for p in points:
            while len(hull) >= 2 and cross(hull[-2], hull[-1], p) <= 0:
                hull.pop()
            hull.append(p)
        return hull

    lower, upper = half(ordered), half(ordered[::-1])
    hull = lower[:-1] + upper[:-1]
    area = 0.0
    for a, b in zip(hull, hull[1:] + hull[:1]):
        area += a.x * b.y - b.x * a.y
    return 0.5 * area + sum(math.dist(a, b) for a, b in zip(hull, hull[1:] + hull[:1]))


@program(args=vector)
def starred_arguments(x):
    first, *middle, last = x
    items = [first * last, *middle]

    def weigh(p, q, *rest, scale=1.0, **named):
        return p * q + sum(rest) * scale + sum(named.values()) * len(rest)

    return weigh(*items[:2], last, scale=first, u=last) + weigh(1.0, *items) + weigh(*x, scale=2.0)


@program(args=vector)
def starred_lambda(x):
    total = (lambda *a, k=2, **named: sum(a) * k + sum(named.values()))(*x[:2], k=x[2], z=x[3])
    return total * max(0.1, *x[2:]) + min(*x, 0.5) + math.atan2(*x[:2])


@program(args=vector)
def starred_forwarding(x):
    def logged(f):
        @functools.wraps(f)
        def wrapper(*args, **named):
            print(len(args), *args)
            return f(*args, **named)

        return wrapper

    @logged
    def polynomial(t, *coefficients):
        return sum(c * t**k for k, c in enumerate(coefficients))

    return polynomial(0.5, *x) + polynomial(*x[:3]) * x[4]


class Quadratic:
    def __init__(self, a, b, c):
        self.a, self.b, self.c = a, b, c

    def __call__(self, t, u):
        return self.a * t**2 + self.b * t * u + self.c


@program(args=vector)
def starred_constructor(x):
    q = Quadratic(*x[:3])
    swapped = (*x[::-1], 1.0)
    return q(*x[3:]) + Quadratic(x[0], *x[3:])(*swapped[:2]) + len(swapped) * swapped[0]


@program(args=vector)
def monotone_stack(x):
    stack = []
    for i, v in enumerate(x):
        while stack and stack[-1][0] > v:
            stack.pop()
        stack.append((v, i, (v * v, 2.0)))
    return sum(a * (i + 1) + c[0] for a, i, c in stack)


@program(args=vector)
def queue_of_pairs(x):
    queue = deque(maxlen=4)
    for v in x:
        queue.append((v, np.array([v, 2 * v])))
        if len(queue) == queue.maxlen - 1:
            queue.popleft()
    return sum(a * b.sum() for a, b in queue)


@program(args=vector)
def stack_read_in_part(x):
    stack = [(0.0, 1.0)]
    total = 0.0
    for v in x:
        stack.append((v, v**2))
        if v > 0.3:
            a, _ = stack.pop()
            total += a * stack[-1][1]
        elif v < -1:
            _, b = stack.pop(0)
            total += b
    return total


@program(args=lambda rng: (rng.normal(size=4), 3.0), wrt=(0, 1))
def python_number_beside_numpys(x, k):
    out = [k, x[0]]
    out[0] = out[0] * x[1]
    out[1] = k
    powers = [k]
    while len(powers) < 4:
        powers.append(powers[-1] * x[len(powers)])
    same = [k] * 3
    same[1] = x[0]
    return out[0] * out[1] + sum(powers) + same[0] * same[1]


@program(args=vector)
def text_of_numbers(x):
    total = 0.0
    for v in x:
        text = "{:+.2f} {}".format(v, "big" if abs(v) > 1 else "small")
        total += v * len(text)
    print("; ".join("{:.3f}".format(v) for v in x))
    return total


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=4),))
def unpacked_iterators(x):
    first, *rest = map(math.sin, x)
    norm = math.hypot(1.0, *x) + math.hypot(*(v * v for v in rest))
    largest = max(*(v * v for v in x), 0.1) + np.sum(np.array([*map(math.exp, x), 1.0]))
    return first * norm + largest + math.prod(x, start=2.0) + sum([[v, v * v] for v in x], [1.0])[2]


def peaks(x, *params):
    y = np.zeros_like(x)
    for i in range(0, len(params), 3):
        center, height, width = params[i : i + 3]
        y = y + height * np.exp(-(((x - center) / width) ** 2))
    return y


@program(args=lambda rng: (rng.normal(size=7), rng.uniform(0.5, 1.5, size=6)), wrt=(0, 1))
def sum_of_peaks(x, p):
    two = peaks(x, p[0], 1.2, p[1], *p[:3])
    return np.sum(two * peaks(x, *p)) + np.sum(peaks(x, *(v * v for v in p[3:])) ** 2)
