"""What the compiler believes of kinds, dtypes, ranks and lengths holds while a program runs; the test would tell."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.interp.world import captures
from autodiff_sct.errors import AliasError
from tests.bank.differences import quiet
from tests.bank.limits import within
from tests.bank.registry import Program, load_bank
from tests.laws.facts_checked import facts_checked
from tests.random.oracle import forget, load
from tests.random.sweeps import Sweeps
from tests.random.tables import Tables

pytestmark = pytest.mark.once

PROGRAMS = list(within(load_bank()[0].values()))
LENGTHS = [1, 3, 17]


@pytest.mark.parametrize("program", [pytest.param(p, id=f"{p.topic}-{p.name}") for p in PROGRAMS[::3]])
def test_programs_of_the_bank(program: Program) -> None:
    with facts_checked():
        gradient = ad.grad(program.function, program.wrt if len(program.wrt) > 1 else program.wrt[0])
        try:
            quiet(gradient, *program.args())
        except AliasError as error:  # the oracle reads views where they may not be read
            pytest.skip(str(error).splitlines()[-1])


@pytest.mark.parametrize("grammar", [Sweeps, Tables])
@pytest.mark.parametrize("number", range(5))
def test_random_programs(grammar: type[Sweeps | Tables], number: int) -> None:
    program = load(grammar(number).program())
    with facts_checked():
        gradient = ad.grad(program)
        for length in LENGTHS:
            try:
                quiet(gradient, np.cos(np.arange(float(length))))
            except (ad.AutodiffError, IndexError, ValueError):
                continue
    forget(program)


ROWS, COLUMNS = np.ones((2, 5)), np.ones((3, 4))


def outside(x: float) -> float:
    return x * np.sum(ROWS) + np.sum(x * COLUMNS)


def test_that_a_wrong_length_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one = captures.describe
    monkeypatch.setattr(captures, "describe", lambda value, symbol: one(value, "w"))
    with facts_checked(), pytest.raises(AssertionError, match="is not as long as"):
        ad.grad(outside)(0.5)
