"""Slices taken out of a cotangent stay where no later step reads them, and are cleared where one does."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(3).uniform(0.5, 1.5, 5)
A = np.random.default_rng(4).uniform(0.5, 1.5, (4, 5))
S = np.random.default_rng(5).uniform(0.5, 1.5, (5, 5))


@case((A, V), (A[:1], V))
def rows(x, w):
    y = np.empty(x.shape)
    for i in range(len(x)):
        y[i, :] = x[i] * w
    return np.sum(y**2)


@case(A, A[:1])
def row_after_row(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i, :] = np.tanh(y[i - 1, :]) + x[i]
    return np.sum(y**2)


@case((S, 0.7))
def below_the_diagonal(x, b):
    n = len(x)
    y = np.zeros((n, n))
    for i in range(n):
        y[i:n, i] = x[i:n, i] * b
    return np.sum(y * x)


@case((A, V))
def pixels(x, w):
    y = np.empty((4, 5, 5))
    for i in range(4):
        for j in range(5):
            y[i, j, :] = x[i, j] * w
    return np.sum(y**2)


DROPPED = [rows, row_after_row, below_the_diagonal, pixels]


@case(S)
def both_triangles(x):
    n = len(x)
    y = np.zeros((n, n))
    for i in range(n):
        y[i:n, i] = y[i, i:n] = x[:, i] @ x[:, i:n]
    return np.sum(y * x)


@case(A)
def parts_that_overlap(x):
    y = x * 1.0
    for i in range(3):
        y[i : i + 2] = y[i : i + 2] * x[i]
    return np.sum(y**2)


@case((A, 3), (A, 1))
def the_same_rows_again(x, n):
    y = x * 1.0
    for _ in range(n):
        for i in range(1, len(x)):
            y[i, :] = y[i - 1, :] * x[i]
    return np.sum(y**2)


@case(A)
def the_last_row_first(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i, :] = y[i - 1, :] * x[i]
    return np.sum(y**2)


@case(A)
def read_through_a_view(x):
    y = x * 1.0
    for i in range(1, len(x)):
        row = y[i, :]
        y[i, :] = row * y[i - 1, :]
        y[i - 1, :] = row + x[i]
    return np.sum(y**2)


@case(A)
def written_through_a_view(x):
    y = np.zeros_like(x)
    column = y[:, 2]
    for i in range(len(x)):
        y[i, :] = x[i] ** 2
        column[i] *= x[i, 0]
    return np.sum(y**2)


@case(A)
def every_other_column(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i, ::2] = x[i, ::2] * x[i, 1]
        y[i, 1::2] = y[i, :4:2]
    return np.sum(y**2)


@case((A, 3), (A, 0))
def buffers_that_change_places(x, n):
    u, v = x * 1.0, x * 2.0
    for _ in range(n):
        for i in range(1, len(x)):
            v[i, :] = u[i] * u[i - 1]
        u, v = v, u
    return np.sum(u * x) + np.sum(v)


@case((A, 3), (A, 0))
def in_two_buffers(u, n):
    for _ in range(n):
        new = np.zeros(u.shape)
        new[1:-1, :] = u[:-2] * u[2:]
        for i in range(1, len(u)):
            new[i, 1:] += u[i - 1, 1:] * u[i, :-1]
            new[i, 0] = u[i, 0]
        u = new
    return np.sum(u * u)


@case(A)
def kept_in_a_list(x):
    y = np.zeros_like(x)
    kept = []
    for i in range(len(x)):
        y[i, :] = x[i] ** 2
        kept.append(y[i, 1:3])
    return np.sum(y) + np.sum(np.array(kept) ** 2)


@case((A, 2), (A, 9))
def on_one_side(x, k):
    y = x * 1.0
    for i in range(1, len(x)):
        if i > k:
            y[i, :] = y[i - 1, :] * x[i]
        else:
            y[i - 1, :] = y[i, :] * x[i]
    return np.sum(y**2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize("fn", DROPPED, ids=lambda fn: fn.__name__)
def test_what_is_not_read_again_is_not_cleared(fn):
    args = next(args for each, args in CASES if each is fn)
    arguments = args if isinstance(args, tuple) else (args,)
    assert "] = 0.0" not in ad.adjoint_source(fn, *arguments)
