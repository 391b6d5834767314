"""Lengths of axes: new axes in an index, and what a loop keeps from one iteration to the next."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
M = np.array([[0.4, -1.2, 0.3], [0.9, 0.1, -0.8], [1.5, 0.2, 0.6]])


@case(V)
def outer_by_new_axes(x):
    return np.sum(np.sin(x[:, None] * x[None, :]) * x[:, np.newaxis])


@case(M)
def ellipsis_and_new_axes(m):
    return np.sum(m[..., None] * m[:, None] * m[None, :, :, None][0])


@case(V)
def written_through_a_new_axis(x):
    y = x * 2.0
    column = y[:, None]
    column *= x[None, :][0][:, None]
    y[0] = y[1] * column[2, 0]
    column[3] = y[0] ** 2
    return np.sum(y**3)


@case(V, np.array(0.7))
def new_axis_of_any_rank(x):
    return np.sum(x[None] ** 3) + np.sum(x[..., None] * 2.0)


@case(np.array([0.7]))
def one_element_broadcast_by_a_new_axis(x):
    return np.sum(x[:, None] * np.arange(3.0)) + np.sum(x[None, :] * M[:, :1])


@case((M, V[:3], M), (M, np.array([0.3]), M), (M[:, :1], V[:3], M), (M[:, :1], V[:3], M[:1]))
def forward_algorithm(m, start, b):
    alpha = start + b[:, 0]
    for t in range(1, b.shape[1]):
        scores = alpha[:, None] + m
        top = np.max(scores, axis=0)
        alpha = top + np.log(np.sum(np.exp(scores - top), axis=0)) + b[:, t]
    return np.sum(alpha**2)


@case((V[:1], 3), (V, 0), (V, 2))
def grows_by_broadcasting(x, n):
    y = x
    for k in range(n):
        y = y * V + k
    return np.sum(y**2) + np.sum(x)


@case((V, 2), (V, 0))
def shrinks(x, n):
    y = x
    total = 0.0
    for k in range(n):
        total = total + np.sum(y * V[k:])
        y = y[1:]
    return total + np.sum(y**2)


@case(M)
def maximum_of_rows_taken_from_columns(m):
    z = m - np.max(m, axis=1)
    return np.sum(np.log(np.sum(np.exp(z), axis=1)) - z[:, 0])


@case(M)
def maximum_of_columns_that_stays(m):
    top = np.max(m, axis=0)
    return np.sum(np.log(np.sum(np.exp(m - top), axis=0)) * np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


def test_maximum_over_the_first_axis_cancels():
    text = ad.adjoint_source(forward_algorithm, M, V[:3], M)
    assert "==" not in text and "unbroadcast" not in text


def test_new_axis_is_no_view_of_zeros():
    text = ad.adjoint_source(lambda x: np.sum(np.sin(x[:, None] * np.ones(3))), V)
    assert "zeros" not in text
