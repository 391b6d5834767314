"""Writes inside `try` after which nothing can raise: an item is exchanged that was read before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
PLACES = [(V, 0, 3), (V, 0, 9), (V, 7, 1), (V, -1, 0)]


@case(*PLACES)
def exchanged(x: Any, i: int, j: int) -> Any:
    z = x.copy()
    try:
        z[i], z[j] = z[j], z[i]
    except IndexError:
        z = x * 2
    return np.sum(z * np.arange(4)) * x[0]


@case(*PLACES)
def one_after_the_other(x: Any, i: int, j: int) -> Any:
    z = x.copy()
    try:
        z[i] = z[j] * 2
        z[j] = 3 * z[i]
    except IndexError:
        z = z * 2
    return np.sum(z**2)


@case((V, {(0, 1), (2, 3)}), (V, [(0, 1), (3, 1)]))
def pairs_of_a_set(x: Any, pairs: Any) -> Any:
    energy = 0.0
    points = np.outer(x, np.arange(1.0, 4.0))
    for i, j in pairs:
        difference = points[i] - points[j]
        difference -= 2.0 * np.round(difference / 2.0)
        energy += np.sum(difference**2) ** 1.5
    return energy


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)
