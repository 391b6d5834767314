"""A cotangent begins with what is as large as itself; items are added after that."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))


def item_and_all(x, y):
    z = np.tanh(x)
    return np.sum(np.exp(z)) - z[1, 2] * y[0, 0]


def item_twice(x, y):
    z = np.sin(x)
    return z[0, 0] * z[1, 1] + z[0, 0] ** 2 + np.sum(z**3)


def rows_and_all(x, y):
    z = x * y
    return np.sum(z[1] * z[:, 1][:3]) + np.sum(np.cos(z) * y)


def begun_twice(x, y):
    u, v = x * 1.0, x[::-1]
    return np.sum(u * y) + u[0, 0] * v[-1, -1]


def narrower(x, y):
    z = np.tanh(x)
    return z[0, 0] + np.sum(z[0] * y)


def label_in_a_loop(x, y):
    loss = 0.0
    for k in range(len(x)):
        z = x[k] * y[k]
        loss = loss + np.log(np.sum(np.exp(z))) - z[k % 3]
    return loss


def weights_overwritten(x, y):
    w = y.copy()
    z = np.tanh(x)
    a = z[0, 0] * w[0, 0]
    w[0] = 2.0
    return a + np.sum(z * w)


def index_array(x, y):
    z = x * x
    return np.sum(z[[0, 0, 2]]) + np.sum(z * y)


def written(x, y):
    z = np.tanh(x)
    a = z[0, 0] ** 2
    z[0] = y[0]
    return a + np.sum(z * y)


CASES = [item_and_all, item_twice, rows_and_all, narrower, label_in_a_loop, weights_overwritten, index_array, written]
CASES += [begun_twice]


@pytest.mark.parametrize("fn", CASES)
def test_gradient(fn):
    value, found = ad.value_and_grad(fn, grad_position=(0, 1))(X, Y)
    assert value == fn(X, Y)
    with pass_registry.without("lower_accumulation"):
        plain = ad.grad(fn, grad_position=(0, 1))(X, Y)
    for k in range(2):
        np.testing.assert_allclose(found[k], plain[k], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found[k], differences(fn, (X, Y), k), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", CASES)
def test_single_precision(fn):
    found = ad.grad(fn)(X.astype(np.float32), Y.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(fn)(X, Y), rtol=1e-4, atol=1e-5)


def test_no_zeros():
    assert "np.zeros(" not in ad.adjoint_source(label_in_a_loop, X, Y)


def test_index_out_of_range():
    def f(x):
        z = x * 2.0
        return z[7, 0] + np.sum(z**2)

    with pytest.raises(IndexError):
        ad.grad(f)(X)
