"""Calls that are shared wherever they can be: the programs of the bank keep values, gradients, tangents and pullbacks.

A call is shared where its text would be long (`interp.calls.inline`), and only of numbers and arrays.  Here length and
kinds do not count, so that what the bank's helpers do goes through compiled functions, as in recursive functions of
the user's: objects, lists, dicts, nested gradients.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autodiff_sct.api import entry
from autodiff_sct.compiler.domain.values import Frame
from autodiff_sct.compiler.interp.calls import inline
from autodiff_sct.core import thresholds
from tests.bank import checks
from tests.bank.__main__ import applies
from tests.bank.limits import within
from tests.bank.registry import PROGRAMS, Program, load_bank

load_bank()
CHECKS = {
    "gradient": checks.check_gradient,
    "value": checks.check_value,
    "forward": checks.check_forward,
    "pullback": checks.check_pullback,
}
# Programs in which sharing has gone wrong: methods that write tables of objects, nested gradients, returned lists,
# dtypes of local variables.
ALWAYS = {
    "callable_object",
    "hessian_trace",
    "operator_overloading",
    "groups_of_neighbours",
    "counters_are_updated",
    "dtype_from_a_helper",
}
# Objects that a call makes or returns and others write to are not followed through it: such calls stay inlined.
OBJECTS_RETURNED = {
    "object_that_is_its_own_iterator",
    "object_with_array",
    "tape_of_objects",
    "bodies_attract_each_other",
}
STEP = 29


def sampled(check: str, shift: int) -> list[Program]:
    """Every so many programs that a check is meant for, other ones for each check."""
    limit = check if check in ("forward", "pullback") else "all"
    programs = [program for program in within(PROGRAMS.values(), limit) if applies(check, program)]
    chosen = [p for k, p in enumerate(programs) if k % STEP == shift or p.name in ALWAYS]
    return [p for p in chosen if p.name not in OBJECTS_RETURNED]


SAMPLES = [
    pytest.param(check, program, id=f"{check}-{program.name}")
    for number, check in enumerate(CHECKS)
    for program in sampled(check, 7 * number)
]


@pytest.fixture(autouse=True)
def shared_wherever_possible(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Share each second call of the user's functions, and compile everything anew."""
    decide = inline.shared_call

    def of_users(s: Any, frame: Frame, *rest: Any) -> Any:
        own = str(frame.globals.get("__name__")).startswith("autodiff_sct.")
        return None if own else decide(s, frame, *rest)

    monkeypatch.setattr(inline, "shared_call", of_users)
    monkeypatch.setattr(inline, "is_plain", lambda *_: True)
    monkeypatch.setattr(inline, "only_computes", lambda *_: True)
    monkeypatch.setattr(thresholds, "INLINED_VARIABLES", 1)
    monkeypatch.setattr(thresholds, "NESTED_CALLS", 0)
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    monkeypatch.setattr(entry, "PRODUCTS", {})
    monkeypatch.setattr(entry, "CAPTURED", {})
    monkeypatch.setattr(checks, "GRADIENTS", {})
    yield


@pytest.mark.parametrize(("check", "program"), SAMPLES)
def test_bank_with_shared_calls(check: str, program: Program) -> None:
    CHECKS[check](program)
