"""Axes of one length, and axes that only seem to have one: in branches, in loops that may not run, under masks."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(11)
SHORT, LONG = RNG.normal(size=3), RNG.normal(size=4)
X, Y = RNG.normal(size=6), RNG.normal(size=6)
NEGATIVE = -np.abs(RNG.normal(size=6)) - 0.1


def met_in_a_loop_that_does_not_run(x, y, n):
    a, b, s = np.cumsum(x), np.cumsum(y), 0.0
    for _ in range(n):
        s = s + np.sum(a + b)
    return s + np.sum(np.cumsum(a)) + np.sum(b * b)


def met_in_a_branch_not_taken(x, y):
    a, b, s = np.cumsum(x), np.cumsum(y), 0.0
    if x[0] > 100:
        s = np.sum(a + b)
    return s + np.sum(np.cumsum(a)) + np.sum(b * b)


def met_one_in_each_branch(x, y):
    a, b, s = np.cumsum(x), np.cumsum(y), 0.0
    for k in range(2):
        c = np.ones(3 + k)
        if k == 0:
            s = s + np.sum(c * a)
        else:
            s = s + np.sum(c * b)
    return s + np.sum(np.cumsum(a)) * np.sum(b * b)


def slices_of_two_iterations(x, y):
    current = x
    for i in range(3):
        previous, current = current, x[i:]
    return np.sum(current * previous) + y[0]


def slice_kept_from_an_iteration(x, y):
    for i in range(3):
        current = x[i:]
        if i == 1:
            kept = current
    return np.sum(current * kept) + y[0]


def shrinking_selection(x, y):
    s, t = 0.0, x * 1.0
    for _ in range(4):
        t = t[t > -0.5]
        gaps = t[1:] - t[:-1]
        s += np.sum(gaps * gaps)
    return s + y[0]


def picked_and_broadcast(x, y):
    total = 0.0
    for i in range(3):
        u = x[x > 0.3 * i] * 2.0
        if i == 1:
            kept = u
        total += np.sum(u**2)
    return total + np.sum(kept) * np.sum(u[:1] * y[:1])


def mask_written_between(x, y):
    mask = x > 0
    z = x * y
    z[mask] *= y[mask]
    mask[0] = not mask[0]
    z[mask] += x[mask]
    return np.sum(z * z)


def mask_that_grows(x, y):
    mask, s = x > 0, 0.0
    for i in range(3):
        u = x[mask] * 2
        if i > 0:
            s += np.sum(u) * np.sum(previous * y[0])  # noqa: F821
        previous = u
        mask[i] = True
    return s


def mask_turned_in_place(x, y):
    mask = x > 0
    np.logical_not(mask, out=mask)
    u = x[mask]
    np.logical_not(mask, out=mask)
    return np.sum(u) * np.sum(y[mask] ** 2)


def masks_and_slices(x, y):
    table = np.outer(x, y)
    table[table > 0] *= 2
    table[x > 0] -= y
    table[x > 0, 1:] *= 3
    return np.sum(table**2)


def last_of_many(x, y):
    part = x * 1.0
    for i in range(3):
        part = x[i:]
    return np.sum(part * part) + y[0]


def last_of_many_in_two_loops(x, y):
    part = x * 1.0
    for i in range(3):
        for j in range(2):
            part = x[i:] * y[j]
    return np.sum(part * part)


def last_of_a_try(x, y):
    part = x * 1.0
    for i in range(3):
        try:
            if i == 2:
                raise ValueError
            part = x[i:] * y[i]
        except ValueError:
            pass
    return np.sum(part * part)


def read_only_for_its_length(x, y):
    part, s = x * 1.0, 0.0
    for i in range(3):
        if len(part) > 3:
            s = s + y[i]
        part = x[2 * i :] * y[i]
    return np.sum(part * part) * s


CASES = [
    *((fn, X, Y) for fn in (last_of_many, last_of_many_in_two_loops, last_of_a_try, read_only_for_its_length)),
    *((fn, x, Y) for fn in (mask_written_between, mask_that_grows, mask_turned_in_place) for x in (X, NEGATIVE)),
    *((fn, x, Y) for fn in (masks_and_slices, shrinking_selection) for x in (X, NEGATIVE)),
    *((fn, SHORT, LONG) for fn in (slices_of_two_iterations, slice_kept_from_an_iteration)),
    (picked_and_broadcast, X, Y),
    (picked_and_broadcast, -NEGATIVE, Y),
    (met_in_a_loop_that_does_not_run, SHORT, LONG, 0),
    (met_in_a_branch_not_taken, SHORT, LONG),
    (met_one_in_each_branch, SHORT, LONG),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_lengths_that_change_or_never_meet(case):
    fn, *args = case
    for position, found in enumerate(ad.grad(fn, (0, 1))(*args)):
        expected = differences(fn, tuple(args), position)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def scaled_where_small(signal):
    signal[signal < 0] *= 0.1
    return np.sum(signal**2)


def replaced_by_shorter_ones(x, y, n):
    size = np.sqrt(x @ x)
    for _ in range(n):
        t = np.array([y[-1], y[0]])
        x = t * y[1]
    chosen = np.where(x > 0, np.array([1.0, 2.0]), x)  # so it is two numbers now
    return x[-1] * size + np.sum(chosen)


def test_what_a_loop_replaces_has_another_length_before_it():
    for args in ((X, Y, 2), (X[:3], Y, 1), (X[:1], Y, 3), (X[:2], Y, 0)):
        value, (d_x, d_y) = ad.value_and_grad(replaced_by_shorter_ones, (0, 1))(*args)
        assert value == replaced_by_shorter_ones(*args)
        np.testing.assert_allclose(d_x, differences(replaced_by_shorter_ones, args), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(d_y, differences(replaced_by_shorter_ones, args, 1), rtol=1e-6, atol=1e-8)


def test_a_mask_picks_one_length():
    """What a mask picks is multiplied in place: nothing is kept for its shape, nothing summed."""
    source = ad.adjoint_source(scaled_where_small, X)
    assert "d_signal[condition] *= 0.1" in source
    assert "unbroadcast" not in source and "old" not in source
