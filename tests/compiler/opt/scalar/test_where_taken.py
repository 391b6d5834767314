"""What a branch leaves as zero is reversed in its sides: the same gradients, and nothing zero is added or divided."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import Cases, check_gradient, names, registrar

pytestmark = pytest.mark.once

CASES: Cases = []
case = registrar(CASES)
V = np.random.default_rng(0).uniform(0.5, 1.5, 6)


@case(V, V[:1], V[:0])
def limited(x):
    slope = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        left = x[i] - x[i - 1]
        right = x[i + 1] - x[i]
        if left * right <= 0.0:
            slope[i] = 0.0
        elif abs(left) < abs(right):
            slope[i] = left
        else:
            slope[i] = right
    return np.sum(slope * slope * x)


@case(V)
def one_side_only(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1]
        if step > 1.0:
            total = total + step
    return total


@case(V)
def index_that_is_saved(x):
    total, j = 0.0, 1
    for i in range(5):
        j = (j * j + 3 * i) % 6
        v = x[j]
        if total > 0.6:
            total = total + np.sin(v)
        else:
            total = total * 0.9 + 0.5
    return total


@case(V)
def indices_that_are_saved(x):
    total, j = 1.0, 1
    while j < 20:
        v, w = x[j % 6], x[(j * 3) % 6]
        if j % 3 == 0:
            total = total * v
        elif j % 3 == 1:
            total = total + w
        j = j * 2 - j % 5 + 1
    return total


@case(V)
def both_sides(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1]
        other = x[i] - x[i - 1]
        if step > 1.0:
            total = total + step * other
        else:
            total = total - other
    return total


@case(V)
def read_after_the_branch_too(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1]
        if step > 1.0:
            total = total + step
        total = total * 0.5 + step
    return total


@case(V)
def index_chosen(x):
    total = 0.0
    for i in range(1, len(x)):
        k = i - 1
        step = x[i]
        other = x[k] * 2.0
        if step > 1.0:
            k = i
            total = total + step
        else:
            total = total * other
        total = total + x[k] * 0.1
    return total


@case(V)
def deep(x):
    total = 0.0
    for i in range(2, len(x)):
        a, b, c = x[i] - x[i - 1], x[i - 1] - x[i - 2], x[i] * x[i - 2]
        if a > 0.0:
            if b > 0.0:
                total = total + a
            elif c > 1.0:
                total = total + c
        elif c > 0.5:
            total = total - b
        else:
            total = total + c * a
    return total


@case(V)
def rows(x):
    total = np.zeros(3)
    y = np.outer(x, np.arange(1.0, 4.0))
    for i in range(1, len(x)):
        left = y[i] - y[i - 1]
        right = y[i] * y[i - 1]
        if x[i] > 1.0:
            total = total + left * left
        else:
            total = total + right
    return np.sum(total)


@case(V)
def pairs_within_reach(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            dx = x[i] - x[j]
            r = math.sqrt(dx * dx + 0.1)
            if r < 0.6:
                total += dx / r
    return total


@case(V)
def sums_go_on(x):
    scale, total = x[0], 0.0
    for i in range(1, len(x)):
        step = scale * x[i] * np.sin(x[i - 1])
        if step > 0.7:
            total = total + step * step
        total = total * 0.9 + scale
    return total * scale


@case(V)
def memory_written_between(x):
    y = x.copy()
    total = 0.0
    for i in range(1, len(x)):
        step = y[i] * y[i - 1]
        y[i - 1] = 2.0 * y[i] * y[i - 1]
        if step > 1.0:
            total = total + step * step
        y[i] = y[i] * 0.5 + total * 0.01
    return total + np.sum(y)


@case(V)
def what_is_saved_between(x):
    total, k = 1.0, 1
    for i in range(1, len(x)):
        k = (3 * k + i) % 6
        w = total * 0.3
        step = w * x[k] + math.sin(w)
        if total > 1.0:
            total = 0.5 * total + step
        total = total * 0.9 + 0.1 * w * w
    return total


@case(V)
def two_levels(x):
    total = 0.0
    for i in range(1, len(x)):
        step = x[i] * x[i - 1] / (x[i] + 1.0)
        if x[i] > 0.7:
            other = step * x[i]
            if other > 0.8:
                total = total + other * other
            elif x[i - 1] > 0.9:
                total = total - step
        elif x[i - 1] > 0.8:
            total = total * 0.5
    return total


@case(V, V[:1], V[:0])
def leaves_early(x):
    total = 0.0
    for i in range(len(x)):
        step = x[i] * x[i] / (1.0 + total)
        if step > 1.5:
            break
        total = total + step
    return total


@case(V)
def a_view_between(x):
    y = np.zeros((3, 6))
    total = 0.0
    for i in range(3):
        row = y[i]
        step = x[i] * x[i + 1]
        row[i] = step
        row += x
        if row[1] > 1.2:
            total = total + step
        y[0] = y[0] * 0.5
    return total + np.sum(y * y)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    with pass_registry.without("sink_into_branches"):
        expected = ad.grad(lambda x: fn(x))(*args)
    np.testing.assert_allclose(ad.grad(fn)(*args), expected, rtol=1e-13, atol=1e-15)


def test_zeros_are_gone():
    lines = ad.adjoint_source(limited, V).splitlines()
    assert not any("d_left, d_right" in line or line.strip() == "d_right = 0.0" for line in lines)


def one_over_distances(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            r = math.sqrt((x[i] - x[j]) ** 2)
            if r > 0.0:
                total += 1.0 / r
    return total


def root_where_there_is_one(x):
    r = np.sqrt(x)
    if x > 0.0:
        return r * 2.0
    return 1.0


def power_where_there_is_one(x):
    r = x**0.5
    if x > 0.0:
        return r * 2.0
    return 1.0


def test_nothing_is_divided_by_zero_on_the_other_side():
    x = np.array([0.25, 0.5, 1.0])
    expected = [2 / 0.0625 + 2 / 0.5625, -2 / 0.0625 + 2 / 0.25, -2 / 0.5625 - 2 / 0.25]
    np.testing.assert_allclose(ad.grad(one_over_distances)(x), expected, rtol=1e-12)
    text = ad.adjoint_source(one_over_distances, x)
    assert "d_r = 0.0" not in text and "else" not in text


def turned(axis, v):
    for _ in range(3):
        angle = np.linalg.norm(axis)
        if angle < 1e-8:
            continue
        u = axis / angle
        K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        v = (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ v
        axis = np.cross(axis, v) + 0.1 * axis
    return v[0] + np.sum(v**3) + axis @ axis


def test_numbers_of_a_dtype_that_nobody_knows_stay_where_they_are():
    args = (np.array([0.3, -0.4, 0.5]), np.array([1.0, 0.2, -0.6]))
    check_gradient(turned, args)
    narrow = ad.grad(turned)(*(a.astype(np.float32) for a in args))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, ad.grad(turned)(*args), rtol=1e-4)


@pytest.mark.parametrize("fn", [root_where_there_is_one, power_where_there_is_one])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_a_gradient_that_is_zero_on_the_other_side(fn, kind):
    zero, half = (ad.grad(fn)(kind(x)) for x in (0.0, 4.0))
    assert (zero, half) == (0.0, 0.5) and type(zero) is type(half) is kind
