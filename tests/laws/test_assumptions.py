"""Programs that break what passes assume are right at every size, with the value and without it, in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.laws.assumptions import PROGRAMS
from tests.random.sized_oracle import LAYOUTS, Arguments, outcome

pytestmark = pytest.mark.once

SIZES = [1, 3, 130]
LARGE = [16_384, 16_386, 33_000]  # on both sides of what strips of long arrays hold


def arguments(length: int, layout: int) -> Arguments:
    """Return arguments in an order of memory."""
    rng = np.random.default_rng(length)
    arrays = [rng.uniform(-1, 1, shape) for shape in (length, length, (length, 3))]
    return (*map(LAYOUTS[layout], arrays), float(rng.uniform(0.3, 0.9)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("program", "length", "layout"),
    [
        pytest.param(p, length, (k + j) % len(LAYOUTS), id=f"{p.__name__}-{length}")
        for k, p in enumerate(PROGRAMS)
        for j, length in enumerate([*SIZES, *(LARGE if p.__name__.startswith("strips") else [])])
    ],
)
def test_programs(program: Callable[..., Any], length: int, layout: int) -> None:
    rng = np.random.default_rng(length)
    assert outcome(program, arguments(length, layout), rng) in ("right", "unknown")
