"""A part of a shadow is set to zero after the use of what was in it, which then needs no name.

::

    d_t = d_y[3]                           d_x[4] += 2 * d_y[3] * t
    d_y[3] = 0.0                           d_y[3] = 0.0
    d_x[4] += 2 * d_t * t         ->

Only where nothing in between reads or writes the shadow or a view of it.
"""

from __future__ import annotations

from typing import Any

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...ir.builder import Specialiser
from ...ir.patterns import is_zeroing


def sink_stores(s: Specialiser, program: ir.Block) -> None:
    """Reorder the blocks of the reverse sweep, in place."""
    if any(is_zeroing(stmt) for stmt in ir.adjoint_walk(program)):
        reorder(s, program, count_uses(program))


def reorder(s: Specialiser, block: ir.Block, uses: dict[str, int]) -> None:
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            reorder(s, inner, uses)
    for zero in [stmt for stmt in block if is_zeroing(stmt)]:
        start = block.index(zero)
        last = last_user(s, block, start, uses)
        block[start : last + 1] = [*block[start + 1 : last + 1], zero]


def last_user(s: Specialiser, block: ir.Block, start: int, uses: dict[str, int]) -> int:
    """Where something that was read of a shadow before its zeroing at `start` is used, if the zeroing may wait."""
    region = roots_of(s.facts[block[start].base])
    places = {root for n in ir.names_in(block[start].index) if ir.is_variable(n) for root in roots_of(s.facts[n])}
    waiting = {
        name
        for stmt in block[max(0, start - thresholds.NEAR_ZEROING) : start]
        for name in taken_out(s, stmt, region, uses)
    }
    last = start
    for k in range(start + 1, min(start + 1 + thresholds.NEAR_ZEROING, len(block))):
        stmt = block[k]
        if not waiting or not region or touches(s, stmt, region, False) or touches(s, stmt, places, True):
            break
        used = waiting & set(ir.reads(stmt))
        if used and not ir.bodies(stmt):
            waiting -= used
            waiting |= {n for n in ir.ir_targets(stmt) if is_passed_on(s, stmt, uses)}
            last = k
    return last


def taken_out(s: Specialiser, stmt: Any, region: frozenset[int], uses: dict[str, int]) -> list[str]:
    """The temporary that a statement makes of what is in a shadow, if one statement uses it."""
    read = any(roots_of(s.facts[n]) & region for n in ir.reads(stmt))
    return [stmt.target] if read and is_passed_on(s, stmt, uses) else []


def is_passed_on(s: Specialiser, stmt: Any, uses: dict[str, int]) -> bool:
    """Whether a statement makes a temporary that one other uses."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect:
        return False
    return stmt.target not in s.named and uses.get(stmt.target, 0) == 1
