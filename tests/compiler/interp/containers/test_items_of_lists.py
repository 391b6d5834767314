"""Items of lists of arrays that are written in place: what is returned of them, and what is read through the list."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V

W = V[::-1] * 0.5


def one_untouched(items):
    items[1] *= 0.3
    return items[0]


def one_written(items):
    items[1] *= 0.3
    return items[1]


def both_of_them(items):
    items[1] *= 0.3
    return items[0], items[1]


def the_list(items):
    items[1] *= 0.3
    return items


def read_before(items):
    first = items[0]
    items[1] *= items[0]
    return first


def on_one_path(items):
    chosen = items[1]
    try:
        chosen = items[0]
        if np.sum(items[0]) > 0.0:
            raise ValueError
    except ValueError:
        items[1] *= 0.3
    return chosen


def number_kept_in_a_dict(items):
    kept = {"a": items[1][1]}
    items[1][1] = 1.0
    return kept["a"] * items[0][0]


def product_kept_in_a_dict(items):
    kept = {"a": items[1] * 2.0, "b": items[0]}
    items[1][:] = items[0]
    return np.sum(kept["a"] * kept["b"] * items[1])


PROGRAMS = [
    one_untouched,
    one_written,
    both_of_them,
    the_list,
    read_before,
    on_one_path,
    number_kept_in_a_dict,
    product_kept_in_a_dict,
]


def total(result: Any) -> float:
    return float(sum(np.sum(item) for item in result) if isinstance(result, (list, tuple)) else np.sum(result))


def differences(fn: Callable[..., Any], items: list[np.ndarray]) -> list[np.ndarray]:
    found = [np.zeros_like(item) for item in items]
    for k, item in enumerate(items):
        for i in range(len(item)):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [each.copy() for each in items]
                moved[k][i] += step
                ends.append(total(fn(moved)))
            found[k][i] = (ends[0] - ends[1]) / 2e-6
    return found


def ones(result: Any) -> Any:
    return type(result)(map(ones, result)) if isinstance(result, (list, tuple)) else np.ones_like(result)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradient_and_pullback(fn: Callable[..., Any]) -> None:
    given = [V.copy(), W.copy()]
    expected = differences(fn, given)
    value, pull = ad.vjp(fn, given)
    for gradient in (ad.grad(fn)(given), pull(ones(value))[0], pull(ones(value))[0]):
        for found, wanted in zip(gradient, expected):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(total(value), total(fn([V.copy(), W.copy()])))
    np.testing.assert_array_equal(given, [V, W])


def tails(x):
    rows = [x[i:] for i in range(3)]
    rows[0][1] = 5.0
    return sum(np.sum(r**2) for r in rows)


def tails_of_some(x):
    rows = []
    for i in range(len(x)):
        rows.append(x[i:])
    rows[1] *= x[0]
    return np.sum(rows[0] * rows[0][::-1])


@pytest.mark.parametrize("fn", [tails, tails_of_some])
def test_views_that_overlap_in_a_list(fn: Callable[..., Any]) -> None:
    (expected,) = differences(lambda items: fn(items[0]), [V])
    np.testing.assert_allclose(ad.grad(fn)(V), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.vjp(fn, V)[1](1.0)[0], expected, rtol=1e-6, atol=1e-7)


def test_nothing_to_reduce() -> None:
    def fn(x, n):
        return functools.reduce(lambda a, b: a * b, [x + k for k in range(n)])

    assert ad.grad(fn)(2.0, 2) == 5.0
    for call in (fn, ad.grad(fn)):
        with pytest.raises(TypeError, match="empty iterable"):
            call(2.0, 0)


def replaced_and_longer(x, n):
    items = [x, x * 2.0]
    product = items[-1] * items[0]
    for _ in range(n):
        items = items[::1]
    items.append(x * x)
    return x * product + sum(items)


def longer_and_replaced(x, n):
    items = [x, x * 2.0]
    product = items[-1] * items[0]
    for i in range(n):
        items.append(x * i)
        items = items[::-1]
    return x * product + sum(items) * items[-1]


def shorter_and_replaced(x, n):
    items = [x, x * 2.0]
    product = items[-1] * items[0]
    for _ in range(n):
        product = product + items.pop() * items[-1]
        front = [x, x**2]
        items = front + items
    return x * product + sum(items) * items[-1]


@pytest.mark.parametrize("fn", [replaced_and_longer, longer_and_replaced, shorter_and_replaced])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_list_of_another_length_in_or_after_a_loop(fn: Callable[..., Any], n: int) -> None:
    expected = (fn(1.3 + 1e-6, n) - fn(1.3 - 1e-6, n)) / 2e-6
    np.testing.assert_allclose(ad.grad(fn)(1.3, n), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.vjp(lambda x: fn(x, n), 1.3)[1](1.0)[0], expected, rtol=1e-6)
