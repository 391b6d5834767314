"""The tangent of `np.choose` from a list of arrays, picked by a number, an array of integers, or a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case((V, 1), (V, np.array([0, 2, 1, 0])), (V[:1], 2), (np.linspace(-1, 1, 130), 0))
def picked(x: Any, k: Any) -> Any:
    return np.sum(np.choose(k, [x, x**2, np.sin(x)]) * x)


@case(V)
def by_a_mask(x: Any) -> Any:
    return np.sum(np.choose((x > 0).astype(int), [x[0], x**2]) * x)


@case(V)
def beside_constants(x: Any) -> Any:
    return np.sum(np.choose([0, 1, 3, 1], (x, np.ones(4), x * 2), mode="clip") ** 2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_both_modes(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)
