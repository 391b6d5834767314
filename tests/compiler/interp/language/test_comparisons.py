"""Comparisons of shapes and dtypes whose outcome is known at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.linspace(0.1, 0.9, 30)
SINGLE = np.dtype("float32")
FLOATS = (np.dtype("float64"), SINGLE)


def as_rows(fn: Any) -> Any:
    def wrapped(*args: Any) -> Any:
        scalar = np.array(args[0]).shape == ()
        if scalar:
            rows: tuple[Any, ...] = ()
            for arg in args:
                rows = (*rows, np.array([arg]))
            args = rows
        result = fn(*args)
        return result[0] if scalar else result

    return wrapped


@as_rows
def product(x: Any, y: Any) -> Any:
    return np.sin(x) * y


def by_rank(x: Any) -> Any:
    return [x] if x.shape == (5, x.shape[0]) else x**2


def test_shapes_of_other_ranks_differ() -> None:
    check_gradient(lambda x: product(x, x), (X,))
    assert ad.grad(product)(0.3, 2.0) == pytest.approx(2.0 * np.cos(0.3))
    check_gradient(by_rank, (X,))


def test_shapes_of_one_rank_are_compared_in_the_run() -> None:
    derivative = ad.grad(lambda x: np.sum(x**2) if x.shape == (30,) else np.sum(x**3))
    np.testing.assert_allclose(derivative(X), 2 * X)
    np.testing.assert_allclose(derivative(X[1:]), 3 * X[1:] ** 2)


def given(x: Any, dtype: Any) -> Any:
    return [x] if x.dtype == dtype else x**2


def test_dtypes_are_settings() -> None:
    derivative = ad.grad(lambda x: np.sum(x.astype(SINGLE) ** 2) if x.dtype in FLOATS else [x])
    np.testing.assert_allclose(derivative(X), 2 * X, rtol=1e-6)
    np.testing.assert_allclose(ad.grad(given)(X, SINGLE), 2 * X)
    np.testing.assert_allclose(ad.grad(given)(X, np.dtype(">f8")), 2 * X)
    text = ad.adjoint_source(lambda x, dtype: np.sum(x.astype(dtype)), X, SINGLE)
    assert "captured" not in text
