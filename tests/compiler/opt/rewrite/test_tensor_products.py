"""Sums of products of arrays that share only the summed axes are tensor products."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once


def convolution(x, w, b):
    height, width = w.shape[0], w.shape[1]
    rows, columns = x.shape[1] - height + 1, x.shape[2] - width + 1
    out = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for i in range(rows):
        for j in range(columns):
            patch = x[:, i : i + height, j : j + width, :, None]
            out[:, i, j, :] = np.sum(patch * w, axis=(1, 2, 3)) + b
    return np.sum(np.sin(out))


def written_out(x, w, b):
    k = w.shape[0]
    rows, columns = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((x.shape[0], rows, columns, w.shape[3]))
    for i in range(rows):
        for j in range(columns):
            out[:, i, j, :] = np.sum(x[:, i : i + k, j : j + k, :, np.newaxis] * w[np.newaxis, :, :, :], axis=(1, 2, 3))
    return np.sum(np.sin(out + b))


def weights_of_pairs(x, w, b):
    pairs = np.sum(x[:, :, :, :, None] * w[0, 0][None, None, None], axis=3)
    return np.sum(np.cos(pairs + b))


PROGRAMS = [convolution, written_out, weights_of_pairs]
SIZES = [(1, 3, 2, 1, 1), (2, 4, 2, 3, 2), (1, 3, 1, 2, 3), (3, 3, 2, 1, 4), (2, 8, 3, 5, 17)]


def arrays(n, size, window, channels, filters, order="C"):
    rng = np.random.default_rng(n + size)
    shapes = (n, size, size, channels), (window, window, channels, filters), (filters,)
    return [np.array(rng.normal(size=shape), order=order) for shape in shapes]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradients(fn, sizes, order):
    args = arrays(*sizes, order)
    value, found = ad.value_and_grad(fn, (0, 1, 2))(*args)
    assert value == fn(*args)
    if max(arg.size for arg in args) > 300:
        with pass_registry.without("fuse_contractions"):
            expected = ad.grad(fn, (0, 1, 2))(*args)
    else:
        expected = [differences(fn, args, position) for position in range(3)]
    for one, alone, other in zip(found, ad.grad(fn, (0, 1, 2))(*args), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(alone, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", PROGRAMS[:2])
def test_both_cotangents_are_tensor_products(fn):
    text = ad.grad(fn, (0, 1, 2)).source_for(*arrays(2, 20, 2, 3, 2))
    assert text.count("np.tensordot(") == 2


def test_single_precision_stays():
    args = [a.astype(np.float32) for a in arrays(2, 4, 2, 3, 2)]
    gradients = ad.grad(convolution, (0, 1, 2))(*args)
    assert [g.dtype for g in gradients] == [np.float32] * 3
