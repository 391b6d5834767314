"""Squares of numbers in loops are products, in cotangents only."""

from __future__ import annotations

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler import passes

from .checked import differences


def decay(k, x):
    for _ in range(3):
        x = x + 0.1 * k * (x - 0.3) ** 3 - k**3
    return x


def of_arrays(k, x):
    for _ in range(3):
        x = x - k * x**3
    return np.sum(x)


def test_gradients():
    for k, x in ((0.4, 1.3), (-1.5, np.float64(0.2)), (2, 0.5)):
        found = ad.grad(decay, (0, 1))(k, x) if isinstance(k, float) else (None, ad.grad(decay, 1)(k, x))
        for position, gradient in enumerate(found):
            if gradient is not None:
                expected = differences(decay, (k, x), position)
                np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    with passes.without("spell"):
        plain = ad.grad(decay, (0, 1))(0.4, 1.3)
    np.testing.assert_allclose(ad.grad(decay, (0, 1))(0.4, 1.3), plain, rtol=1e-14)


def test_written_out():
    assert "3 * k * k" in ad.adjoint_source(decay, 0.4, 1.3)
    assert "saved_x[k2] ** 2" in ad.adjoint_source(of_arrays, 0.4, np.ones(3), grad_position=1)
