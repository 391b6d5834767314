"""Sides of branches that cannot be followed: refused where they are taken."""

from __future__ import annotations

from collections.abc import Callable

import gast

from ....errors import Refused
from ....runtime.apart import Apart
from ... import ir
from ...domain.attempt import Way
from ...domain.values import Const
from ...ir.builder import Specialiser
from ..kernel.raising import beside, run_block


def run_side(s: Specialiser, block: ir.Block, work: Callable[[], None]) -> bool:
    """Write one side of a branch; one that cannot be followed may be refused where it is taken."""
    with beside(s):
        try:
            goes_on = run_block(s, block, work)
            if goes_on and is_late(s) and passes_on(s):
                raise s.refuse("class-feature", "whether this class has the operator is known only at run time")
            return goes_on
        except Refused as error:
            if not is_late(s):
                raise
            refuse_there(s, block, error)
            return False


def passes_on(s: Specialiser) -> bool:
    """True if the method of an operator is about to return NotImplemented, for the other operand to be asked."""
    return any(
        isinstance(value, Const) and value.value is NotImplemented and s.frame is not None and key[0] == s.frame.id
        for key, value in s.env.items()
    )


def is_late(s: Specialiser) -> bool:
    """True where a refusal may wait for the run: no handler of the program would catch it."""
    return Way.LATE in s.attempt.ways and not (s.strictly or s.hearing or s.recursive_calls) and s.in_package()


def refuse_there(s: Specialiser, block: ir.Block, error: Refused) -> None:
    """Write a block that raises a refusal, past the handlers of the program."""
    apart = ir.call(s.bind("Apart", Apart), ir.constant(1))
    block[:] = [ir.Raise(gast.Raise(apart, s.bind("refused", error)), s.where())]
