"""Random loops over affine subscripts have the gradients that their tangents tell."""

from __future__ import annotations

import pytest

from tests.random import wanted
from tests.random.subscripts import differs

COUNT = wanted(48)
BATCHES = 16


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_subscripts(batch: int) -> None:
    for seed in range(batch, COUNT, BATCHES):
        assert not differs(seed, (4, 5, 7, 12))
