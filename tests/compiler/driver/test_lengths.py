"""Lengths that decide what the program is: how many items are unpacked into a call, into defaults, between others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core import thresholds

X = np.array([0.3, 0.5, 0.7])


def model(x: Any, a: Any, b: Any = 2.0, c: Any = 0.5) -> Any:
    return a * np.sum(x**b) + c * a * x[0]


def fit(p: Any) -> Any:
    return model(X, *p)


def slopes(count: int) -> np.ndarray:
    a, b, c = 1.5, 3.0, 0.7
    c_used, b_used = (c if count > 2 else 0.5), (b if count > 1 else 2.0)
    found = [np.sum(X**b_used) + c_used * X[0], a * np.sum(X**b_used * np.log(X)), a * X[0]]
    return np.array(found[:count])


@pytest.mark.parametrize("made", [np.array, list, tuple])
def test_unpacked_parameters_leave_some_defaults(made: Any) -> None:
    derivative = ad.grad(fit)
    for _ in range(2):
        for count in (1, 2, 3):  # each has a variant of its own
            p = made([1.5, 3.0, 0.7][:count])
            np.testing.assert_allclose(np.array(derivative(p)), slopes(count))
            _, tangent = ad.jvp(fit, (p,), (made([1.0, 2.0, 3.0][:count]),))
            np.testing.assert_allclose(tangent, slopes(count) @ np.array([1.0, 2.0, 3.0])[:count])
    with pytest.raises(TypeError):
        derivative(made([1.5, 3.0, 0.7, 0.1]))


def test_the_same_inside_of_containers() -> None:
    derivative = ad.grad(lambda q: fit(q["fit"][0]))
    for count in (1, 3, 2):
        p = np.array([1.5, 3.0, 0.7][:count])
        np.testing.assert_allclose(derivative({"fit": [p, "linear"]})["fit"][0], slopes(count))


before, after = [X], [3.0]


def between(a: Any) -> Any:
    return model(*before, a, *after)


def test_captured_lists_around_an_argument() -> None:
    derivative = ad.grad(between)
    assert derivative(1.5) == pytest.approx(np.sum(X**3) + 0.5 * X[0])
    after.append(0.7)
    try:
        assert derivative(1.5) == pytest.approx(np.sum(X**3) + 0.7 * X[0])
    finally:
        after.pop()
    assert derivative(1.5) == pytest.approx(np.sum(X**3) + 0.5 * X[0])


def weighted(p: Any, *, scale: float = 1.0) -> Any:
    def total(first: Any, *others: Any, power: float = 2.0) -> Any:
        return first + sum(other**power for other in others)

    return scale * total(*p, *p)


@pytest.mark.parametrize("count", [1, 2, thresholds.SETTING])
def test_two_in_one_call(count: int) -> None:
    p = np.linspace(0.5, 1.5, count)
    expected = 4 * p
    expected[0] = 1 + 2 * p[0]
    np.testing.assert_allclose(ad.grad(weighted)(p), expected)
    np.testing.assert_allclose(ad.grad(weighted)(p, scale=3.0), 3 * expected)


def test_long_ones_are_refused() -> None:
    with pytest.raises(ad.errors.Refused, match="number of items"):
        ad.grad(lambda p: model(X, *p))(np.ones(thresholds.SETTING + 1))
