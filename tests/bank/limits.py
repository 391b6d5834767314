"""Programs of the bank that the compiler refuses today, each with the reason that it gives.

Every entry is tested: the refusal must name a line of the program and match the pattern. A program that the compiler
has learnt fails that test until its entry is removed. Crashes and wrong numbers have no place here.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.bank.registry import Program

# Check -> program -> pattern of the refusal. "all": not differentiated at all, and left out of the other checks.
LIMITS: dict[str, dict[str, str]] = {
    "all": {
        "exception_carries_a_value": r"Diverged has no derivative rule",
        "sliding_windows": r"has no view of its adjoint that adds up",
    },
    "forward": {},
    "pullback": {},
    "second": {},
}


def within(programs: Iterable[Program], check: str = "all") -> list[Program]:
    """Return the programs that a check is run with."""
    limits = LIMITS["all"] | LIMITS[check]
    return [program for program in programs if program.name not in limits]
