"""``zip(*rows)`` of lists: Python holds on to the rows, and reads them when a column is asked for."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax
from tests.compiler.checked import check_gradient, table

X = np.array([0.5, 0.2, 0.9])


def pairs(x):
    points = []
    for v in x:
        points.append((v, v * v))
    return points


def unpacked_pairs(x):
    points = pairs(x)
    xs, ys = zip(*points)
    points[0] = (x[1], x[1])
    return sum(p * q for p, q in zip(xs, ys)) * points[0][0]


def pairs_through_map(x):
    xs, ys = map(np.array, zip(*pairs(x)))
    return np.sum(xs * ys)


def listed(x):
    rows = table(x)
    columns = [list(column) for column in zip(*rows)]
    rows[0][0] = x[2] * x[2]
    return sum(column[0] * column[1] for column in columns) + rows[0][0]


def listed_through_map(x):
    rows = table(x)
    columns = list(map(list, zip(*rows)))
    columns[0][1] *= x[0]
    rows[0][0] = x[2]
    return sum(map(sum, columns)) * rows[0][0]


def unpacked_rows(x):
    rows = table(x)
    u, v, w = zip(*rows)
    rows[0][0] = x[1]
    return sum(a * b for a, b in zip(u, v)) + w[0] * rows[0][0]


def product_of_matrices(x):
    rows = [[x[i] * j + i for j in range(3)] for i in range(3)]
    result = [[sum(a * b for a, b in zip(row, column)) for column in zip(*rows)] for row in rows]
    return result[0][1] + rows[1][2] * result[2][2]


def means_of_columns(x):
    rows, total = table(x), 0.0
    for column in zip(*rows):
        total = total * 0.5 + np.mean(column) * column[0]
    for k, column in enumerate(zip(*rows)):
        total += k * max(column)
    columns = zip(*rows)
    next(columns)
    return total + max(next(columns)) * np.std([max(column) for column in zip(*rows)])


AT_ONCE = [unpacked_pairs, pairs_through_map, listed, listed_through_map, unpacked_rows]


@pytest.mark.parametrize("fn", [*AT_ONCE, product_of_matrices, means_of_columns])
def test_columns_that_are_read_at_once(fn):
    check_gradient(fn, (X,))


def row_replaced_before(x):
    rows = table(x)
    columns = zip(*rows)
    rows[0] = [v * 10.0 for v in x]
    return sum(column[0] * column[1] for column in columns)


def row_replaced_in_the_loop(x):
    rows, total = table(x), 0.0
    for column in zip(*rows):
        total += column[0] * column[1]
        rows[0] = [v * 10.0 for v in x]
    return total


def rows_swapped_before(x):
    rows = table(x)
    columns = zip(*rows)
    rows[0], rows[2] = rows[2], rows[0]
    return sum(column[0] * column[0] * column[1] for column in columns)


def rows_lengthened_before(x):
    rows = table(x)
    columns = zip(*rows)
    for row in rows:
        row.append(x[0])
    return sum(column[0] * column[1] for column in columns)


def array_replaced_before(x):
    rows = []
    for k in range(2):
        rows.append(x * k)
    columns = zip(*rows)
    rows[0] = x * 9.0
    return sum(sum(column) for column in columns)


def changed_by_a_call(x):
    rows = table(x)

    def change(column):
        rows[0][2] = x[0] * 100.0
        return column[0]

    return sum([change(column) for column in zip(*rows)])


def strictly(x):
    return sum([sum(column) for column in zip(*table(x), strict=True)])


LATER = "beside changes of what it reads"
MEANWHILE = "is changed before it is at its end"
REFUSED = [
    (row_replaced_before, LATER),
    (row_replaced_in_the_loop, MEANWHILE),
    (rows_swapped_before, LATER),
    (rows_lengthened_before, "a list changes its length while an iterator goes over it"),
    (array_replaced_before, LATER),
    (changed_by_a_call, MEANWHILE),
    (strictly, "zip of the items"),
]


@pytest.mark.parametrize(("fn", "message"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_columns_that_may_be_read_later_are_refused(fn, message):
    with pytest.raises(UnsupportedSyntax, match=message):
        ad.grad(fn)(X)


def test_the_columns_of_no_pairs_cannot_be_unpacked():
    def fn(x):
        points = []
        for v in x:
            if v > 5.0:
                points.append((v, v))
        xs, ys = zip(*points)
        return sum(xs) + sum(ys)

    with pytest.raises(ValueError, match="not enough values to unpack"):
        ad.grad(fn)(X)
    np.testing.assert_allclose(ad.grad(fn)(X * 10.0), [0.0, 0.0, 2.0])


def test_a_matrix_without_rows_has_no_columns():
    def fn(x, n):
        total = x[0] * 1.0
        for column in zip(*np.outer(x, x)[:n]):
            total = total + sum(column) + x[1]
        return total

    check_gradient(fn, (X, 0))
    check_gradient(fn, (X, 2))
