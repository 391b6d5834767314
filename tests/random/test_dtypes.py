"""No random program of complex numbers, integers and single precision gets a wrong value, gradient or tangent."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.random import ENOUGH, wanted
from tests.random.dtypes import Dtypes
from tests.random.dtypes_oracle import judge

COUNT = wanted(24)
BATCHES = 8
RIGHT = 0.75  # at least


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_of_several_dtypes(batch: int) -> None:
    """The same programs in each run."""
    outcomes: Counter[str] = Counter()
    for number in range(batch, COUNT, BATCHES):
        outcomes[judge(Dtypes(number).program(), number).partition(":")[0]] += 1
    print(dict(outcomes))
    if outcomes.total() >= ENOUGH:
        assert outcomes["right"] >= RIGHT * outcomes.total()
