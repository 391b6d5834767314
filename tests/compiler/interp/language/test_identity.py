"""`is` with truth values and small integers, of which Python and NumPy have one object each."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax
from tests.compiler.checked import check_gradient

X = np.array([0.5, 0.21, 0.9])


def large(v):
    return bool(v > 0.3)


def truth_values(x):
    total = 0.0
    for v in x:
        if large(v) is True:
            total += v * v
        elif large(v) is False:
            total += 3 * v
    return total


def numpys_are_not_pythons(x):
    is_large = x[0] > 0.1
    if np.all(x > 0) is np.True_:
        x = x * 7.0
    return x[0] * 2 if is_large is True else x[1] * 3


def until_it_is(x):
    done, total, i = False, 0.0, 0
    while done is not True:
        total += x[i] ** 2
        i += 1
        done = i >= len(x)
    return total


def matched(x):
    match large(x[0]):
        case True:
            return x[0] * 2
        case False:
            return x[1] * 3


def many_questions(x):
    total, a, b = 0.0, not large(x[0]), large(x[1]) and large(x[2])
    if a is False:
        total += x[0]
    if b is False:
        total += x[1] * 5
    if (len(x) > 2) is True:
        total += 11 * x[0]
    if all(v > 0 for v in x) is True:
        total += 13 * x[0]
    if any([v > 0.8 for v in x]) is not False:
        total += 17 * x[0]
    if math.isfinite(x[0]) is True:
        total += 19 * x[0]
    if isinstance(x, np.ndarray) is True:
        total += 23 * x[0]
    return total


@pytest.mark.parametrize("fn", [truth_values, numpys_are_not_pythons, until_it_is, matched, many_questions])
def test_truth_values(fn):
    check_gradient(fn, (X,))
    check_gradient(fn, (X[::-1].copy(),))


@pytest.mark.parametrize("test", ["len(x) is 3", "300 * len(x) is 900", "len(x) is not 4"])
def test_numbers(test):
    with pytest.warns(SyntaxWarning):  # Python's own, of the program
        fn = ad.from_source(f"def fn(x):\n    return x[0] * 2 if {test} else x[1] * 3\n")
        check_gradient(fn, (X,))


def test_a_float_that_may_be_a_constant_is_refused():
    with pytest.raises(UnsupportedSyntax, match="is the same object as a constant"):
        ad.grad(lambda x, y: x * 2 if y is np.nan else x * 3)(1.5, 2.0)


def test_integers():
    """Of two large integers only the interpreter knows whether they are one object."""
    with pytest.raises(UnsupportedSyntax, match="whether two integers are one object"):
        ad.grad(lambda x, m, n: x * 2 if m is n + 1 else x * 3)(1.5, 1000, 999)
    assert ad.grad(lambda x, n: x * 2 if [n][0] is n else x * 3)(1.5, 1000) == 2
