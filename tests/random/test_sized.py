"""No random program gets a wrong value, gradient, pullback or tangent at any size, memory order or dtype."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.random import ENOUGH, wanted
from tests.random.grammar import Grammar
from tests.random.kept import Kept
from tests.random.shared import Shared
from tests.random.sized import Sized
from tests.random.sized_oracle import judge

COUNT = wanted(60)
BATCHES = 10
RIGHT = 0.75  # at least


@pytest.mark.parametrize("grammar", [Sized, Shared, Kept])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_of_any_size(batch: int, grammar: type[Grammar]) -> None:
    """The same programs in each run."""
    outcomes: Counter[str] = Counter()
    for number in range(batch, COUNT, BATCHES):
        outcomes[judge(grammar(number).program(), number)] += 1
    print(dict(outcomes))
    if outcomes.total() >= ENOUGH:
        assert outcomes["right"] >= RIGHT * outcomes.total()
