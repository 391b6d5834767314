"""Tuples of numbers that are read from lists and dicts which change later, and may be one of several."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient


def total(pairs):
    return sum([(k + 1) * p * q + p for k, (p, q) in enumerate(pairs)])


def one_of_two(x, pairs):
    if x[0] > 0:
        if x[2] > 0:
            pairs = [p for p in pairs]
    return total(pairs)


def inserted(x):
    pairs = [(x[0], x[2])]
    pairs.insert(0, (x[0], np.sin(pairs[0][0])))
    return one_of_two(x, pairs)


def appended(x):
    pairs = [(x[0], x[2])]
    for v in x:
        pairs.append((v, np.sin(pairs[-1][0] * pairs[0][1])))
    return one_of_two(x, pairs)


def taken_out(x):
    pairs = [(v, v * v) for v in x]
    first, last = pairs[0], pairs[-1]
    pairs.pop(0)
    pairs.append((first[1], last[0] * pairs[0][1]))
    pairs[0] = (pairs[0][0] * first[0], last[1])
    return one_of_two(x, pairs) * first[1]


def turned_around(x):
    pairs = [(v, v + x[1]) for v in x]
    a, b = pairs[0]
    pairs.reverse()
    c, d = pairs[0]
    pairs.append((a * d, b * c))
    return one_of_two(x, pairs)


def in_a_dict(x):
    table = {k: (v, v * x[1]) for k, v in enumerate(x)}
    a, b = table[0]
    table[0] = (b * 2.0, a * table[1][0])
    if x[0] > 0:
        if x[2] > 0:
            table = dict(table)
    return total(list(table.values())) * a


@pytest.mark.parametrize("x", [[0.5, 0.2, 0.9], [-0.6, 1.2, 0.4], [0.3, 1.2, -0.4]])
@pytest.mark.parametrize("fn", [inserted, appended, taken_out, turned_around, in_a_dict])
def test_gradients(fn, x):
    x = np.array(x)
    check_gradient(fn, (x,))
    value, pullback = ad.vjp(fn, x)
    assert value == fn(x)
    np.testing.assert_allclose(pullback(1.0)[0], ad.grad(fn)(x), rtol=1e-13)
    np.testing.assert_allclose(pullback(2.0)[0], 2.0 * ad.grad(fn)(x), rtol=1e-13)
