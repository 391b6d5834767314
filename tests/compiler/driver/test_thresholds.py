"""Each threshold at both of its ends: the programs of the bank keep their values, gradients, tangents and pullbacks."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import autodiff_sct as ad
from autodiff_sct.api import entry
from autodiff_sct.core import thresholds
from tests.bank import checks
from tests.bank.__main__ import applies
from tests.bank.limits import within
from tests.bank.registry import PROGRAMS, Program, load_bank

load_bank()
NAMES = [name for name in vars(thresholds) if name.isupper()]
ENDLESS = 10**9
# The ends of what must be at least one, and of what bounds how much is written out, followed or nested.
ENDS = {
    "ITEMS_OF_A_STRIP": (1, ENDLESS),
    "STEPS_OF_A_PRODUCT": (1, ENDLESS),
    "WIDTH_OF_A_BLOCK": (1, ENDLESS),
    "SAMPLES_KEPT": (1, ENDLESS),
    "ITEMS_AT_FIRST": (1, 1 << 16),
    "ELEMENTS_IN_VARIABLES": (0, 64),
    "LENGTH_WRITTEN_OUT": (0, 64),
    "ENTRIES_WRITTEN_OUT": (64, 1000),
    "TRIPS_WRITTEN_OUT": (12, 300),  # what cannot be a loop, as over objects, is refused beyond it
    "RULE_TRIPS_WRITTEN_OUT": (40, 300),  # the settings of a rule are never too many to be listed
    "ITEMS_LISTED": (0, 300),
    "DERIVATIVES_NESTED": (4, 60),  # beyond it, derivatives inside derivatives are refused
    "INLINED_ACTIVATIONS": (1, 40),
    "INLINED_CALLS": (100, 400),  # what cannot be a call, as a recursive generator, is refused beyond it
    "STRUCTURED_ACTIVATIONS": (30, 80),  # beyond it, recursion is refused
    "STRUCTURED_CALLS": (500, 2000),
    "NESTED_BLOCKS": (1, 200),  # Python nests no deeper
    "NESTED_BRANCHES": (2, 90),
    "OPERATIONS_NESTED": (0, 60),
    "OPERATIONS_READ_NEXT": (0, 60),
}
CHECKS = {
    "gradient": checks.check_gradient,
    "value": checks.check_value,
    "forward": checks.check_forward,
    "pullback": checks.check_pullback,
}


def ends_of(name: str) -> tuple[int, int]:
    """The least and the largest value that a threshold is tried at."""
    return ENDS.get(name, (0, ENDLESS))


@cache
def within_all(check: str) -> list[Program]:
    """The programs of the bank that a check is meant for."""
    limit = check if check in ("forward", "pullback") else "all"
    return [program for program in within(PROGRAMS.values(), limit) if applies(check, program)]


# Each threshold sees other programs, together all of the bank.
SAMPLES = [
    pytest.param(name, end, check, program, id=f"{name}-{end}-{check}-{program.name}")
    for number, (name, end) in enumerate((name, end) for name in NAMES for end in ends_of(name))
    for shift, check in enumerate(CHECKS)
    for program in within_all(check)[(7 * number + 13 * shift) % 389 :: 389]
]


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile everything anew, and leave nothing that other tests would find."""
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    monkeypatch.setattr(entry, "PRODUCTS", {})
    monkeypatch.setattr(entry, "CAPTURED", {})
    monkeypatch.setattr(checks, "GRADIENTS", {})
    yield


@pytest.mark.parametrize(("name", "end", "check", "program"), SAMPLES)
def test_bank_at_the_ends(name: str, end: int, check: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, name, end)
    CHECKS[check](program)


def test_every_threshold_is_read() -> None:
    package = Path(inspect.getfile(ad)).parent
    text = "".join(path.read_text() for path in package.rglob("*.py"))
    assert [name for name in NAMES if f"thresholds.{name}" not in text] == []


def test_no_size_is_compared_with_a_number_elsewhere() -> None:
    """Lengths and sizes are compared with thresholds by name, but for the few that NumPy and the formats fix."""
    found = []
    for path in Path(inspect.getfile(ad)).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and is_of_a_size(node.left):
                numbers = [c.value for c in node.comparators if isinstance(c, ast.Constant) and type(c.value) is int]
                found += [f"{path.name}:{node.lineno}" for number in numbers if number > 4]
    assert found == []


def is_of_a_size(expr: ast.expr) -> bool:
    """True for a length or a size."""
    if isinstance(expr, ast.Attribute):
        return expr.attr in ("size", "nbytes", "ndim")
    name = getattr(expr.func, "attr", getattr(expr.func, "id", "")) if isinstance(expr, ast.Call) else ""
    return name in ("len", "size", "prod")
