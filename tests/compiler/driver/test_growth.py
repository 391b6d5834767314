"""How the work of compiling grows with the program, counted in calls of Python's functions: no clock is asked.

Each shape of `benchmarks.compile_growth` is compiled at two sizes.  The counts are the same on every machine.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest

import autodiff_sct as ad
from benchmarks.compile_growth import SHAPES

NESTED = [name for name in SHAPES if name.startswith("nested for") or name.startswith("nested while")]
LINEAR = [name for name in SHAPES if name not in NESTED and not name.startswith("helpers twice")]
STEEPEST = {"early returns": 1.55, "short vectors": 1.5}


def work(name: str, size: int) -> int:
    """The calls that compiling a member of a shape takes."""
    shape, count = SHAPES[name], 0
    function, arguments = ad.from_source(shape.text(size)), shape.arguments(size)

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ad.adjoint_source(function, *arguments)
    finally:
        sys.setprofile(before)
    return count


def exponent(name: str, small: int, large: int) -> float:
    work(name, small)  # which fills the caches of what does not depend on the program
    return math.log(work(name, large) / work(name, small)) / math.log(large / small)


@pytest.mark.parametrize("name", LINEAR)
def test_work_grows_with_the_program(name: str) -> None:
    small, large = (4, 12) if name == "nested if" else (20, 60)
    assert exponent(name, small, large) < STEEPEST.get(name, 1.3)


@pytest.mark.parametrize("name", NESTED)
def test_work_grows_slower_than_the_square_of_the_depth(name: str) -> None:
    assert exponent(name, 5, 10) < 1.8
