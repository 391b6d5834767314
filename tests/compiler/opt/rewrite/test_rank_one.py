"""Sums of outer products are one product of two matrices."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import check_gradient, check_tangent, differences

pytestmark = pytest.mark.once


def there_and_back(A, x):
    return np.sum((A @ x) @ A)


def both_sides(A, p, r):
    return np.sum(np.sin(r @ A)) + np.sum(np.cos(A @ p))


def with_numbers(alpha, A, x, y):
    return np.sum(np.tanh(alpha * (A @ x))) - 0.5 * np.sum((y @ A) ** 2)


def with_another_term(A, x, y):
    return np.sum(A * A) + x @ A @ y + y @ np.sin(A @ y)


def vector_overwritten(A, x, y):
    z = x.copy()
    first = np.sum(np.sin(A @ z))
    z *= y
    return first + np.sum(np.cos(A @ z))


def square_only(A, x):
    return np.sum(np.sin(A @ x)) + np.sum(np.cos(x @ A))


def stepping(A, x, n):
    for _ in range(n):
        x = np.tanh(A @ x) + (x @ A) * 0.1
    return np.sum(x * x)


def arrays(*shapes):
    rng = np.random.default_rng(sum(len(shape) for shape in shapes))
    return [rng.normal(size=shape) / max(shape) for shape in shapes]


def checked(fn, *args):
    """Compare the gradients by all arrays with differences, or those of many numbers without the pass."""
    positions = tuple(k for k, arg in enumerate(args) if isinstance(arg, np.ndarray))
    kept = [np.copy(arg) for arg in args]
    value, found = ad.value_and_grad(fn, positions)(*args)
    assert value == fn(*args)
    assert all(np.array_equal(arg, before) for arg, before in zip(args, kept))
    if max(map(np.size, args)) > 1000:
        with pass_registry.without("batch_rank1_updates"):
            expected = ad.grad(fn, positions)(*args)
    else:
        expected = [differences(fn, args, position) for position in positions]
    for one, alone, other in zip(found, ad.grad(fn, positions)(*args), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(alone, other, rtol=1e-5, atol=1e-7)
    if isinstance(args[0], np.ndarray) and args[0].size < 100:
        check_gradient(fn, args)
        check_tangent(fn, args)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n, m", [(1, 1), (1, 3), (3, 1), (3, 4), (130, 40)])
def test_gradients(n, m, order):
    A, x, y = arrays((n, m), (m,), (n,))
    A = np.array(A, order=order)
    checked(there_and_back, A, x)
    checked(both_sides, A, x, y)
    checked(with_numbers, 0.7, A, x, y)


@pytest.mark.parametrize("n", [1, 3, 40])
def test_gradients_of_square_matrices(n):
    A, x, y = arrays((n, n), (n,), (n,))
    checked(with_another_term, A, x, y)
    checked(vector_overwritten, A, x, y)
    checked(square_only, A, x)
    checked(stepping, A, x, 3)


def test_is_written_once():
    A, x = arrays((3, 4), (4,))
    text = ad.adjoint_source(there_and_back, A, x)
    assert "outer" not in text
    assert text.count(".T @ np.array([") == 1


def test_a_number_multiplies_a_vector():
    A, x = arrays((3, 4), (4,))
    text = ad.adjoint_source(lambda A, x, k: np.sum(k * A @ x), A, x, 2.0)
    assert "np.outer(" in text and ", x) * k" not in text
