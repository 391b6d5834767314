"""What counts as an effect of a program: what is seen from outside it, and so may not happen twice."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver.dispatch import Adjoint

pytestmark = pytest.mark.once


def taken_off(x: Any) -> Any:
    pending, total = [x[0], x[1], x[2]], 0.0
    while len(pending) > 0:
        total = total + np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0)) * pending.pop()
    return total


def taken_off_an_argument(x: Any, weights: Any) -> Any:
    total = 0.0
    while len(weights) > 0:
        total = total + np.sum(np.where(x > 0, np.sqrt(x), 0.0)) * weights.pop()
    return total


def taken_off_recursively(x: Any) -> Any:
    def rest(items: Any, k: Any) -> Any:
        mine = [items[k], items[k] ** 2]
        last = mine.pop()
        return last if k == 0 else last + rest(items, k - 1)

    return rest(x, len(x) - 1)


def says_so(x: Any) -> Any:
    print("here")
    return np.sum(x**2)


def effects_of(function: Any, *args: Any) -> bool:
    return Adjoint(function, (0,), (), False, False, False).has_effects(args, {})


def test_taking_an_item_off_a_list_is_a_write() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert not effects_of(taken_off, x)
    assert not effects_of(taken_off_an_argument, x, [1.0, 2.0])
    assert not effects_of(taken_off_recursively, x)
    assert effects_of(says_so, x)


def test_a_program_that_takes_items_off_may_be_run_again() -> None:
    """A derivative that is NaN is computed again, from the arguments as they were."""
    x, weights = np.array([4.0, 0.0, 9.0]), [1.0, 2.0]
    with np.errstate(all="ignore"):
        found = ad.grad(taken_off_an_argument)(x, weights)
    np.testing.assert_allclose(found, [0.75, 0.0, 0.5])
    assert weights == [1.0, 2.0]
    with np.errstate(all="ignore"):
        found = ad.grad(taken_off)(x)
    roots = np.sum(np.sqrt(x))
    np.testing.assert_allclose(found, roots + np.array([0.25, 0.0, 1 / 6]) * np.sum(x))


def test_second_order_has_no_effects() -> None:
    """The lists of saved values that a gradient fills and empties are its own."""

    def filtered(x: Any) -> Any:
        state = np.zeros(2)
        for k in range(len(x)):
            state = np.tanh(state * 0.5 + x[k])
        return np.sum(state / (1.0 + state**2))

    def squared(x: Any) -> Any:
        return np.sum(ad.grad(filtered)(x) ** 2)

    assert not effects_of(squared, np.array([[0.3, 0.1], [0.5, -0.4], [0.2, 0.7]]))


@pytest.mark.filterwarnings("ignore:large")
def test_warnings_and_methods_of_numbers_may_come_twice() -> None:
    """A gradient whose function warns, or asks an integer for its bits, has a gradient."""

    def loss(x: Any) -> Any:
        if np.any(x > 2.5):
            warnings.warn("large", stacklevel=1)
        total = 0.0
        for k in range(x.size.bit_length()):
            if x[k] <= 0:
                break
            total += x[k] ** 3
        return total

    def squared(x: Any) -> Any:
        return np.sum(ad.grad(loss)(x) ** 2)

    x = np.array([1.0, 3.0, 2.0, 0.5])
    np.testing.assert_allclose(ad.grad(squared)(x), [36.0, 972.0, 288.0, 0.0])
