"""Sides of branches that cannot be followed: refused where they are taken."""

from __future__ import annotations

from collections.abc import Callable

import gast

from ....errors import Refused
from ....runtime.apart import Apart
from ... import ir
from ...domain.attempt import Way
from ...ir.builder import Specialiser
from ..kernel.raising import beside, run_block


def run_side(s: Specialiser, block: ir.Block, work: Callable[[], None]) -> bool:
    """Write one side of a branch; one that cannot be followed may be refused where it is taken."""
    with beside(s):
        try:
            return run_block(s, block, work)
        except Refused as error:
            if not is_late(s):
                raise
            refuse_there(s, block, error)
            return False


def is_late(s: Specialiser) -> bool:
    """True where a refusal may wait for the run: no handler of the program would catch it."""
    return Way.LATE in s.attempt.ways and not (s.strictly or s.hearing or s.recursive_calls) and s.in_package()


def refuse_there(s: Specialiser, block: ir.Block, error: Refused) -> None:
    """Write a block that raises a refusal, past the handlers of the program."""
    apart = ir.call(s.bind("Apart", Apart), ir.constant(1))
    block[:] = [ir.Raise(gast.Raise(apart, s.bind("refused", error)), s.where())]
