"""Rows of nested lists that change places: so do their cotangents."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AliasError
from tests.compiler.checked import check_gradient

X = np.array([0.5, 0.2, 0.9])


def table(x):
    return [[v * k for v in x] for k in range(1, 4)]


def weighed(rows):
    return sum(sum(row) * (k + 1) for k, row in enumerate(rows))


def pivoted(x):
    rows = table(x)
    for i in range(3):
        p = max(range(i, 3), key=lambda r: abs(rows[r][i]))
        rows[i], rows[p] = rows[p], rows[i]
        for r in range(i + 1, 3):
            f = rows[r][i] / rows[i][i]
            for c in range(i, 3):
                rows[r][c] -= f * rows[i][c] * x[c]
    return weighed(rows)


def turned(x):
    rows = table(x)
    for t in range(4):
        rows[t % 3], rows[(t + 1) % 3] = rows[(t + 1) % 3], rows[t % 3]
        rows[t % 3][0] = rows[t % 3][0] * rows[0][1]
    return weighed(rows)


def from_behind_and_with_itself(x):
    rows = table(x)
    rows[0], rows[-1] = rows[-1], rows[0]
    rows[1], rows[1] = rows[1], rows[1]
    rows[0][0] *= rows[2][1]
    return weighed(rows)


def in_a_branch_under_another_name(x):
    rows = table(x)
    same = rows
    if x[0] > 0.3:
        rows[0], rows[1] = rows[1], rows[0]
    same[0][0] *= 2.0
    return weighed(rows)


def caught(x):
    rows = table(x)
    try:
        rows[0], rows[7] = rows[7], rows[0]
    except IndexError:
        rows[0], rows[1] = rows[1], rows[0]
    rows[0][0] *= x[1]
    return weighed(rows)


def blocks(x):
    rows = [[[v * k, v] for v in x] for k in range(1, 4)]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][0][1] *= 3.0
    return sum(a * b for row in rows[:2] for a, b in row)


FUNCTIONS = [pivoted, turned, from_behind_and_with_itself, in_a_branch_under_another_name, caught, blocks]


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_gradient(fn):
    check_gradient(fn, (X,))


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_tangents_and_pullbacks(fn):
    gradient, t = ad.grad(fn)(X), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(ad.jvp(fn, (X,), (t,))[1], gradient @ t, rtol=1e-12)
    _, pullback = ad.vjp(fn, X)
    for seed in (1.0, 2.0):
        np.testing.assert_allclose(np.ravel(pullback(seed)), seed * gradient, rtol=1e-12)


def test_a_row_that_is_written_under_its_own_name_afterwards_is_refused():
    def fn(x):
        rows = table(x)
        row = rows[0]
        rows[0], rows[2] = rows[2], rows[0]
        row[1] *= x[0]
        return weighed(rows)

    with pytest.raises(AliasError):
        ad.grad(fn)(X)
