"""What the reverse sweep reads of the forward sweep is what that had there; the tests of the tests would tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.api import entry
from autodiff_sct.compiler.ad.tape import required_restores, rows
from autodiff_sct.compiler.ad.tape.insert import Record
from tests.bank import checks, sizes
from tests.bank.differences import quiet
from tests.laws.reads_checked import WrongRead, kept_checked, restored_checked
from tests.random.oracle import forget, load
from tests.random.sized import Sized
from tests.random.sized_oracle import arguments, copied
from tests.random.sweeps import Sweeps
from tests.random.tables import Tables

pytestmark = pytest.mark.once

PROGRAMS = sizes.programs()
CONTEXTS = [kept_checked, restored_checked]
CASES = [
    case for k, program in enumerate(PROGRAMS[::19]) for case in [*sizes.cases([program], (3, 17, 130))][k % 5 :: 7]
]


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile everything anew, and leave nothing that other tests would find."""
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    monkeypatch.setattr(entry, "PRODUCTS", {})
    monkeypatch.setattr(checks, "GRADIENTS", {})


@pytest.mark.parametrize("checked", CONTEXTS)
@pytest.mark.parametrize("program", [pytest.param(p, id=f"{p.topic}-{p.name}") for p in PROGRAMS[::11]])
def test_programs_of_the_bank(checked: Callable[[], Any], program: Any) -> None:
    with checked():
        quiet(checks.gradient_of(program), *program.args())


@pytest.mark.parametrize("checked", CONTEXTS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_at_other_sizes(checked: Callable[[], Any], case: sizes.Case) -> None:
    program = case.resized()
    with sizes.if_any():
        sizes.expected_of(program)
        with checked():
            quiet(checks.gradient_of(program), *program.args())


@pytest.mark.parametrize("checked", CONTEXTS)
@pytest.mark.parametrize("grammar", [Sized, Sweeps, Tables])
@pytest.mark.parametrize("number", range(5))
def test_random_programs(checked: Callable[[], Any], grammar: Any, number: int) -> None:
    program = load(grammar(number).program())
    several = grammar is Sized
    args = arguments(np.random.default_rng(number), 3, 5) if several else (np.cos(np.arange(7.0)),)
    try:
        quiet(program, *copied(args))
    except (IndexError, ValueError):
        pytest.skip("the program raises")
    with checked(), sizes.if_any():
        ad.grad(program, (0, 1, 2, 3) if several else 0)(*args)
    forget(program)


# -- what the tests find


def halved(x):
    A = x * 2.0
    s = np.sum(A**2)
    for i in range(len(A)):
        A[i] *= 0.5
    return s


def stepped(x, A):
    for _ in range(3):
        x = np.tanh(A @ x)
    return np.sum(x)


def test_that_an_uncopied_row_is_told(monkeypatch):
    monkeypatch.setattr(rows, "copied_rows", rows.rows)
    with restored_checked(), pytest.raises(WrongRead, match="A"):
        ad.grad(halved)(np.ones((2, 129)))


def test_that_memory_that_is_not_put_back_is_told(monkeypatch):
    monkeypatch.setattr(required_restores, "is_needed", lambda *_: False)
    with restored_checked(), pytest.raises(WrongRead, match="A"):
        ad.grad(halved)(np.ones((2, 3)))


def test_that_a_value_of_another_step_is_told(monkeypatch):
    monkeypatch.setattr(Record, "is_local", lambda *_: False)
    with kept_checked(), pytest.raises(WrongRead, match="x"):
        ad.grad(stepped)(np.ones(3), np.eye(3) * 0.5)
