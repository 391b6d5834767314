"""Cotangents that are diagonal matrices and outer products."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(8)
A, B = RNG.normal(size=(3, 3)), RNG.normal(size=3)


def likelihood(a, b):
    factor = np.linalg.cholesky(a @ a.T + np.eye(3))
    z = np.linalg.solve(factor, b)
    return 0.5 * z @ z + np.sum(np.log(np.diag(factor)))


def solved_twice(a, b):
    factor = np.linalg.cholesky(a @ a.T + np.eye(3))
    return b @ np.linalg.solve(factor.T, np.linalg.solve(factor, b)) - np.sum(np.diag(factor) ** 3)


def diagonal_of_a_product(a, b):
    return np.sum(np.sin(np.diag(np.tanh(a) @ a)) * b)


def quadratic(a, b):
    return np.sum(np.cos((a @ np.tanh(a)) @ b) * b) + np.trace(a @ a)


def in_a_loop(a, b):
    total = 0.0
    for k in range(3):
        factor = np.linalg.cholesky(a @ a.T + (k + 1.0) * np.eye(3))
        b = np.linalg.solve(factor, b)
        total = total + np.sum(np.log(np.diag(factor))) * b[0]
    return total


def vector_that_is_written(a, b):
    b = b * 1.0
    y = (a @ np.exp(a)) @ b
    b[0] = y[1]
    b += np.diag(a @ np.exp(a))
    return np.sum(b * b)


def solved_with_the_transpose(a, b):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    x = np.linalg.solve(factor.T, np.linalg.solve(factor, b))
    return 0.5 * b @ x + np.sum(np.log(np.diagonal(factor)))


PROGRAMS = [
    likelihood,
    solved_with_the_transpose,
    solved_twice,
    diagonal_of_a_product,
    quadratic,
    in_a_loop,
    vector_that_is_written,
]


@pytest.mark.parametrize("fn", PROGRAMS)
@pytest.mark.parametrize("args", [(A, B), (A.T, -B)], ids=["rows", "columns"])
def test_gradient(fn, args):
    value, found = ad.value_and_grad(fn, grad_position=(0, 1))(*args)
    assert value == fn(*args)
    for k in range(2):
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_single_precision(fn):
    found = ad.grad(fn)(A.astype(np.float32), B.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(fn)(A, B), rtol=2e-3, atol=2e-3)
