"""Copies that lie in memory as the original does, and values that depend on it."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.runtime.memory import layout_copy
from autodiff_sct.runtime.scatter import gather_adjoint

X = np.random.default_rng(0).normal(size=(6, 7, 8))
PARTS = {
    "whole": X, "turned axes": X.T, "every second": X[::2], "columns": X[:, :3], "one column": X[:, :, 0],
    "last axis": X[..., ::2], "backwards": X[::-1, :, ::-1], "turned and apart": X.T[::2, :, ::-1],
    "broadcast": np.broadcast_to(X[0, 0], (3, 8)), "empty": X[:0], "of rank 0": X[0, 0, 0:1].reshape(()),
}  # fmt: skip


@pytest.mark.parametrize("x", PARTS.values(), ids=PARTS)
def test_layout_copy(x):
    made = layout_copy(x)
    assert np.array_equal(made, x) and made.dtype == x.dtype and not np.shares_memory(made, x)
    assert made.flags.forc == x.flags.forc or 0 in x.strides
    lies = [(s > 0, abs(s) == x.itemsize) for s, n in zip(x.strides, x.shape) if n > 1 and s]
    copied = [(s > 0, abs(s) == x.itemsize) for s, n, old in zip(made.strides, x.shape, x.strides) if n > 1 and old]
    assert copied == lies or not x.size or 0 in x.strides


def test_numbers_are_their_own_copies():
    assert layout_copy(1.5) == 1.5


def eliminated(A, b):
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    for i in reversed(range(len(b))):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b.sum()


@pytest.mark.parametrize("size", (3, 15, 33, 130))
@pytest.mark.parametrize("lay", (lambda a: a, lambda a: np.repeat(a, 2, axis=-1)[..., ::2], lambda a: np.flip(a)))
def test_values_of_what_lies_apart(size, lay):
    rng = np.random.default_rng(size)
    A, b = rng.normal(size=(size, size)) + size * np.eye(size), rng.normal(size=size)
    args = lambda: (lay(A.copy()), lay(b.copy()))
    value = eliminated(*args())
    assert ad.value_and_grad(eliminated, (0, 1))(*args())[0] == value
    assert ad.jvp(eliminated, args(), args())[0] == value
    assert ad.vjp(eliminated, *args())[0] == value


def test_nothing_is_taken_of_nothing():
    np.testing.assert_array_equal(
        gather_adjoint(np.ones((0, 3)), np.ones((0, 1)), (slice(None), [0, 2, 0])), np.ones((0, 1))
    )
