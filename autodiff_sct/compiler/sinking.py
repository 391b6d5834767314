"""The next value of a cotangent is computed after the last use of the one that it replaces, so that it has its name.

::

    d_s2 = d_s * t                          d_v = d_s * s * np.cos(v)
    d_v = d_s * s * np.cos(v)         ->    d_s = d_s * t
    d_s = d_s2

Nothing is moved past the statements that reverse another line of the user's, nor past a write to what it reads.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from . import ir
from .peephole import is_call, touches
from .record import reads_inside
from .regions import roots_of
from .specialise.state import Specialiser


def sink(s: Specialiser, block: ir.Block) -> None:
    """Reorder a block of the reverse sweep and the blocks inside it, in place."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            sink(s, inner)
    pops = {stmt.target: stmt for stmt in block if is_pop(stmt)}
    uses = Counter(name for stmt in block for name in set(reads_inside(stmt)) if name in pops)
    places = {stmt: k for k, stmt in enumerate(block)}
    for stmt in [x for x in block if is_next_value(s, x)]:
        popped = [pops[n] for n in dict.fromkeys(ir.reads(stmt)) if uses[n] == 1]
        move_past(s, block, places, stmt, popped)


def is_pop(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and stmt.effect and is_call(stmt.expr, "pop")


def is_next_value(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement makes a cotangent from one of the same name."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place:
        return False
    return s.hints[stmt.target].startswith("d_") and len(replaced_by(s, stmt)) == 1


def replaced_by(s: Specialiser, stmt: ir.Let) -> set[str]:
    return {n for n in ir.reads(stmt) if s.hints[n] == s.hints[stmt.target]}


def move_past(s: Specialiser, block: ir.Block, places: dict[Any, int], stmt: ir.Let, popped: list[ir.Let]) -> None:
    start = places[stmt]
    last = last_use(s, block, start, replaced_by(s, stmt))
    passed = block[start + 1 : last + 1]
    if not passed or any(stmt.target in reads_inside(x) for x in passed):
        return
    memory = {root for n in ir.reads(stmt) for root in roots_of(s.facts[n])}
    if not any(touches(s, x, memory, True) for x in passed):
        moved = [*popped, stmt]
        first = min(places[x] for x in moved)
        block[first : last + 1] = [*(x for x in block[first : last + 1] if x not in moved), *moved]
        places |= {block[k]: k for k in range(first, last + 1)}


def last_use(s: Specialiser, block: ir.Block, start: int, names: set[str]) -> int:
    """Where the reverse of one line reads a variable, or a temporary that is made of it, last."""
    last = start
    for k in range(start + 1, len(block)):
        stmt = block[k]
        if ir.bodies(stmt) or (stmt.origin is not None and not ir.same_line(stmt, block[start])):
            break
        if names & set(ir.reads(stmt)):
            last = k
            if isinstance(stmt, ir.Let) and stmt.target not in s.named:
                names.add(stmt.target)
    return last
