"""Scalars of which only the run tells whether they are Python's or NumPy's: a sum that may have no terms."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterable, KeysView, Sequence, ValuesView
from numbers import Number
from typing import Any

import numpy as np
import pytest

from autodiff_sct import grad, jvp, value_and_grad
from autodiff_sct.errors import Refused

EMPTY, FULL = np.zeros(0), np.array([0.5, 1.0])


def less_all(c: Any, x: np.ndarray) -> Any:
    for v in x:
        c = c - v
    return c


def if_numpys(c: Any, x: np.ndarray) -> Any:
    r = less_all(c, x)
    if isinstance(r, np.float64):
        r = r * 2
    return r * r


def if_generic(c: Any, x: np.ndarray) -> Any:
    r = less_all(c, x)
    return r * r if isinstance(r, np.generic) else 3 * r


def if_pythons(c: Any, x: np.ndarray) -> Any:
    r = less_all(c, x)
    if type(r) is float:
        r = r * 2
    return r * r


def if_float(c: Any, x: np.ndarray) -> Any:
    r = less_all(c, x)
    return r * r if isinstance(r, float) else 3 * r


@pytest.mark.parametrize("x", [EMPTY, FULL, EMPTY.astype(np.float32), FULL.astype(np.float32)], ids=str)
@pytest.mark.parametrize("fn", [if_numpys, if_generic, if_pythons, if_float], ids=lambda fn: fn.__name__)
def test_the_class_is_asked_for_at_run_time(fn: Callable[..., Any], x: np.ndarray) -> None:
    value, slope = value_and_grad(fn)(-1.0, x)
    assert value == fn(-1.0, x)
    assert slope == pytest.approx((fn(-1.0 + 1e-3, x) - fn(-1.0 - 1e-3, x)) / 2e-3, rel=1e-3)


def root(c: Any, x: np.ndarray) -> Any:
    return abs(less_all(c, x) ** 0.5)


def test_powers_that_python_makes_complex_are_refused() -> None:
    with pytest.raises(ValueError, match="is complex, and so is its derivative"):
        grad(root)(-1.0, EMPTY)
    assert grad(root)(4.0, EMPTY) == 0.25
    assert grad(grad(root))(4.0, EMPTY) == -1 / 32
    assert jvp(root, (4.0, EMPTY), (1.0, EMPTY))[1] == 0.25


def test_powers_that_numpy_makes_nan_are_nan() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(root)(-1.0, FULL))


def test_whole_exponents_stay_as_they_are() -> None:
    assert grad(lambda c, x: less_all(c, x) ** 2.0)(-3.0, EMPTY) == -6.0
    assert grad(lambda c, x: less_all(c, x) ** -1)(-2.0, EMPTY) == -0.25


@typing.runtime_checkable
class Shaped(typing.Protocol):
    shape: tuple[int, ...]


def one_or_other(kinds: Any) -> Callable[[Any], Any]:
    def fn(x: Any) -> Any:
        y = np.sum(x) if x[0] > 0 else float(x[1])
        return y * 2 if isinstance(y, kinds) else y * y

    return fn


KINDS = [float, int, np.ndarray, np.floating, Number, Iterable, Sequence, (KeysView, ValuesView), (int, (float, list))]


@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), np.array([-1.0, 2.0])], ids=str)
@pytest.mark.parametrize("kinds", KINDS, ids=str)
def test_what_holds_for_each_class_that_a_number_may_have(kinds: Any, x: np.ndarray) -> None:
    fn = one_or_other(kinds)
    value, slope = value_and_grad(fn)(x)
    assert value == fn(x)
    moved = [(fn(x + e) - fn(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(slope, moved, rtol=1e-6, atol=1e-9)


def test_views_of_dicts_are_no_numbers() -> None:
    def as_array(a: Any) -> Any:
        if isinstance(a, (KeysView, ValuesView)):
            a = list(a)
        return np.asarray(a, np.float64)

    def fn(x: Any) -> Any:
        a, b = [np.squeeze(part) for part in np.split(np.where(x > 0, x, 2.0), 2)]
        return as_array(a) * as_array(b)

    assert np.array_equal(grad(fn)(np.array([3.0, 5.0])), [5.0, 3.0])


@pytest.mark.parametrize("kinds", [typing.Sequence, Shaped], ids=str)
def test_what_cannot_be_asked_of_a_class_is_refused(kinds: Any) -> None:
    with pytest.raises(Refused):
        grad(one_or_other(kinds))(np.array([1.0, 2.0]))


def test_negative_numbers_to_powers_that_python_makes_complex_are_refused() -> None:
    def fn(t: Any, x: Any) -> Any:
        return np.sum(abs((-2) ** t * x))

    x = np.array([1.0, -2.0])
    for wrt in (0, 1):
        with pytest.raises(ValueError, match="math domain"):
            grad(fn, wrt)(1.5, x)
    assert np.array_equal(grad(fn, 1)(3.0, x), [8.0, -8.0])
    assert np.array_equal(grad(fn, 1)(3, x), [8.0, -8.0])
    with pytest.raises(Refused):
        grad(lambda c, x: abs((-1) ** less_all(c, x)))(1.5, EMPTY)


@functools.cache
def letters(n: int) -> str:
    return "a" * n


def test_what_operations_make_of_something_unknown_need_not_be_a_number() -> None:
    def of_text(x: Any, n: int) -> Any:
        text = letters(n) + letters(n)
        return x * 2 if isinstance(text, str) else x * 3

    def of_text_again(x: Any, n: int) -> Any:
        try:
            return x * len((letters(n) * 2).upper())
        except AttributeError:
            return x * 3

    def of_keys(x: Any, n: int) -> Any:
        keys = {"n": n}.keys()
        return x * 2 if isinstance(keys, (list, tuple)) else x * 4

    for fn in (of_text, of_text_again, of_keys):
        assert value_and_grad(fn)(1.0, 2) == (fn(1.0, 2), fn(1.0, 2))
    assert grad(lambda x, n: x * 2 if isinstance(str(letters(n)), str) else x * 3)(1.0, 2) == 2.0
