"""Of what is only there since shapes may not fit, the check of the shapes is left: the same errors, and no result."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once


def scaled(a, w):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return np.sum((a + trace) * w)


def clipped(a, w):
    return np.sum(np.clip(a, 0.2, 1.0) * 3.0 + w * 2.0)


def three(a, w):
    return np.sum(np.sin(a) * 2.0 - w / 4.0 + a)


def vector_last(a, w):
    return np.sum((a @ w) @ a)


def added(c, w, a):
    c = c.copy()
    c[:] = c + w @ a
    return np.sum(c)


def scaled_product(a, w):
    return np.sum(2.0 * a @ w)


def matrices(a, w):
    return np.sum(a @ np.sin(w))


CASES = [
    (scaled, (3, 3), (3,), (4,)),
    (scaled, (3, 3), (1, 3), (2, 3)),
    (clipped, (3, 4), (3, 4), (4, 4)),
    (clipped, (1, 4), (3, 1), (3, 5)),
    (three, (3, 4), (4,), (3,)),
    (vector_last, (3, 3), (3,), (2,)),
    (vector_last, (1, 1), (1,), (3,)),
    (matrices, (3, 4), (4, 2), (3, 2)),
    (scaled_product, (3, 4), (4, 2), (3, 2)),
]


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [rng.uniform(0.3, 0.9, size=shape) for shape in shapes]


@pytest.mark.parametrize("fn, a, right, wrong", CASES)
def test_gradients_and_errors(fn, a, right, wrong):
    gradient = ad.grad(fn, (0, 1))
    args = arrays(a, right)
    for position, found in enumerate(gradient(*args)):
        np.testing.assert_allclose(found, differences(fn, args, position), rtol=1e-6, atol=1e-8)
    args = arrays(a, wrong)
    with pytest.raises(ValueError) as expected:
        fn(*args)
    with pytest.raises(ValueError) as raised:
        gradient(*args)
    assert str(raised.value) == str(expected.value)


def test_no_array_is_made_for_an_error():
    text = ad.grad(scaled, (0, 1)).source_for(*arrays((3, 3), (3,)))
    lines = [line.strip() for line in text.splitlines()]
    assert "check_broadcast(t, w)" in lines and "t * w" not in lines
    assert "@ a[:, :0]" in ad.adjoint_source(added, *arrays((2,), (3,), (3, 2)), grad_position=(0, 1, 2))
    assert "w[:0] @ a" in ad.adjoint_source(added, *arrays((3, 2), (3, 4), (4, 2)), grad_position=(0, 1, 2))
    assert "may raise" not in ad.adjoint_source(vector_last, np.ones((3, 3)), np.ones(3))


def cross_entropy(net, x, y):
    z = np.tanh(x @ net["W"] + net["b"])
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(y)), y])


def test_what_fits_whatever_the_lengths_is_not_checked() -> None:
    """The numbers of rows fit the rows that they are of."""
    rng = np.random.default_rng(3)
    net = {"W": rng.normal(size=(6, 4)), "b": rng.normal(size=4)}
    text = ad.adjoint_source(cross_entropy, net, rng.normal(size=(9, 6)), rng.integers(0, 4, 9))
    code = [line for line in text.splitlines() if "#" not in line]
    assert not any("np.log(" in line or "check_" in line for line in code)
