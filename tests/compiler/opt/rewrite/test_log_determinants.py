"""Log-determinants from Cholesky factors, and determinants beside inverses."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

A = np.random.default_rng(5).normal(size=(4, 4))
K = A @ A.T + 4 * np.eye(4)
Y = np.array([0.3, -1.0, 0.4, 2.0])


def alone(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return 2 * np.sum(np.log(np.diag(factor)))


def by_the_method(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return np.log(factor.diagonal()).sum() ** 2


def of_a_process(a):
    k = a @ a.T + np.eye(len(a))
    factor = np.linalg.cholesky(k)
    return 0.5 * Y @ np.linalg.solve(k, Y) + np.sum(np.log(np.diagonal(factor)))


def in_a_loop(a):
    total = 0.0
    for k in range(3):
        factor = np.linalg.cholesky(a @ a.T + (k + 1) * np.eye(len(a)))
        total = total + (k + 1) * np.sum(np.log(np.diag(factor)))
    return total


FITTING = [alone, by_the_method, of_a_process, in_a_loop]


def by_other_weights(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return np.sum(Y / np.diag(factor)) + np.sum(Y * np.log(np.diag(factor)))


def by_the_whole_factor(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return np.sum(np.log(np.diag(factor))) + np.sum(factor**2 * A)


def by_another_diagonal(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return np.sum(np.log(np.diag(factor, -1) ** 2 + 1.0))


def by_the_diagonal_of_another(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    other = np.linalg.cholesky(a @ a.T + 2 * np.eye(len(a)))
    return np.sum(np.log(np.diag(factor)) * np.diag(other))


def factor_is_written(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    factor[0, 0] = 2.0
    return np.sum(np.log(np.diag(factor)))


def upper_factor(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)), upper=True)
    return np.sum(np.log(np.diag(factor)))


def check_gradient(fn):
    found = ad.grad(fn)(A)
    np.testing.assert_allclose(found, differences(fn, (A,)), rtol=1e-5, atol=1e-7)
    value, gradient = ad.value_and_grad(fn)(A)
    assert value == fn(A)
    np.testing.assert_allclose(gradient, found, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    "fn",
    [
        *FITTING,
        by_other_weights,
        by_the_whole_factor,
        by_another_diagonal,
        by_the_diagonal_of_another,
        factor_is_written,
        upper_factor,
    ],
)
def test_gradient(fn):
    check_gradient(fn)


def test_the_triangle_that_is_read_has_the_cotangent():
    def f(k):
        return np.sum(np.log(np.diag(np.linalg.cholesky(k))))

    found = ad.grad(f)(K)
    inverse = np.linalg.inv(K)
    np.testing.assert_allclose(found, np.tril(inverse) - 0.5 * np.diag(np.diag(inverse)), rtol=1e-12, atol=1e-15)
    assert np.all(np.triu(found, 1) == 0)


def test_single_precision():
    found = ad.grad(alone)(A.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(alone)(A), rtol=1e-4, atol=1e-5)


def test_second_order():
    found = ad.grad(lambda a: np.sum(ad.grad(alone)(a) ** 2))(A)
    np.testing.assert_allclose(found, differences(lambda a: np.sum(ad.grad(alone)(a) ** 2), (A,)), rtol=1e-5)


def test_what_has_no_factor_raises():
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(lambda k: np.sum(np.log(np.diag(np.linalg.cholesky(k)))))(-K)


# Of determinants themselves


def of_a_filter(a):
    total = 0.0
    for k in range(3):
        s = a @ a.T + (k + 1) * np.eye(len(a))
        inverse = np.linalg.inv(s)
        total = total + np.log(np.linalg.det(s)) + Y @ inverse @ Y
    return total


def determinant_first(a):
    s = a @ a.T + np.eye(len(a))
    return 0.5 * np.log(np.linalg.det(s)) ** 2 + np.linalg.det(s) * 1e-3


def determinant_below(a):
    s = a @ a.T + np.eye(len(a))
    return np.sum(a[0]) / np.linalg.det(s)


def of_stacks(a):
    s = np.stack([a @ a.T + np.eye(len(a)), 2 * a @ a.T + np.eye(len(a))])
    return np.sum(np.log(np.linalg.det(s)) * np.array([0.5, 2.0]))


def matrix_is_written(a):
    s = a @ a.T + np.eye(len(a))
    inverse = np.linalg.inv(s)
    s[0, 0] += 1.0
    return np.log(np.linalg.det(s)) + np.sum(inverse)


@pytest.mark.parametrize("fn", [of_a_filter, determinant_first, determinant_below, of_stacks, matrix_is_written])
def test_determinants(fn):
    check_gradient(fn)


@pytest.mark.parametrize("s", [np.zeros((3, 3)), np.ones((2, 3))], ids=["singular", "not square"])
def test_what_has_no_determinant_raises(s):
    with np.errstate(all="ignore"), pytest.raises(np.linalg.LinAlgError):
        ad.grad(lambda s: np.log(np.linalg.det(s)))(s)
