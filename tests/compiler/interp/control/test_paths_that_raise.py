"""Handlers that only raise: after the ``try``, what its block computed is bound, and its cotangent has its shape."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad

A = np.array([[2.0, 0.3], [0.1, 1.5]])


def inverted(x):
    try:
        y = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise ValueError("singular") from None
    return np.sum(y)


def factored(x):
    try:
        factor = np.linalg.cholesky(x @ x.T)
    except:  # noqa: E722
        raise ValueError("not positive definite") from None
    finally:
        pass
    return np.sum(factor * factor[::-1])


def of_a_class_that_does_not_exist(x):
    try:
        y = np.linalg.inv(x)
    except ValueErrors.singular:  # noqa: F821
        y = x
    return np.sum(y)


def one_of_several_classes(x):
    try:
        y = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        y = 3.0 * x
    except ValueErrors.singular as error:  # noqa: F821
        y = x * len(str(error))
    return np.sum(y)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        try:
            y = np.linalg.solve(x + k * np.eye(2), x[0])
        except np.linalg.LinAlgError as error:
            raise ValueError("singular") from error
        total += np.sum(y)
    return total


@pytest.mark.parametrize(
    "program", [inverted, factored, of_a_class_that_does_not_exist, one_of_several_classes, in_a_loop]
)
def test_the_path_that_goes_on(program):
    h = 1e-6
    value, gradient = ad.value_and_grad(program)(A)
    assert value == program(A)
    steps = [program(A + h * e) - program(A - h * e) for e in np.eye(4).reshape(4, 2, 2)]
    np.testing.assert_allclose(gradient, np.reshape(steps, (2, 2)) / (2 * h), 1e-6)
    np.testing.assert_allclose(ad.jvp(program, A, A)[1], np.sum(gradient * A), 1e-10)


@pytest.mark.parametrize(("program", "error"), [(inverted, ValueError), (of_a_class_that_does_not_exist, NameError)])
def test_the_path_that_raises(program, error):
    for derivative in (ad.grad(program), lambda x: ad.jvp(program, x, x)):
        with pytest.raises(error):
            derivative(np.zeros((2, 2)))
    if program is inverted:
        np.testing.assert_allclose(ad.grad(one_of_several_classes)(np.zeros((2, 2))), 3.0)
