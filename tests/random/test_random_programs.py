"""No random program gets a wrong gradient; few are refused.

`AUTODIFF_SCT_RANDOM_PROGRAMS` sets how many programs are tried (2000).
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.random import PROGRAMS
from tests.random.oracle import judge
from tests.random.writer import FLAVOURS, Writer

BATCHES = 20
REFUSED_AT_MOST = 0.2
UNKNOWN_AT_MOST = 0.1
ENOUGH = 100  # programs in a batch: a share of fewer says little
DRAWS = [st.integers(0, n) for n in range(64)]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, int]:
    """Draw a program's text and the seed of its arguments."""
    flavour = draw(st.sampled_from(list(FLAVOURS)))
    writer = Writer(lambda n: draw(DRAWS[n - 1]), flavour, budget=draw(st.integers(1, 12)))
    return writer.program(), draw(st.integers(0, 99))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(batch: int) -> None:
    """The same programs in each run; a failing one is shrunk and its text printed."""
    outcomes: Counter[str] = Counter()

    @seed(batch)
    @settings(
        max_examples=max(1, PROGRAMS // BATCHES),
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def run(drawn: tuple[str, int]) -> None:
        outcomes[judge(*drawn).partition(":")[0]] += 1

    run()
    total = outcomes.total()
    print(dict(outcomes))
    if total >= ENOUGH:
        assert outcomes["refused"] <= REFUSED_AT_MOST * total
        assert outcomes["unknown"] <= UNKNOWN_AT_MOST * total
