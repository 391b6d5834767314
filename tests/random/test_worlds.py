"""No change of the world between two calls leaves a gradient that was.

`AUTODIFF_SCT_RANDOM_CHANGES` sets how many values are put into places at random (240); `worlds` says where and which.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.random.worlds import CHANGES, SITES, USES, judge_change, judge_site

CHANGED = int(os.environ.get("AUTODIFF_SCT_RANDOM_CHANGES", "240"))
EACH = 5  # values put into one place, one after the other


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile what is compared with, instead of finding it on disk."""
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_one_object(name: str) -> None:
    assert not judge_change(name)


@pytest.mark.parametrize("use", USES)
def test_values_at_random(use: str) -> None:
    """The same places and values in each run."""
    random = Random(use)
    values = USES[use][1]
    wrong = []
    for _ in range(max(1, CHANGED // EACH // len(USES))):
        site = random.choice(list(SITES))
        wrong += judge_site(site, use, [random.choice(values) for _ in range(EACH + 1)])
    assert not wrong
