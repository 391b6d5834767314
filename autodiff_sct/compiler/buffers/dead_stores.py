"""What is written into a cotangent for the last time, and read by nobody.

::

    d_lap = d_v * c                         d_lap = d_v * c
    d_u[1:-1] += d_lap[1:-1]          ->    d_u[1:-1] += d_lap[1:-1]
    d_lap[1:-1] = 0.0

The reverse of ``lap[1:-1] = ...`` clears what it has taken.  Where the array was made in the same block and nothing
after the store reaches its memory, it is not worth clearing.  What was computed for such a store only is not computed.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import Num
from ..optimise import count_uses
from ..peephole import leaving_of
from ..regions import roots_of
from ..specialise.state import Specialiser
from .reuse import is_creation


def drop_dead_stores(s: Specialiser, block: ir.Block, leaving: frozenset[str] = frozenset()) -> None:
    """Drop the last stores of a block of the reverse sweep and of the blocks inside it, in place.

    `leaving` are the variables that are read after the block.
    """
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            drop_dead_stores(s, inner, leaving_of(stmt, block) | leaving)
    if not any(isinstance(stmt, ir.Store) for stmt in block):
        return
    made = made_in(block, leaving)
    later = {root for name in leaving for root in roots_of(s.facts[name])}
    read, unread = set(leaving), set[str]()  # by what stays, and by what goes
    kept: ir.Block = []
    for stmt in reversed(block):
        if is_dead(s, stmt, made, later) or is_for_nothing(stmt, unread - read):
            unread.update(ir.reads(stmt))
            continue
        kept.append(stmt)
        read.update(ir.reads_inside(stmt))
        later |= reached(s, stmt)
    block[:] = reversed(kept)


def made_in(block: ir.Block, leaving: frozenset[str]) -> set[str]:
    """The variables whose memory is made in a block, where only what follows can reach it."""
    uses = count_uses(block)
    made: set[str] = set()
    for stmt in block:
        if not isinstance(stmt, ir.Let) or stmt.in_place or len(stmt.targets) != 1:
            continue
        renames = isinstance(stmt.expr, gast.Name) and stmt.expr.id in made - leaving and uses[stmt.expr.id] == 1
        if renames or isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)) or is_creation(stmt.expr):
            made.add(stmt.target)
    return made


def is_dead(s: Specialiser, stmt: Any, made: set[str], later: set[int]) -> bool:
    if not isinstance(stmt, ir.Store) or stmt.base not in made or not isinstance(s.facts[stmt.base], Num):
        return False
    roots = roots_of(s.facts[stmt.base])
    return bool(roots) and not roots & later


def is_for_nothing(stmt: Any, unread: set[str]) -> bool:
    """Whether a statement computes no more than what nobody reads any more."""
    if not isinstance(stmt, ir.Let) or stmt.effect or stmt.in_place or stmt.augments or stmt.saves:
        return False
    raises = stmt.repeats is not None and stmt.may_raise  # maybe in the place of what the forward sweep computed
    return not raises and unread.issuperset(stmt.targets)


def reached(s: Specialiser, stmt: Any) -> set[int]:
    """The memory that a statement and the blocks inside it read or write."""
    return {root for name in ir.reads_inside(stmt) for root in roots_of(s.facts[name])}
