"""Scalars of which only the run tells whether they are Python's or NumPy's: a sum that may have no terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_sct import grad, jvp, value_and_grad

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
    with pytest.raises(ValueError, match="math domain"):
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
