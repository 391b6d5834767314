"""The cotangent of a list is the first list of cotangents that it is given."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case((V, 3), (V, 0))
def rows_in_a_table(x, n):
    table = []
    for k in range(n):
        table.append([v * (k + 1) for v in x])
    return sum([sum(row) * row[0] for row in table])


@case(V)
def both_parts_of_a_list(x):
    values = [v * v for v in x]
    longer = values + [x[0], x[1]]
    shorter = longer[1:]
    return sum(longer) * shorter[0] + sum([v * v for v in shorter]) + values[2]


@case(V)
def a_copy_that_changes(x):
    values = [v * v for v in x]
    kept = list(values)
    values[0] = values[1] * x[0]
    kept.append(values[0])
    return sum(values) * kept[0] + sum(kept) * kept[-1]


@case(V)
def given_twice(x):
    values = [v * v for v in x]
    return np.sum(np.array(values) ** 2) + np.prod(np.array(values))


@case(V)
def arrays_of_one_copy(x):
    rows = [x * k for k in range(1, 4)]
    again = rows + [x]
    return sum([np.sum(row * row) for row in again]) * np.sum(rows[1])


@case((V, 4), (V, 0))
def replaced_in_a_loop(x, n):
    values = [v * 1.0 for v in x]
    for k in range(n):
        values = [values[i] * values[i - 1] + k for i in range(len(values))]
    return sum(values) * values[0]


@case((V, 3), (V, 1))
def built_from_both_ends(x, n):
    values = [x[0]]
    for k in range(n):
        values.insert(0, values[-1] * x[k])
        values.append(values[0] + x[k])
    return sum([v * (k + 1) for k, v in enumerate(values)])


@case(V)
def stored_into_a_column(x):
    table = np.outer(x, x)
    rows = [[v * k for v in x] for k in range(4)]
    table[:, 0] = [row[-1] * row[0] for row in rows]
    return np.sum(table * table)


@case(V)
def stored_into_rows(x):
    table, values = np.outer(x, x), []
    for v in x:
        values.append(v * v)
    table[1:] = values
    values[0] = x[1]
    return np.sum(table * table[0]) + values[0]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_rows_are_taken_off_the_table():
    source = ad.adjoint_source(rows_in_a_table, V, 3)
    assert "d_items = d_table.pop()" in source and "saved_items" not in source


def test_what_nobody_reads_is_not_popped():
    def fn(x):
        groups = [[] for _ in range(2)]
        for k in range(len(x)):
            groups[k % 2].append(x[k] * x[k])
        return sum(groups[0]) * sum(groups[1])

    check_gradient(fn, (V,))
    source = ad.adjoint_source(fn, V)
    assert "groups = [[] for _ in range(2)]" in source and "d_groups.pop()" not in source
