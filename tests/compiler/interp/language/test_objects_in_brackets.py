"""``r_[a, b]`` and other objects that compute with what is in their brackets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import c_, ogrid, r_, s_
from numpy.ma import mr_
from scipy import signal

import autodiff_sct as ad
from autodiff_sct.errors import NoRule
from tests.compiler.checked import check_gradient, check_tangent

X = np.array([1.5, 0.7, -0.4, 2.0])


def row(x: Any) -> Any:
    return np.sum(r_[-x, 2.0, x[1:] ** 2] ** 2)


def rows(x: Any) -> Any:
    top = -np.array([x[1:]])
    return np.sum(r_[top, np.eye(2, 3)] ** 2)


def columns(x: Any) -> Any:
    return np.sum(c_[x, x**2] ** 3)


def window(x: Any) -> Any:
    return np.sum(x[s_[1:3]] ** 2 * ogrid[0:2])


def state_space(x: Any) -> Any:
    a, b, c, d = signal.tf2ss([1.0, 0.3, 2.0, 0.1], x)
    return np.sum(a**2) + np.sum(b**2) + np.sum(c**2) + np.sum(d**2)


@pytest.mark.parametrize("fn", [row, rows, columns, window, state_space])
def test_numpys_objects_by_their_names(fn: Callable[[Any], Any]) -> None:
    check_gradient(fn, (X,))
    check_tangent(fn, (X,))


def masked_row(x: Any) -> Any:
    return np.sum(mr_[x, x] ** 2)


def samples(x: Any) -> Any:
    return np.sum(r_[0.0 : x[0] : 3j] ** 2)


@pytest.mark.parametrize("fn", [masked_row, samples])
def test_what_they_compute_is_no_constant(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(NoRule):
        ad.grad(fn)(X)
