"""What works in place does so in memory that an operation has just made, not in what a list still holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import ir
from autodiff_sct.compiler.driver import assemble
from tests.bank import checks, second
from tests.bank.differences import quiet
from tests.bank.limits import within
from tests.bank.registry import Program, load_bank
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

PROGRAMS = list(within(load_bank()[0].values()))


def taken_from_elsewhere(program: ir.Block) -> Iterator[ir.Let]:
    """Yield the statements that work in place on what has been read from a list, or unpacked."""
    makers = {name: stmt for stmt in ir.walk(program) for name in ir.ir_targets(stmt)}
    for stmt in ir.walk(program):
        left = stmt.expr.left if isinstance(stmt, ir.Let) and stmt.in_place else None
        maker = makers.get(left.id) if isinstance(left, gast.Name) else None
        if isinstance(maker, ir.Let) and is_read(maker.expr):
            yield stmt


def is_read(expr: Any) -> bool:
    pops = isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "pop"
    return pops or isinstance(expr, gast.Subscript)


@contextmanager
def in_place_checked() -> Iterator[None]:
    """Check each program that is written meanwhile."""
    settle = assemble.settle_calls

    def checked(s: Any, program: ir.Block) -> None:
        settle(s, program)
        assert not list(taken_from_elsewhere(program))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assemble, "settle_calls", checked)
        yield


@pytest.mark.parametrize("program", [pytest.param(p, id=f"{p.topic}-{p.name}") for p in PROGRAMS[::20]])
def test_programs_of_the_bank(program: Program) -> None:
    with in_place_checked():
        quiet(ad.grad(program.function, checks.position_of(program.wrt)), *program.args())
        for way, derivative in second.WAYS.items():
            if second.applies(way, program):
                try:
                    derivative(program)
                except ad.AutodiffError as error:
                    assert program.name in second.REFUSED, error


def attracted(place: Any, speed: Any) -> Any:
    new = np.empty_like(speed)
    for i in range(len(place)):
        v = speed[i].copy()
        for j in range(len(place)):
            gap = place[i] - place[j]
            v += 2.0 * gap / (gap @ gap + 0.1)
        new[i] = v**2
    return np.sum((place + new) ** 2)


@pytest.mark.parametrize("count", [1, 3, 20])
def test_a_sum_that_each_step_of_a_loop_adds_to(count: int) -> None:
    """The cotangent of `v` is saved before each addition, as the same array."""
    rng = np.random.default_rng(3)
    place, speed, way = rng.normal(size=(count, 2)), 0.5 * rng.normal(size=(count, 2)), rng.normal(size=(count, 2))

    def along(place: Any, speed: Any) -> Any:
        return np.sum(ad.grad(attracted)(place, speed) * way)

    with in_place_checked():
        found = ad.grad(along, (0, 1))(place, speed)
    for position in (0, 1):
        np.testing.assert_allclose(found[position], differences(along, (place, speed), position), 1e-5, 1e-4)
