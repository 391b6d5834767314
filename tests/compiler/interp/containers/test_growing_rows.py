"""Lists in other lists that grow and shrink after they were put there."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, table

X = np.array([0.5, 0.2, 0.9])


def one_row_grows(x):
    rows = table(x)
    rows[1].append(x[0])
    return sum(rows[0]) + sum(rows[1])


def every_row_grows(x):
    rows = table(x)
    for k in range(3):
        rows[k].append(rows[k][0] * x[k])
    return sum(rows[0]) * sum(rows[1]) * rows[2][3]


def buckets(x):
    groups = [[] for _ in range(2)]
    for k in range(len(x)):
        groups[k % 2].append(x[k] * x[k])
    return sum(groups[0]) * sum(groups[1])


def buckets_by_key(x):
    groups = {}
    for k in range(len(x)):
        groups.setdefault(k % 2, []).append(x[k] * x[k])
    return sum(groups[0]) * sum(groups[1])


def taken_out(x):
    rows = table(x)
    last = rows[0].pop()
    return last * sum(rows[0]) * sum(rows[1])


def read_before_it_was_put(x):
    items = [v * v for v in x]
    total = sum(items)
    rows = []
    rows.append(items)
    rows[0].append(x[1] * total)
    return sum(rows[0]) * total


def read_before_it_grew(x):
    rows = table(x)
    total = sum(rows[1])
    rows[1].append(x[0])
    return total * sum(rows[1])


def emptied(x):
    rows, total = table(x), 0.0
    for row in rows:
        while row:
            total = total * x[0] + row.pop() ** 2
    return total


def three_levels(x):
    cube = []
    for _ in range(2):
        cube.append(table(x))
    cube[1][2].append(x[0] * x[1])
    cube[0][0].pop()
    return sum(cube[1][2]) * sum(cube[0][0]) + sum(cube[0][2])


def triangle(x):
    rows = [[x[0]]]
    for n in range(1, 4):
        rows.append([])
        for k in range(n + 1):
            left = rows[n - 1][k - 1] if k > 0 else x[1]
            right = rows[n - 1][k] if k < n else x[2]
            rows[n].append(left * right + left)
    return sum(rows[3]) + rows[2][1]


def replaced_then_grown(x):
    rows = table(x)
    rows[1] = [x[0] * x[1]]
    rows[1].append(rows[1][0] * x[2])
    return sum(rows[1]) * sum(rows[0])


def in_a_branch(x):
    rows = table(x)
    for k in range(3):
        if x[k] > 0.3:
            rows[k].append(x[k] ** 2)
        else:
            rows[k].pop()
    return sum([sum(row) * (k + 1) for k, row in enumerate(rows)])


def of_arrays(x):
    layers = [[] for _ in range(2)]
    for k in range(4):
        layers[k % 2].append(x * k)
    layers[0].append(layers[1][0] * layers[0][1])
    return sum([np.sum(a * a) for a in layers[0]]) + np.sum(layers[1][1])


PROGRAMS = [one_row_grows, every_row_grows, buckets, buckets_by_key, taken_out, read_before_it_was_put]
PROGRAMS += [read_before_it_grew, emptied, three_levels, triangle, replaced_then_grown, in_a_branch, of_arrays]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_rows_that_change_their_length(fn):
    check_gradient(fn, (X,))
    pullback = ad.vjp(fn, X)[1]
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], ad.grad(fn)(X), rtol=1e-13)
