"""`vjp`, `jvp` and the Jacobians: results, structures, errors."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.nn as nn
from autodiff_sct import Parameter, Tensor, jacfwd, jacrev, jvp, vjp


def product(x, y):
    return x * x * y


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0]), name="w")
        self.b = Parameter(Tensor([1.0, 1.0]), name="b")

    def construct(self, x, y):
        return x * y * self.w + self.b


def with_aux(x, y):
    return x * y, x + y, y


X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def plain(value):
    """Tensors as lists, containers kept."""
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value


def test_vjp():
    value, pull = vjp(product, 3.0, 2.0)
    assert (value, pull(1.0), pull(2.0)) == (18.0, (12.0, 9.0), (24.0, 18.0))
    value, pull = vjp(lambda x: x * x, X)
    assert plain(pull(Tensor([1.0, 10.0]))) == ([2.0, 40.0],)


def test_vjp_of_several_outputs():
    (first, second), pull = vjp(lambda x, y: (x * y, x + y), X, Y)
    ones, tens = Tensor([1.0, 1.0]), Tensor([10.0, 10.0])
    assert plain(pull(ones, tens)) == plain(pull((ones, tens))) == ([13.0, 14.0], [11.0, 12.0])


def test_vjp_with_weights_and_aux():
    net = Scaled()
    ones = Tensor([1.0, 1.0])
    _, pull = vjp(net, X, Y, weights=net.trainable_params())
    assert plain(pull(ones)) == (([6.0, 12.0], [2.0, 6.0]), ([3.0, 8.0], [1.0, 1.0]))
    _, pull = vjp(net, X, Y, weights=net.w)
    assert plain(pull(ones)[1]) == [3.0, 8.0]
    value, pull, aux = vjp(with_aux, X, Y, has_aux=True)
    assert plain(value) == [3.0, 8.0] and plain(aux) == ([4.0, 6.0], [3.0, 4.0])
    assert plain(pull(ones)) == ([3.0, 4.0], [1.0, 2.0])
    assert vjp(lambda x: (x, 2 * x), 3.0, has_aux=True)[2] == 6.0


def test_vjp_errors():
    _, pull = vjp(lambda x: x * x, X)
    with pytest.raises(ValueError):
        pull(Tensor([1.0]))
    with pytest.raises(ValueError):
        pull()
    with pytest.raises(TypeError):
        pull("a")
    with pytest.raises(TypeError):
        vjp(product, "a", 2.0)
    with pytest.raises(TypeError):
        vjp(product, None, 2.0)
    with pytest.raises(TypeError):
        vjp(product, 1.0, 2.0, has_aux=1)
    with pytest.raises(ValueError):
        vjp(product, 1.0, 2.0, has_aux=True)
    with pytest.raises(TypeError):
        vjp(None, 1.0)


def test_jvp():
    assert jvp(product, (3.0, 2.0), (1.0, 0.0)) == (18.0, 12.0)
    value, tangent = jvp(lambda x: x * x, X, Tensor([1.0, 10.0]))
    assert plain((value, tangent)) == ([1.0, 4.0], [2.0, 40.0])
    assert plain(jvp(lambda x: x * x, (X,), (Y,))[1]) == [6.0, 16.0]
    value, tangent, aux = jvp(with_aux, [X, Y], [Y, X], has_aux=True)
    assert plain((value, tangent, aux)) == ([3.0, 8.0], [10.0, 20.0], ([4.0, 6.0], [3.0, 4.0]))
    assert plain(jvp(lambda x: (x, x * x), X, Y)[1]) == ([3.0, 4.0], [6.0, 16.0])


def test_jvp_errors():
    with pytest.raises(ValueError):
        jvp(product, (1.0, 2.0), (1.0,))
    with pytest.raises(ValueError):
        jvp(lambda x: x, X, Tensor([1.0]))
    with pytest.raises(TypeError):
        jvp(product, ("a", 2.0), (1.0, 1.0))
    with pytest.raises(ValueError):
        jvp(product, (1.0, 2.0), (1.0, 1.0), has_aux=True)
    with pytest.raises(TypeError):
        jvp(product, (1.0, 2.0), (1.0, 1.0), has_aux=1)


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobian(jacobian):
    x = np.arange(1.0, 4.0)
    expected = np.array([[2.0, 1.0, 0.0], [0.0, 4.0, 0.0]])
    assert np.allclose(jacobian(lambda x: x[:2] * x[1])(x), expected)
    by_x, by_y = jacobian(lambda x, y: x * y, (0, 1))(x, 2.0)
    assert np.allclose(by_x, 2 * np.eye(3)) and np.allclose(by_y, x)
    first, second = jacobian(lambda x: (x * x, np.sum(x)))(x)
    assert np.allclose(first, np.diag(2 * x)) and np.allclose(second, 1) and second.shape == (3,)
    both = jacobian(lambda x, y: (x * y, x), (0, 1))(x, 2.0)
    assert [[part.shape for part in row] for row in both] == [[(3, 3), (3,)], [(3, 3), (3,)]]
    result, aux = jacobian(lambda x: (x * x, x), has_aux=True)(x)
    assert np.allclose(result, np.diag(2 * x)) and np.array_equal(aux, x)
    assert jacobian(lambda x: x * x)(3.0) == 6.0
    kept = jacobian(lambda x: x * x)(X)
    assert isinstance(kept, Tensor) and kept.dtype == ad.float32 and kept.shape == (2, 2)
    matrix = np.ones((2, 3), np.float32)
    assert jacobian(lambda m: m @ m.T)(matrix).shape == (2, 2, 2, 3)


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobian_errors(jacobian):
    for position, error in ((None, TypeError), (-1, ValueError), ((0, 0), ValueError), (1, ValueError)):
        with pytest.raises(error):
            jacobian(lambda x: x, position)(1.0)
    with pytest.raises(TypeError):
        jacobian(lambda x: x, has_aux=1)
    with pytest.raises(ValueError):
        jacobian(lambda x: x, has_aux=True)(1.0)
    with pytest.raises(TypeError):
        jacobian(None)(1.0)


def grown(x):
    items = []
    for _ in range(int(x[1])):
        items.append(x * 2.0)
    return items


def test_outputs_without_a_derivative_take_no_seed():
    x = np.array([1.0, 2.0])
    for fn, seeds in (
        (lambda x: (x * x, 3.0), (x, 1.0)),
        (lambda x: (x * x, np.argmax(x), x > 1), (x, 1, x)),
        (lambda x: {"a": x * x, "n": 3, "b": (2.0,)}, ({"a": x, "n": 0, "b": (0.0,)},)),
    ):
        assert np.array_equal(vjp(fn, x)[1](*seeds)[0], 2 * x * x)
    assert np.array_equal(vjp(grown, x)[1]([x, x])[0], 4 * x)
    assert np.array_equal(vjp(lambda x: 3.0, x)[1](1.0)[0], [0.0, 0.0])
    for jacobian in (jacrev, jacfwd):
        by_first, by_second = jacobian(lambda x: (x * x, 3.0))(x)
        assert np.array_equal(by_first, np.diag(2 * x)) and np.array_equal(by_second, [0.0, 0.0])
