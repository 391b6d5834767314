"""Lists inside lists are taken again where nobody puts others in their place, and what is in them read again."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad

RNG = np.random.default_rng(0)


def squares(rows):
    total = 0.0
    for row in rows:
        for v in row:
            total += v * v
    return total


def by_index(rows):
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            total += rows[i][j] * rows[i][j] * rows[i][0]
    return total


def in_a_branch(rows):
    total = 0.0
    for row in rows:
        if len(row) > 1:
            for v in row:
                if v > 0.5:
                    total += v**3
        else:
            total += sum(row) ** 2
    return total


def three_deep(rows):
    total = 0.0
    for k in range(2):
        for row in rows:
            for v in row:
                for w in row:
                    total += v * w * (k + 1)
    return total


AGAIN = [squares, by_index, in_a_branch, three_deep]


def replaced(rows):
    rows = [[v * 1.0 for v in row] for row in rows]
    total = 0.0
    for i in range(len(rows)):
        for v in rows[i]:
            total += v * v
        rows[i] = [total for _ in rows[i]]
    return total + sum(sum(row) for row in rows)


def written(rows):
    rows = [[v * 1.0 for v in row] for row in rows]
    total = 0.0
    for row in rows:
        for j in range(len(row)):
            total += row[j] * row[0]
            row[j] = total * 0.1
    return total + sum(sum(row) for row in rows)


def written_later(rows):
    rows = [[v * 1.0 for v in row] for row in rows]
    total = 0.0
    for row in rows:
        for v in row:
            total += v * v
    for row in rows:
        for j in range(len(row)):
            row[j] = row[j] ** 2 * total
    return sum(sum(row) for row in rows)


def turned_round(rows):
    rows = [[v * 1.0 for v in row] for row in rows]
    total = 0.0
    for k in range(3):
        for row in rows:
            for v in row:
                total += v * v * (k + total * 0.01)
        rows.reverse()
    return total


def grown(rows):
    rows = [[v * 1.0 for v in row] for row in rows]
    total = 0.0
    for k in range(2):
        for row in rows:
            for v in row:
                total += v * v
            row.append(total * 0.01)
    return total


def one_row_twice(rows):
    row = [v * 1.0 for v in rows[0]]
    both = [row, row]
    total = 0.0
    for r in both:
        for j in range(len(r)):
            total += r[j] ** 2
            r[j] = r[j] * 0.5
    return total


CHANGED = [replaced, written, written_later, turned_round, grown, one_row_twice]


def shifted(rows, i, j, step):
    return [[v + step * ((k, m) == (i, j)) for m, v in enumerate(row)] for k, row in enumerate(rows)]


@pytest.mark.parametrize("fn", [*AGAIN, *CHANGED], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("lengths", [(1,), (3, 3), (2, 0, 4), (4, 1, 2)], ids=str)
def test_gradient(fn, lengths) -> None:
    rows = [RNG.uniform(0.6, 1.4, n).tolist() for n in lengths]
    given = [list(row) for row in rows]
    value, gradient = ad.value_and_grad(fn)(rows)
    assert value == fn([list(row) for row in rows])
    assert rows == given
    for i, row in enumerate(rows):
        ends = [[fn(shifted(rows, i, j, step)) for step in (1e-6, -1e-6)] for j in range(len(row))]
        np.testing.assert_allclose(gradient[i], [(a - b) / 2e-6 for a, b in ends], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", AGAIN[:2], ids=lambda fn: fn.__name__)
def test_nothing_is_saved(fn) -> None:
    assert "saved" not in ad.adjoint_source(fn, [[0.5, 1.0], [2.0]])
