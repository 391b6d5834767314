"""Calls that may write into memory where the compiler does not see it: right, or refused."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import Refused

pytestmark = pytest.mark.once

fill = operator.methodcaller("fill", 2.5)
X = np.arange(1.0, 6.0)


def filled_after(x):
    z = np.arange(5.0)
    y = np.sin(z * x)
    fill(z)
    return np.sum(y * z)


def filled_in_a_loop(x):
    z, total = np.arange(5.0), 0.0
    for _ in range(3):
        total = total + np.sum(np.sin(z * x))
        fill(z)
    return total


def a_copy_filled(x):
    z = np.arange(5.0)
    y = np.sin(z * x)
    fill(z.copy())
    return np.sum(y * z)


def filled_before(x):
    z = np.arange(5.0)
    fill(z)
    return np.sum(np.sin(z * x))


def shuffled_list(x):
    order = [0, 1, 2, 3, 4]
    y = x[order] * x
    random.Random(3).shuffle(order)
    return np.sum(y * x[order])


def shuffled_list_globally(x):
    order = [0, 1, 2, 3, 4]
    y = x[order] * x
    random.shuffle(order)
    return np.sum(y * x[order])


def swapped_bytes(x):
    z = np.arange(5.0)
    y = np.sin(z * x)
    z.byteswap(True)
    return np.sum(y)


def added_by_name(x):
    z = np.arange(5.0)
    y = np.sin(z * x)
    z.__iadd__(3.0)
    return np.sum(y * z)


def written_through_a_buffer(x):
    z = np.arange(5.0)
    y = np.sin(z * x)
    np.frombuffer(z)[1] = 7.0
    return np.sum(y * z)


def written_by_an_iterator(x):
    z = np.arange(5.0)
    y = np.sin(z * x)
    for item in np.nditer(z, op_flags=["readwrite"]):
        item[...] = 2.0
    return np.sum(y * z)


@pytest.mark.parametrize(
    "fn",
    [
        shuffled_list, shuffled_list_globally, swapped_bytes, added_by_name, written_through_a_buffer,
        written_by_an_iterator,
    ],
)  # fmt: skip
def test_refused(fn):
    with pytest.raises(Refused):
        ad.grad(fn)(X)


@pytest.mark.parametrize("fn", [filled_after, filled_in_a_loop, a_copy_filled, filled_before])
def test_right(fn):
    differences = [(fn(X + e) - fn(X - e)) / 2e-6 for e in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(ad.grad(fn)(X), differences, rtol=1e-6, atol=1e-8)


def test_a_tangent_is_a_copy_where_its_primal_is():
    def f(x):
        y = x.T * 1.0
        flat = y.ravel()
        flat[1] = flat[2] * y[0, 0]
        y[0, 0] = y[0, 0] * flat[1]
        return np.sum(y * np.sin(y)) * np.sum(flat)

    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    for point in (x, np.asfortranarray(x)):
        _, tangent = ad.jvp(f, (point,), (direction,))
        np.testing.assert_allclose(tangent, np.sum(ad.grad(f)(point) * direction), rtol=1e-12)
