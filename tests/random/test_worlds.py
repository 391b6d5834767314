"""No change of the world between two calls leaves a gradient that was.

`AUTODIFF_SCT_RANDOM_CHANGES` sets how many values are put into places at random (240); `worlds` says where and which,
`argument_worlds` what is given to the functions, and `disk_worlds` what another process finds.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.random.argument_worlds import judge_arguments
from tests.random.disk_worlds import run_programs, write_programs
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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("use", USES)
def test_arguments_at_random(use: str) -> None:
    """The same arguments in each run."""
    assert not judge_arguments(use, Random(use), max(1, CHANGED // 3 // len(USES)))


def test_programs_on_disk(tmp_path: Path) -> None:
    """A second process finds what the first one kept, in the same world and in another one."""
    (tmp_path / "cache").mkdir(mode=0o700)
    programs = write_programs(tmp_path, Random("disk"), max(1, CHANGED // 6))
    for changed in (False, False, True):
        for program, (kept, fresh) in zip(programs, run_programs(tmp_path, changed), strict=True):
            assert kept == fresh, program["told"]
    assert [*(tmp_path / "cache").rglob("*.json")]
