"""Lists of saved values that grow in loops which do not know how long they run."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.core import thresholds
from tests.native.test_backend import assert_alike


def halve(x, low):
    total = 0.0
    while x > low:
        total = total + math.log(x)
        x = x * 0.999
    return total


def pair(x, low):
    y = np.array([x, 0.5 * x])
    steps = 0
    while y[0] > low:
        y = y * (1.0 - 0.001 * y[1])
        steps += 1
    return y[0] * y[1]


def inner(x, counts):
    total, k = 0.0, 0
    while k < len(counts):
        for _ in range(counts[k]):
            x = np.sin(x) * 1.01
            total = total + x * x
        k += 1
    return total


def outer(x, rows):
    total = 0.0
    for i in range(len(rows)):
        j = 0
        while j < rows[i]:
            total = total + x[i] * math.sqrt(total + 1.0)
            j += 1
    return total


@pytest.mark.parametrize(
    ("fn", "short", "long"),
    [
        (halve, (2.0, 1.0), (2e6, 1e-30)),
        (pair, (1.0, 0.9), (1.0, 0.05)),
        (inner, (0.7, np.array([2, 0, 3])), (0.7, np.array([500, 0, 9000, 40]))),
        (outer, (np.array([0.1, 0.2]), np.array([3, 0])), (np.array([1e-3, 1e-3, 2e-3]), np.array([900, 0, 300]))),
    ],
)
def test_more_steps_than_there_is_room_for(fn, short, long):
    """Also after a short call, and by a function that has already seen a long one."""
    natively = ad.value_and_grad(fn, backend="numba")
    for args in (short, long, short):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = natively(*args)
        assert_alike(found, ad.value_and_grad(fn)(*args), 1e-7)


def test_room_is_kept():
    """A function that has needed more room begins with it the next time."""
    gradient = ad.grad(halve, backend="numba")
    steps = math.ceil(math.log(1e5) / -math.log(0.999))
    assert steps > 8 * thresholds.ITEMS_AT_FIRST
    first, again = gradient(1e5, 1.0), gradient(1e5, 1.0)
    assert first == again
    assert first == pytest.approx(ad.grad(halve)(1e5, 1.0), rel=1e-9)
