"""Sums of products of arrays that share only the summed axes are tensor products."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import check_gradient, differences

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


def shifted(kernel, images):
    """A convolution as a loop over the places of the kernel."""
    n, h, w = images.shape
    rows, columns, f = kernel.shape
    out = np.zeros((n, h - rows + 1, w - columns + 1, f))
    for i in range(rows):
        for j in range(columns):
            out += images[:, i : i + h - rows + 1, j : j + w - columns + 1, None] * kernel[i, j]
    return np.sum(np.tanh(out) ** 2)


@pytest.mark.parametrize("size", [(4, 5), (3, 3), (12, 9)], ids=str)
@pytest.mark.parametrize("window", [(3, 3), (1, 1), (2, 3)], ids=str)
@pytest.mark.parametrize("filters", [1, 4])
def test_shifted_windows(size, window, filters):
    """Windows whose lengths are proved are contracted with the cotangent; those of length one, too."""
    rng = np.random.default_rng(1)
    kernel, images = rng.normal(size=(*window, filters)), rng.normal(size=(2, *size))
    check_gradient(shifted, (kernel, images))
    check_gradient(lambda x, k: shifted(k, x), (images, kernel))


def test_shifted_windows_in_the_text():
    text = ad.adjoint_source(shifted, np.ones((3, 3, 4)), np.ones((2, 8, 9)), grad_position=(0, 1))
    assert "= np.tensordot(images[:, i:t, j:t2], d_out, 3)" in text and "+= d_out @ kernel[i, j]" in text
