"""Random loops over affine subscripts have the gradients that their tangents tell."""

from __future__ import annotations

import pytest

from tests.random import PROGRAMS
from tests.random.subscripts import differs

COUNT = min(48, PROGRAMS) if PROGRAMS <= 2000 else PROGRAMS
BATCHES = 4


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_subscripts(batch: int) -> None:
    for seed in range(batch, COUNT, BATCHES):
        assert not differs(seed, (4, 5, 7, 12))
