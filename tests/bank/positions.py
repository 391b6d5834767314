"""Positions and lengths that the program works out: from letters, draws, sorted keys, settings; tuples as long as these."""

import json
import random

import numpy as np

from tests.bank.registry import program

SETTINGS = json.loads('{"row": 1, "rows": [0, 2], "scale": 1.5}')


class Layout:
    def __init__(self, **named):
        self.__dict__.update(named)


LAYOUT = Layout(rows=[0, 2], mask=[True, False, True])


def matrix(rng):
    return (rng.normal(size=(3, 3)),)


def vector(rng):
    return (rng.normal(size=5),)


def sample(rng):
    return (rng.normal(size=7),)


@program(args=matrix)
def rows_by_letters(a):
    row = a["xyz".index("y")]
    row *= 2
    for letter in "zx":
        column = a[:, ord(letter) - ord("x")]
        column += a["xyz".find("y")] * 0.5
    last = a[..., int("2")]
    a[1] = 3.0 * a[0]
    return np.sum(a**2) + last @ row


@program(args=matrix)
def normalised_by_letters(a):
    alpha = a[:, "abc".index("b")] ** 2 + 1.0
    for letter in "ab":
        alpha /= alpha.sum()
        alpha = (alpha @ a) ** 2 * a[:, "abc".index(letter)] ** 2 + 0.1
    return np.log(alpha.sum())


@program(args=matrix)
def rows_by_draws(a):
    drawn = random.Random(3)
    i = drawn.randrange(3)
    row = a[i]
    row *= 1 + drawn.random()
    column = a[:, drawn.randint(0, 2)]
    column *= column
    return np.sum(a**2) * drawn.uniform(1.0, 2.0)


@program(args=matrix)
def rows_by_sorted_keys(a):
    order = sorted(range(3), key=lambda t: -a[t, 2])
    worst = a[order[0]]
    worst -= 2
    best = max(range(3), key=lambda t: a[t, 0])
    row = a[best]
    row *= row
    return np.sum(a**3)


@program(args=matrix)
def rows_by_settings(a):
    row = a[SETTINGS["row"]]
    row *= 2
    a[SETTINGS["rows"]] *= 3
    copied = a[LAYOUT.rows]
    copied *= 3
    return np.sum(a**2) * SETTINGS["scale"] + row.sum() * copied.sum()


@program(args=vector)
def tuples_as_long_as_an_array(x):
    squares = tuple(v * v for v in x)
    longer = squares + (x[0],)
    same = longer
    longer += (2.0 * x[1],)

    def norm(v):
        if isinstance(v, list):
            return sum(norm(u) for u in v)
        if isinstance(v, tuple):
            return 2.0 * sum(norm(u) for u in v)
        return v

    return norm(longer[1:]) * len(same) + norm(list(squares)) + sum(same) * sum(longer)


@program(args=vector)
def lambdas_of_comprehensions(x):
    k = 0
    late = [lambda: (k + 1) * x[k] for k in range(3)]
    early = [lambda k=k: k * x[k] for k in range(3)]
    of_each = [lambda v, k=k: v**2 * k + x[k] for k in range(2)]
    return sum(f() for f in late) + sum(f() ** 2 for f in early) + of_each[1](x[4]) + k * x[1]


@program(args=lambda rng: (rng.normal(size=7), 0.37), wrt=(0, 1))
def quantiles_by_method(x, q):
    row = x.reshape(1, 7)
    steps = np.quantile(x, q, method="lower") * np.quantile(x, q, method="higher") + np.median(x)
    between = np.percentile(row, 100 * q * q, axis=1, method="midpoint", keepdims=True).sum()
    nearest = np.percentile(x, 100 * q, method="nearest")
    return steps + between + nearest + np.quantile(x, q, method="hazen") * np.quantile(x, q, method="median_unbiased")


@program(args=sample)
def averages_with_weights_returned(x):
    average, weight = np.average(x, weights=x**2, returned=True)
    rows, counts = np.average(x.reshape(1, 7), axis=1, returned=True)
    columns, weights = np.average(np.outer(x, x), axis=0, weights=x, returned=True)
    return average * weight + rows[0] * counts[0] + (columns * weights).sum()


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def variances_around_given_means(x):
    means = x.mean(axis=1, keepdims=True)
    around = np.var(x, axis=1, mean=means) * np.std(x, axis=0, correction=1)[:3]
    return around.sum() + np.std(x, axis=(0, 1), mean=2 * x.mean(), ddof=2) + np.var(x, mean=x[0, 0])


@program(args=sample)
def sums_that_begin_somewhere(x):
    y = np.where(x > 0, x, np.nan)
    return np.nansum(y, initial=x[0]) * np.nanprod(y, initial=x[1]) + np.nansum(y.reshape(7, 1), axis=0, initial=2.0)[0]


@program(args=matrix)
def parts_of_unknown_number(a):
    longer = np.append(a, a[:1] * a[1:2], axis=0)
    first, *others = np.unstack(longer)
    columns = np.unstack(longer, axis=1)
    return first @ others[-1] + columns[0] @ columns[-1] * len(others)


@program(
    args=lambda rng: ({"b": {"w": rng.normal(size=3), "n": (2, "relu")}, "a": [rng.normal(), 1.5]}, rng.normal(size=3)),
    wrt=(0, 1),
)
def settings_in_the_order_of_their_names(p, x):
    def walk(node, depth=1):
        if isinstance(node, dict):
            named = enumerate(sorted(node.items()), start=1)
            return sum(walk(v, depth + k) * k for k, (name, v) in named if name != "n")
        if isinstance(node, (list, tuple)):
            return sum(walk(v) for v in node) ** 2
        return np.sum(np.square(node)) * depth

    _, last = sorted(p.items(), reverse=True)[0]
    return walk(p) * 0.1 + np.maximum(last["w"] * x, 0).sum() ** last["n"][0]
