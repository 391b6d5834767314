"""Functions in lists and dicts, told by an index or a key at run time; dicts by their keys."""

import enum
import math

import numpy as np

from tests.bank.registry import program


def vector(rng):
    return (rng.uniform(0.3, 1.7, size=6),)


class Kind(enum.Enum):
    RELU = "relu"
    TANH = "tanh"


def relu(z):
    return np.maximum(z, 0.2)


ACTIVATIONS = {Kind.RELU: relu, Kind.TANH: np.tanh}
BY_NAME = {"sin": math.sin, "cos": math.cos, "square": lambda v: v * v}
WEIGHTS = {"a": 2.0, "b": 3.0}
COUNTS = {Kind.RELU: 2.0, Kind.TANH: 3.0}
OPERATIONS = (np.sin, np.cos, np.tanh)


@program(vector, tags={"second"})
def function_by_its_place(x):
    operations = [np.sin, np.cos, np.tanh]
    total = 0.0
    for k, v in enumerate(x):
        total += operations[k % 3](v) * operations[-1 - k % 2](v)
    return total * OPERATIONS[len(x) - 5](x[2])


@program(vector, tags={"second"})
def function_by_its_name(x):
    total = 1.0
    for name, v in zip(["sin", "cos", "square"] * 2, x):
        total = total * 0.5 + BY_NAME[name](v)
    return total


@program(lambda rng: ([rng.normal(size=(3, 4)), rng.normal(size=(4, 2))], rng.normal(size=(5, 3))), wrt=(0, 1))
def activation_of_each_layer(weights, x):
    h = x
    for w, kind in zip(weights, [Kind.TANH, Kind.RELU]):
        h = ACTIVATIONS[kind](h @ w)
    return np.sum(h**2)


@program(vector)
def number_by_its_name(x):
    COUNTS[Kind.RELU] = 2.0
    counts = dict(COUNTS)
    counts[Kind.TANH] = x[1]
    total = sum(counts.values())
    for kind in Kind:
        total = total * COUNTS[kind]
    for kind, v in zip([Kind.TANH, Kind.RELU], x):
        total += counts[kind] * v * COUNTS[kind]
    for name, v in zip(["a", "b", "a"], x):
        total += WEIGHTS[name] * v**2
    return total


@program(vector)
def closures_by_number(x):
    def times(v):
        return v * x[0]

    def plus(v):
        return v + x[1]

    functions = {0: times, 1: plus, 5: lambda v: v**2}
    v = x[2]
    for k in [0, 1, 5, 1, 0]:
        v = functions[k](v)
    try:
        return [times, plus][int(np.argmax(x)) + 7](v)
    except IndexError:
        return v * x[3]


@program(vector)
def best_key(x):
    prices = {"a": x[0], "b": x[1], "c": x[2]}
    best = max(prices, key=prices.get)
    worst = min(prices, key=lambda k: prices[k])
    total = prices[best] ** 2 * prices[worst]
    for k in sorted(prices, key=prices.get, reverse=True):
        total = total * 0.5 + prices[k]
    first, second, third = prices
    return total * prices[first] + prices[second] * prices[third]


@program(vector)
def best_key_of_a_table(x):
    sums = {}
    for i, v in enumerate(x):
        sums[i % 3] = sums.get(i % 3, 0.0) + v * v
    k, v = max(sums.items(), key=lambda pair: pair[1])
    return sums[max(sums, key=sums.get)] * v + sum(sums) * x[0] + sorted(sums)[1] * x[k]


@program(lambda rng: (np.array([1.1, -2.0, 0.5, -0.3]), np.array([2.0, 0.0, 1.0, 0.0])), tags={"second"})
def masked_division(x, n):
    y = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    z = np.log(x, out=np.full_like(x, -1.0), where=x > 0)
    np.divide(y, n, out=y, where=n != 0)
    np.arctanh(x, out=y, where=np.abs(x) < 0.9)
    m = np.array([[2.0, 0.0], [0.0, 4.0]])
    r = np.divide(x[:2], m, out=np.zeros((2, 2)), where=m != 0)
    return np.sum(y**2) + np.sum(z * np.sqrt(x, where=x > 0, out=np.zeros_like(x))) + np.sum(r**2)
