"""Reshaping in Fortran's order, of arrays that the program writes, and orders that only memory tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


@case(V)
def copy_is_written(x: Any) -> Any:
    m = (x * 1.0).reshape(2, 2)
    f = m.ravel("F")
    f *= 2
    return m[0] @ m[1] + f @ f**2


@case(V)
def copy_of_what_is_written(x: Any) -> Any:
    y = x * 1.0
    m = y.reshape(2, 2)
    m[0, 1] = m[0, 0] ** 2
    return m.ravel("F") @ y


@case(V)
def view_of_a_transposed_array(x: Any) -> Any:
    m = (x * 1.0).reshape(2, 2).T
    f = m.ravel(order="F")
    f[1] = f[0] * 2
    return np.sum(m**2) + f @ x


@case(V)
def reshaped(x: Any) -> Any:
    m = np.reshape(x * 1.0, (2, 2), order="F")
    m[0] = m[1] * 2
    n = np.reshape(m, (4, 1), order="F")
    n[2] = n[1] ** 2
    return np.sum(m**3) + np.sum(n[:, 0] * x)


@case(V)
def flattened(x: Any) -> Any:
    m = np.outer(x, x)
    m[1] = m[0] * 2
    f = m.flatten("F")
    f[3:] *= f[:-3]
    return f @ np.arange(16.0) + np.sum(m)


@case(V)
def of_a_vector(x: Any) -> Any:
    return x.ravel(order="K") @ x**2


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn: Callable[..., Any], args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_tangent(fn: Callable[..., Any], args: Any) -> None:
    check_tangent(fn, args)


def as_in_memory(x: Any) -> Any:
    return np.outer(x, x**2).T.ravel(order="K") @ np.arange(16.0)


def as_in_memory_written(x: Any) -> Any:
    m = np.outer(x, x**2).T
    m[0] = 1.0
    f = m.ravel(order="A")
    f *= 2
    return f @ np.arange(16.0)


@pytest.mark.parametrize("fn", [as_in_memory, as_in_memory_written], ids=lambda fn: fn.__name__)
def test_orders_that_memory_tells_are_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises((AutodiffError, NotImplementedError)):
        ad.grad(fn)(V)
    with pytest.raises((AutodiffError, NotImplementedError)):
        ad.jvp(fn, (V,), (V,))
