"""`max` and `min` of numbers of different kinds: the result is one of them, of the kind that their values decide."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(3.0, 0.5)
def at_least_one(w):
    return max(1, w) * w


@case(3.0, 1.5)
def at_least_an_integer(w, k=2):
    return max(k, w) ** 2


@case(-3.0, 3.0)
def at_most_an_integer(w):
    return min(0, w) * w


@case(np.array([0.4, 1.3, -0.7]), np.array([0.4, 0.3, -0.7]))
def running(x):
    best = 1
    for v in x:
        best = max(best, v * v)
    return best * x[1]


@case(np.array([0.4, 1.3, -0.7]))
def of_a_list(x):
    items = [1]
    for v in x:
        items.append(3 * v)
    return max(items) + min(items)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_is_right(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)


def larger(x, w):
    return max(x[0] * w, w)


def larger_times(x, w):
    return max(w, x[0] * w) * w


def of_items(x, w):
    return min([x[0] * w, x[1], w]) * w


@pytest.mark.parametrize("w", [0.7, -0.7])
@pytest.mark.parametrize("fn", [larger, larger_times, of_items])
def test_a_python_float_keeps_its_precision_beside_narrower_numbers(fn, w):
    x, direction, step = np.array([0.3, 0.9], np.float32), np.array([0.5, 0.25], np.float32), 0.1234567890123
    expected, (d_x, d_w) = ad.value_and_grad(fn, (0, 1))(x, w)
    value, tangent = ad.jvp(fn, (x, w), (direction, step))
    assert type(value) is type(expected) is type(fn(x, w)) is type(tangent)
    assert (d_x.dtype, type(d_w)) == (np.float32, float)
    kept = 1e-14 if type(value) is float else 1e-6
    assert math.isclose(tangent, float(d_x.astype(float) @ direction) + d_w * step, rel_tol=kept)


def of_whichever_kind(u, w):
    items = [0]
    for k in range(3):
        if k < w:
            items.append(max(w, 2))
    return u + sum(items)


def test_a_sum_of_a_list_is_of_the_kind_of_its_items():
    value, tangent = ad.jvp(of_whichever_kind, (0.83, 2.5), (1.0, 1.0))
    assert (value, tangent) == (8.33, 4.0) and type(value) is type(tangent) is float
