"""Native programs on arguments of other lengths than the first: nothing outside an array is read or written."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native, positions


def last(x):
    m = len(x) - 1
    return x[m] * 2.0


def last_each_time(x):
    m = len(x) - 1
    total = 0.0
    for i in range(3):
        total = total + x[m] * i
    return total


def shifted(x):
    n = len(x) - 2
    total = 0.0
    for i in range(n):
        total = total + x[i] * x[i + 2]
    return total + x[n]


def behind_a_quotient(x):
    k = (len(x) - 9) // 2
    return x[k] * 2.0


def least_length(x):
    total = 0.0
    for i in range(2):
        k = min(len(x), 2) - 4
        total = total + x[k] * i
    return total


def two_lengths(x, y):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * y[len(x) - 1 - i]
    return total


def one_further(x, n):
    y = np.zeros(5)
    for i in range(n):
        y[i] = x[i] * 2
        y[i + 1] = y[i] * x[0]
    return np.sum(y)


def joined(x, y):
    z = np.concatenate([x, y])
    total = 0.0
    for i in range(len(x)):
        total = total + z[i] * z[len(z) - 1 - i]
    return total


def of(n):
    return np.linspace(0.5, 1.5, n)


# The first arguments are those that the program is compiled with.
CASES = {
    last: [(of(4),), (of(0),), (of(1),)],
    last_each_time: [(of(4),), (of(0),), (of(2),)],
    shifted: [(of(6),), (of(0),), (of(1),), (of(2),), (of(3),)],
    behind_a_quotient: [(of(10),), (of(0),), (of(2),), (of(5),)],
    least_length: [(of(10),), (of(0),), (of(1),), (of(5),)],
    two_lengths: [(of(4), of(4)), (of(2), of(5)), (of(5), of(2))],
    one_further: [(of(5), 2), (of(5), 6), (of(5), 5), (of(5), 0), (of(5), -2)],
    joined: [(of(5), of(7)), (of(5), of(2)), (of(3), of(0))],
}


def outcome(gradient, args):
    """The result, or the type of what was raised."""
    try:
        return gradient(*args)
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore::autodiff_sct.compiler.numba.NativeWarning")
@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_other_lengths(fn):
    first = CASES[fn][0]
    ours = ad.value_and_grad(fn, positions(first), backend="numba")
    theirs = ad.value_and_grad(fn, positions(first))
    assert "njit" in ours.source_for(*first)
    for args in CASES[fn]:
        found, expected = outcome(ours, args), outcome(theirs, args)
        if isinstance(expected, type):
            assert found is expected
        else:
            assert_alike(found, expected)


def test_places_of_small_arrays_keep_their_dtype():
    def f(x, n):
        s = np.zeros(2)
        s[0] = n
        s[1] = x[0]
        total = 0.0
        for _ in range(2):
            total = total + s[0] * s[0] * s[0] * s[1]
        return total

    x = of(2)
    assert_alike(native(f, x, 2**30), ad.value_and_grad(f, (0,))(x, 2**30))


def test_steps_over_constants():
    def f(x):
        y = x.copy()
        for i in range(0, 4, 2):
            part = y[i : i + 2]
            part *= x[i]
        return np.sum(y * y)

    x = of(4)
    assert_alike(native(f, x), ad.value_and_grad(f, (0,))(x))


def last_of_a_rule(x):
    return np.arange(5)[-1] * x[0] + np.sum(np.eye(5)[-1] * x * x)


def last_of_reversed(x):
    total = 0.0
    for i in range(3):
        total = total + x[1:][i - 1] * x[::-1][i - 2] + np.arange(5)[i - 2] * x[i]
    return total


def last_of_product(x):
    m = np.outer(x[::-1], np.cos(x * x))
    return m[-3, 1] * m[0, -1] + np.sum(m[-2] * m[:, -1])


@pytest.mark.parametrize("fn", [last_of_a_rule, last_of_reversed, last_of_product], ids=lambda fn: fn.__name__)
def test_places_from_the_end_of_what_is_not_in_memory(fn):
    x = np.linspace(0.3, 1.1, 5)
    assert_alike(native(fn, x), ad.value_and_grad(fn, (0,))(x))


@pytest.mark.parametrize(
    ("fn", "bounds"),
    [
        (lambda x, a, b: np.sum(np.arange(a, b)[: len(x)] * x), [(1, 9), (-3, 4.5)]),
        (lambda x, a, b: np.sum(np.arange(a, b, 0.3)[: len(x)] * x), [(0.5, 7.25)]),
        (lambda x, a, b: np.sum(np.arange(b, a, -2)[: len(x)] * x), [(1, 9)]),
        (lambda x, a, b: np.sum(np.arange(a, b, 3)[: len(x)] * x), [(-2, 8), (0, 8.5)]),
        (lambda x, a, b: np.sum(np.arange(b)[: len(x)] * x), [(0, 7.25)]),
    ],
)
def test_numbers_in_equal_steps(fn, bounds):
    x = np.array([0.3, 0.5, 0.7])
    for a, b in bounds:
        expected = ad.value_and_grad(fn)(x, a, b)
        assert_alike(ad.value_and_grad(fn, backend="numba")(x, a, b), expected)
        assert expected[0] == fn(x, a, b)
