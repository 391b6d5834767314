"""The cotangent of a matrix from that of its Cholesky factor, against the formula with the inverse."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_sct.runtime.linalg.determinants import cholesky_pullback


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [1, 2, 47, 48, 49, 97, 130])
def test_blocks_are_the_formula(n, order):
    rng = np.random.default_rng(n)
    root, d_factor = rng.normal(size=(2, n, n))
    factor = np.array(np.linalg.cholesky(root @ root.T / n + np.eye(n)), order=order)
    kept = factor.copy(), d_factor.copy()
    inverse, weights = np.linalg.inv(factor), np.tri(n) - 0.5 * np.eye(n)
    s = inverse.T @ (factor.T @ d_factor * weights) @ inverse
    np.testing.assert_allclose(cholesky_pullback(factor, d_factor), (s + s.T) * weights, rtol=1e-9, atol=1e-10)
    assert (factor == kept[0]).all() and (d_factor == kept[1]).all()


def test_keeps_single_precision():
    assert cholesky_pullback(np.eye(3, dtype=np.float32), np.ones((3, 3), np.float32)).dtype == np.float32
