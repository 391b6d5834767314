"""Calls: every kind of parameter, functions as values, partial, reduce, map, decorators."""

import functools
import itertools
from functools import partial, reduce

import numpy as np

from tests.bank.registry import program


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) * 2.0

    return wrapper


@logged
def doubled_area(r, h=2.0):
    return r * r * h


def mix(a, b=2.0, *rest, scale=1.0, **options):
    total = a * b
    for r in rest:
        total = total + r * scale
    return total * options.get("gain", 1.0)


def ordered(a, b, /, c, *, d):
    return a - 2 * b + c * d


@program(args=lambda rng: (0.3, 0.8), wrt=(0, 1))
def every_parameter_kind(x, y):
    plain = mix(x)
    named = mix(b=x, a=y**2)
    many = mix(x, y, x * y, y, scale=x, gain=y)
    packed = [x, y]
    spread = mix(*packed, x, **{"scale": 2.0, "gain": x})
    return plain + named * many + spread * ordered(x, y, c=x, d=y)


@program(args=lambda rng: (rng.normal(size=3),), tags={"second"})
def function_as_argument(x):
    def apply_twice(f, v):
        return f(f(v))

    return np.sum(apply_twice(np.sin, x) * apply_twice(lambda v: v * v + 0.1, x))


@program(args=lambda rng: (0.6, 1.2), wrt=(0, 1))
def partials(x, y):
    scaled = partial(mix, y, scale=x)
    powered = partial(pow, x)
    return scaled(x, y, y) * powered(2) + partial(np.multiply, x)(y)


@program(args=lambda rng: (rng.normal(size=4), 0.5), wrt=(0, 1))
def reduced(x, t):
    total = reduce(lambda a, b: a * t + b, x)
    product = reduce(np.multiply, [x, x + 1.0, x * t], t)
    return total * np.sum(product)


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=4)), wrt=(0, 1))
def mapped(x, y):
    squares = list(map(lambda v: v**2, x))
    products = map(lambda a, b: a * b, x, y)
    positive = [v for v in filter(lambda v: v > -100.0, y)]
    return sum(squares) * sum(products) + sum(positive)


@program(args=lambda rng: (rng.normal(size=4),))
def itertools_used(x):
    total = 0.0
    for i, j in itertools.combinations(range(4), 2):
        total += (x[i] - x[j]) ** 2
    for a, b in itertools.product(x[:2], x[2:]):
        total *= 1.0 + 0.1 * a * b
    for i, v in zip(itertools.count(1), itertools.chain(x, [2.0])):
        total += v / i
    return total


@program(args=lambda rng: (0.6,))
def decorated_helper(r):
    return doubled_area(r) + doubled_area(r, h=r**2)


program(args=lambda rng: (0.6, 1.1), wrt=(0, 1), name="decorated_program")(doubled_area)
program(args=lambda rng: (0.6, 1.1), wrt=(0, 1), name="partial_program", topic="functions")(partial(mix, 0.5, gain=3.0))


@program(args=lambda rng: (rng.normal(size=3), "sine"))
def dispatch_table(x, key):
    table = {"sine": np.sin, "square": lambda v: v**2, "scaled": partial(np.multiply, 3.0)}
    y = table[key](x)
    for f in (np.cos, np.tanh, table["scaled"]):
        y = f(y) + x
    return np.sum(y)


@program(args=lambda rng: (rng.normal(size=3), 0.8), wrt=(0, 1))
def mutable_default_read(x, t, kernel=[0.25, 0.5, 0.25], names={"gain": 2.0}):
    total = 0.0
    for k, v in zip(kernel, x):
        total = total + k * v * names["gain"]
    return total * t


@program(args=lambda rng: (0.3, 0.7, 0.9), wrt=(0, 2))
def varargs_program(first, *rest, power=2):
    return first * sum(r**power for r in rest)


@program(args=lambda rng: (rng.uniform(0.5, 1, size=3),))
def function_chosen_by_data(x):
    def smooth(v):
        return v**2

    def rough(v):
        return np.log(v)

    total = 0.0
    for v in x:
        f = smooth if v > 0.75 else rough
        total = total + f(v)
    return total


@program(args=lambda rng: (rng.normal(size=3),))
def multiple_results(x):
    def stats(a):
        m = a.mean()
        return m, ((a - m) ** 2).mean(), {"last": a[-1]}

    m, v, extra = stats(x)
    _, second, _ = stats(x * m)
    return m * v + extra["last"] * second


@program(args=lambda rng: (0.7,))
def local_import(x):
    import math

    from numpy import tanh as squash

    return math.exp(-x) * squash(x) * math.pi


@program(args=lambda rng: (rng.normal(size=4),))
def helper_called_with_different_shapes(x):
    def energy(v):
        return np.sum(v * v) if np.ndim(v) else v**3

    return energy(x) * energy(x[0]) + energy(np.outer(x, x)) + energy(x[1:])


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += (4 if i % 2 else 2) * f(a + i * h)
    return total * h / 3


@program(args=lambda rng: (0.2, 1.4, 0.8), wrt=(0, 1, 2), tags={"second"})
def quadrature(a, b, k):
    return simpson(lambda t: np.exp(-k * t * t), a, b, 8)


@program(args=lambda rng: (rng.normal(size=3),))
def overwritten_argument(x):
    def normalised(v):
        v = v / np.sqrt(np.sum(v**2))
        v = v * v
        return v

    return np.sum(normalised(x) * x)


@program(args=lambda rng: (0.9, 1.1), wrt=(1, 0))
def positions_out_of_order(x, y):
    return x**2 * np.log(y)


@program(args=lambda rng: (rng.normal(size=3), 1.0, rng.normal(size=2)), wrt=(0, 1, 2))
def unused_arguments(x, t, z):
    return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=3),))
def constant_result(x):
    return 3.5


def scaled_difference(a, b, factor):
    return (a - b) * factor


@program(args=lambda rng: (rng.uniform(0.3, 1.7, size=5),))
def unpacked_into_parameters(x):
    spread = np.subtract(*np.percentile(x, [75, 25]))
    return spread * scaled_difference(*x[:3]) + (lambda a, b: a * b)(*x[3:])


@program(args=lambda rng: (rng.uniform(0.3, 1.7, size=4),))
def sets_of_numbers(x):
    chosen = {k for k in {1, 2, 3} if k > 1}
    items = [x[k] * k for k in sorted(chosen)]
    return sum(items) * sum(chosen)


def dtype_of_a_number(x):
    return (x * 0.5).dtype


@program(args=lambda rng: (rng.normal(size=3),))
def dtype_from_a_helper(x):
    total, largest = np.sum(x), np.max(x)
    scaled = np.zeros(3, dtype_of_a_number(total))
    scaled[:] = x * total
    shifted = np.ones(3, dtype_of_a_number(largest))
    shifted += x * largest
    return np.sum(scaled * shifted)
