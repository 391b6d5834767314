"""What a loop writes once is neither saved nor put back, where no part that is read has yet to be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

Program = Callable[..., Any]
ONCE: list[Program] = []
OFTEN: list[Program] = []
RNG = np.random.default_rng(0)


def once(fn: Program) -> Program:
    """A program that saves nothing."""
    ONCE.append(fn)
    return fn


def often(fn: Program) -> Program:
    """A program that reads what a later step overwrites."""
    OFTEN.append(fn)
    return fn


@once
def forward_substitution(a, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


@once
def back_substitution(a, b):
    x = np.zeros_like(b)
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


@once
def cholesky(a, b):
    low = a @ a.T
    for i in range(len(b)):
        for j in range(i):
            low[i, j] -= np.dot(low[i, :j], low[j, :j])
            low[i, j] /= low[j, j]
        low[i, i] -= np.dot(low[i, :i], low[i, :i])
        low[i, i] = np.sqrt(low[i, i])
    return np.sum(np.tril(low) ** 3)


@once
def lu(a, b):
    u = a.copy()
    n = len(b)
    for i in range(n):
        for j in range(i):
            u[i, j] -= u[i, :j] @ u[:j, j]
            u[i, j] /= u[j, j]
        for j in range(i, n):
            u[i, j] -= u[i, :i] @ u[:i, j]
    return np.sum(u * u)


@once
def columns(a, b):
    y = np.empty_like(a)
    y[:, 0] = a[:, 0]
    for j in range(1, len(b)):
        y[:, j] = a[:, j] * b[j] + np.tanh(y[:, j - 1])
    return np.sum(y * y)


@once
def rows_down(a, b):
    y = np.empty_like(a)
    n = len(b)
    y[-1] = a[0]
    for i in range(n - 2, -1, -1):
        y[i] = a[i] * b[i] + np.sin(y[i + 1])
    return np.sum(y * y)


@once
def every_second(a, b):
    x = b.copy()
    for i in range(0, len(b) - 1, 2):
        x[i] = np.sin(x[i + 1]) * a[i, i] * np.sum(x[1:i:2] ** 2)
    return np.sum(x * x)


@once
def all_but_the_last(a, b):
    x = b.copy()
    for i in range(3):
        x[-1] = np.sum(np.sin(x[:-1])) * a[0, 0] + i
    return np.sum(x * x)


@once
def tail_of_the_row(a, b):
    u = a * 1.0
    for i in range(len(b)):
        u[i, i:] = a[i, i:] * np.sum(np.cos(u[:i, :i]))
    return np.sum(u * u)


@often
def one_too_many(a, b):
    x = b * 1.0
    for i in range(len(b)):
        x[i] = b[i] - a[i, : i + 1] @ x[: i + 1]
    return np.sum(x * x)


@often
def one_ahead(a, b):
    x = b * 1.0
    for i in range(len(b)):
        x[i] = np.sum(np.sin(x[i:])) * a[i, i]
    return np.sum(x * x)


@often
def from_the_end(a, b):
    x = b * 1.0
    for i in range(1, len(b)):
        x[i - 1] = np.sum(np.sin(x[-i:])) * a[i, i]
    return np.sum(x * x)


@often
def below_zero(a, b):
    x = b * 1.0
    for i in range(len(b)):
        x[i] = np.sum(np.sin(x[: i - 2])) * a[i, i]
    return np.sum(x * x)


@often
def last_by_both_names(a, b):
    x = b * 1.0
    for i in range(len(b)):
        x[i] = np.sum(np.sin(x[-1:])) * a[i, i]
    return np.sum(x * x)


@often
def down_where_up_is_right(a, b):
    x = b * 1.0
    for i in range(len(b) - 1, -1, -1):
        x[i] = np.sum(np.sin(x[:i])) * a[i, i]
    return np.sum(x * x)


@often
def twice(a, b):
    x = b * 1.0
    for _ in range(2):
        for i in range(len(b)):
            x[i] = b[i] - a[i, :i] @ np.sin(x[:i])
    return np.sum(x * x)


@often
def backwards_view(a, b):
    x = b * 1.0
    y = x[::-1]
    for i in range(len(b)):
        x[i] = b[i] - a[i, :i] @ np.sin(y[:i])
    return np.sum(x * x)


@often
def transposed(a, b):
    u = a * 1.0
    v = u.T
    for i in range(len(b)):
        v[i, :i] = np.sin(u[i, :i]) * b[i]
    return np.sum(u * u)


@often
def rebound(a, b):
    x = b * 1.0
    for i in range(len(b)):
        x[i : i + 1] = np.sum(np.sin(x[:i])) * a[i, i]
        x = x[::-1]
    return np.sum(x * x)


@often
def picked(a, b):
    u, k = a * 1.0, np.arange(len(b))[::-1]
    for i in range(len(b)):
        u[k, i] = np.sin(u[:, 0]) * b[i]
        u[k >= 1, 0] *= np.sum(u[i])
    return np.sum(u * u)


def arguments(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    a = rng.uniform(-1, 1, (n, n)) / max(n, 1) + np.diag(rng.uniform(1.5, 2.0, n))
    return a, rng.uniform(0.5, 1.5, n)


@pytest.mark.parametrize("fn", [*ONCE, *OFTEN], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 130])
def test_gradient(fn: Program, n: int) -> None:
    """The gradient by both arguments is that of the tangents, and for small sizes that of the differences."""
    a, b = arguments(n)
    copies = a.copy(), b.copy()
    try:
        value = fn(a, b)
    except IndexError:
        with pytest.raises(IndexError):
            ad.grad(fn, (0, 1))(a, b)
        return
    got, (d_a, d_b) = ad.value_and_grad(fn, (0, 1))(a, b)
    assert got == value
    assert np.array_equal(a, copies[0]) and np.array_equal(b, copies[1])
    rng = np.random.default_rng(1)
    ways = rng.standard_normal(a.shape), rng.standard_normal(b.shape)
    tangent = ad.jvp(fn, (a, b), ways)[1]
    np.testing.assert_allclose(np.sum(d_a * ways[0]) + np.sum(d_b * ways[1]), tangent, rtol=1e-9, atol=1e-9)
    if n <= 5:
        np.testing.assert_allclose(d_a, differences(fn, (a, b)), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(d_b, differences(lambda b, a: fn(a, b), (b, a)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", [forward_substitution, back_substitution, columns, one_too_many])
def test_large(fn: Program) -> None:
    a, b = arguments(1000)
    d_a, d_b = ad.grad(fn, (0, 1))(a, b)
    ways = RNG.standard_normal(a.shape), RNG.standard_normal(b.shape)
    tangent = ad.jvp(fn, (a, b), ways)[1]
    np.testing.assert_allclose(np.sum(d_a * ways[0]) + np.sum(d_b * ways[1]), tangent, rtol=1e-8)


@pytest.mark.parametrize("fn", ONCE, ids=lambda fn: fn.__name__)
def test_nothing_is_saved(fn: Program) -> None:
    gradient = ad.grad(fn, (0, 1))
    gradient(*arguments(5))
    assert "old_" not in gradient.source


@pytest.mark.parametrize("fn", OFTEN, ids=lambda fn: fn.__name__)
def test_something_is_saved(fn: Program) -> None:
    gradient = ad.grad(fn, (0, 1))
    gradient(*arguments(5))
    assert "old_" in gradient.source
