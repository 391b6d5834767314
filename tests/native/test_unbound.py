"""Variables that some paths leave unbound: early returns, and names that only a loop or a branch assigns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from tests.native.test_backend import assert_alike, native, positions

X = np.array([0.5, -1.25, 2.0, 0.75, -0.3])


def first_large(x, bound):
    for i in range(5):
        if x[i] > bound:
            return x[i] * x[0]
        if x[i] < -bound:
            return x[i] ** 2
    return x[0]


def product_of_some(x, n):
    k = 0
    while k < n:
        r = x[k] * (r if k > 0 else 1.0)  # noqa: F821
        k += 1
    return r


def pairs(x, n):
    for i in range(n):
        for j in range(i):
            q = x[j] * x[i]
    return q * x[0]


def in_one_branch(x, bound):
    s = 0.0
    for i in range(5):
        if x[i] > bound:
            t = x[i] * 2
        if x[i] > 1:
            s += t
    return s


@pytest.mark.parametrize(
    "fn, args",
    [
        (first_large, (X, 1.5)), (first_large, (X, 1.0)), (first_large, (X, 9.0)), (product_of_some, (X, 3)),
        (pairs, (X, 3)), (in_one_branch, (X, 0.1)),
    ],
)  # fmt: skip
def test_values_and_gradients(fn, args):
    assert_alike(native(fn, *args), ad.value_and_grad(fn, positions(args))(*args))


@pytest.mark.parametrize("fn, args", [(product_of_some, (X, 0)), (pairs, (X, 1)), (in_one_branch, (X, 2.5))])
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_what_is_unbound_raises(fn, args, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UnboundLocalError):
            ad.value_and_grad(fn, backend=backend)(*args)
