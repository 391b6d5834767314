"""The derivatives chosen where a function has a kink, a tie, a step or a singular point."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct.rules  # noqa: F401  (fills the table)
from autodiff_sct.rules.table import TABLE
from autodiff_sct.runtime.scan import products_of_others, recurrence, running_products_adjoint, shift

pytestmark = pytest.mark.once

NAN, INF = np.nan, np.inf


def entries(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """What each argument gets for a cotangent of ones, as lists."""
    with np.errstate(all="ignore"):
        y = fn(*args, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule = TABLE[fn].reverse
        assert rule is not None
        got = rule(y, np.ones_like(y), *args, **kwargs)
    got = got if isinstance(got, tuple) else (got,)
    return [None if e is None else np.asarray(e).tolist() for e in got]


def test_absolute_value_at_zero() -> None:
    x = np.array([0.0, -0.0, 2.0, -2.0])
    assert entries(np.abs, x) == [[0, 0, 1, -1]]
    assert entries(abs, 0.0) == [0]
    np.testing.assert_allclose(entries(np.abs, np.array([0j, 3 + 4j])), [[0, 0.6 - 0.8j]])
    assert entries(np.hypot, np.array([0.0, 3.0]), np.array([0.0, 4.0])) == [[0, 0.6], [0, 0.8]]
    assert entries(math.hypot, 0.0, 0.0) == [0, 0]


def test_ties_of_two_get_halves() -> None:
    a, b = np.array([1.0, 2.0, 3.0, INF, -INF]), np.array([2.0, 2.0, 2.0, INF, -INF])
    for fn in (np.maximum, np.fmax):
        assert entries(fn, a, b) == [[0, 0.5, 1, 0.5, 0.5], [1, 0.5, 0, 0.5, 0.5]]
    for fn in (np.minimum, np.fmin):
        assert entries(fn, a, b) == [[1, 0.5, 0, 0.5, 0.5], [0, 0.5, 1, 0.5, 0.5]]


def test_a_nan_stays_in_its_element() -> None:
    a, b = np.array([1.0, NAN, 3.0]), np.array([0.0, 1.0, NAN])
    assert entries(np.maximum, a, b)[0][0] == 1
    assert entries(np.fmax, a, b) == [[1, 0, 1], [0, 1, 0]]
    assert entries(np.nansum, np.array([1.0, NAN])) == [[1, 0]]
    assert entries(np.nanmax, np.array([1.0, NAN, 2.0])) == [[0, 0, 1]]


def test_infinite_cotangents_stay_where_they_are() -> None:
    rule = TABLE[np.maximum].reverse
    assert rule is not None
    d_a, d_b = rule(np.array([2.0, 2.0]), np.array([INF, 1.0]), np.array([2.0, 1.0]), np.array([1.0, 2.0]))
    assert d_a.tolist() == [INF, 0] and d_b.tolist() == [0, 1]


@pytest.mark.parametrize("fn", [np.max, np.amax, np.nanmax, np.maximum.reduce])
def test_ties_of_many_share_evenly(fn: Callable[..., Any]) -> None:
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    assert entries(fn, x, axis=1) == [[[0, 0.5, 0.5], [1 / 3] * 3]]
    assert entries(fn, x, axis=None) == [[[0, 0.5, 0.5], [0, 0, 0]]]


def test_an_initial_value_takes_part_in_a_tie() -> None:
    assert entries(np.max, np.array([1.0, 2.0]), initial=2.0) == [[0, 0.5], None, None, 0.5]
    assert entries(np.max, np.array([1.0, 2.0]), initial=5.0) == [[0, 0], None, None, 1]


def test_order_statistics_share_evenly() -> None:
    assert entries(np.median, np.array([1.0, 2.0, 2.0, 5.0])) == [[0, 0.5, 0.5, 0]]
    assert entries(np.ptp, np.array([1.0, 1.0, 3.0])) == [[-0.5, -0.5, 1]]
    assert entries(np.sort, np.array([2.0, 1.0, 2.0])) == [[1, 1, 1]]


def test_clip_passes_at_its_bounds() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    assert entries(np.clip, x, 0.0, 1.0)[:3] == [[0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    # Bounds that cross: the result is the upper one.
    assert entries(np.clip, x, 1.0, 0.0)[:3] == [[0] * 5, [0] * 5, [1] * 5]


def test_powers_of_zero() -> None:
    for zero in (0.0, np.zeros(1)):
        slopes = [np.ravel(entries(operator.pow, zero, n)[0])[0] for n in (0, 1, 2, 3)]
        assert slopes == [0, 1, 0, 0]
        assert np.ravel(entries(operator.pow, zero, 2.0)[1])[0] == 0
    assert entries(np.power, np.zeros(3), np.array([0.0, 1.0, 2.0])) == [[0, 1, 0], [0, 0, 0]]
    assert entries(np.power, np.array([-2.0, 3.0]), 2)[0] == [-4, 6]


def test_standard_deviation_of_equal_numbers() -> None:
    assert entries(np.std, np.ones(3)) == [[0, 0, 0]]
    assert entries(np.std, np.ones((2, 3)), axis=0) == [[[0] * 3] * 2]
    assert entries(np.nanstd, np.array([1.0, NAN, 1.0])) == [[0, 0, 0]]


def test_steps_have_derivative_zero() -> None:
    assert entries(np.copysign, np.array([0.0, 2.0]), -1.0) == [[0, -1], 0]
    assert entries(np.fmod, 1.0, 0.1) == [1, -9]
    assert entries(np.remainder, 1.0, 0.1) == [1, -9]


def test_logarithms_of_no_probability() -> None:
    assert entries(np.logaddexp, np.array([-INF, 0.0]), np.array([-INF, -INF])) == [[0, 1], [0, 0]]
    assert entries(np.logaddexp.reduce, np.array([-INF, -INF])) == [[0, 0]]


def test_products_with_zeros() -> None:
    assert entries(np.prod, np.array([2.0, 0.0, 3.0])) == [[0, 6, 0]]
    assert entries(np.prod, np.array([2.0, 0.0, 0.0])) == [[0, 0, 0]]
    assert entries(np.cumprod, np.array([2.0, 0.0, 3.0])) == [[1, 8, 0]]


def test_interp_has_the_slope_on_the_right() -> None:
    knots, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 2.5])
    assert entries(np.interp, np.array([0.0, 1.0, 3.0, 4.0]), knots, values)[0] == [2, 0.25, 0.25, 0]


def test_sinc_is_smooth_at_zero() -> None:
    rule = TABLE[np.sinc].reverse
    assert rule is not None
    for x in (1e-7, 0.0999, 0.1001):
        t = math.pi * x
        exact = math.pi * sum((-1) ** k * 2 * k * t ** (2 * k - 1) / math.factorial(2 * k + 1) for k in range(1, 12))
        assert rule(np.sinc(x), 1.0, x) == pytest.approx(exact, rel=1e-10)


def test_scan_functions() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert shift(x, 5).tolist() == [0, 0, 0]
    assert shift(x, -1, fill=7).tolist() == [2, 3, 7]
    assert shift(np.zeros((0, 2)), 1, 0).shape == (0, 2)
    assert recurrence(x, x).tolist() == [1, 4, 15]
    assert recurrence(x, x, backward=True).tolist() == [9, 8, 3]
    assert recurrence(x[:0], x[:0]).shape == (0,)
    assert products_of_others(np.ones((2, 0)), 1).shape == (2, 0)
    assert products_of_others(np.array(3.0)).tolist() == 1


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("scale", [1e-40, 0.1, 1.0, 3.0, 1e30, 0.0, np.inf, np.nan])
def test_running_products_of_all_sizes(dtype, scale):
    a = np.array([[0.5, -2.0, 3.0, -0.25, 1.5], [scale, 2.0, 1.0, scale, 0.5]]).astype(dtype)
    d = np.array([[1.0, 2.0, -1.0, 0.5, 3.0]] * 2).astype(dtype)
    found = running_products_adjoint(d, a, 1)
    expected = np.zeros_like(a)
    for k in range(5):  # without any quotient
        others = a.copy()
        others[:, k] = 1
        expected[:, k] = np.sum((d * np.cumprod(others, 1))[:, k:], 1)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-12 if dtype != np.float32 else 1e-5)
