"""Functions of scikit-learn behind decorators that check arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.checked import check_gradient

metrics = pytest.importorskip("sklearn.metrics")
RNG = np.random.default_rng(0)
Y, P = RNG.uniform(0.2, 0.9, 12), RNG.uniform(0.2, 0.9, 12)
ROWS = RNG.uniform(0.2, 0.9, (6, 3))


@pytest.mark.parametrize("name", ["mean_squared_error", "r2_score", "explained_variance_score", "max_error"])
def test_of_two_vectors(name: str) -> None:
    check_gradient(lambda y: getattr(metrics, name)(y, P), (Y,))


@pytest.mark.parametrize("name", ["rbf_kernel", "euclidean_distances", "polynomial_kernel"])
def test_of_rows(name: str) -> None:
    kernel: Any = getattr(metrics.pairwise, name)
    check_gradient(lambda x: np.sum(kernel(x, ROWS + 0.1) ** 2), (ROWS,))
