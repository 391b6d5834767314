"""The next value of a cotangent is computed after the last use of the one that it replaces, so that it has its name.

::

    d_s2 = d_s * t                          d_v = d_s * s * np.cos(v)
    d_v = d_s * s * np.cos(v)         ->    d_s = d_s * t
    d_s = d_s2

    d_s2 = d_s * v                          d_v = d_s * s
    d_v = d_s * s                     ->    d_x[i] = d_v
    d_x[i] = d_v                            d_s = d_s * v
    d_s = d_s2

Nothing is moved past the statements that reverse another line of the user's, nor past a write to what it reads.  What
is a number of the text, and is only handed on by a block, comes last.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import names_read, readers_of
from ...ir.builder import Specialiser
from ...ir.patterns import is_call, is_pop_call


def sink(s: Specialiser, block: ir.Block) -> None:
    """Reorder a block of the reverse sweep and the blocks inside it, in place."""
    sink_inside(s, block, {})


def sink_inside(s: Specialiser, block: ir.Block, known: dict[Any, dict[str, None]]) -> None:
    """The same; `known` are the variables that statements read, which stay the same."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            sink_inside(s, inner, known)
    handed_on = [stmt for stmt in block if is_number(s, stmt)]
    if handed_on:
        read = {name for stmt in block for name in names_read(stmt, known)}
        handed_on = [stmt for stmt in handed_on if stmt.target not in read]
        block[:] = [*(stmt for stmt in block if stmt not in handed_on), *handed_on]
    following = [stmt for stmt in block if is_next_value(s, stmt)]
    pops = {stmt.target: stmt for stmt in block if is_pop(s, stmt)}
    readers = readers_of(block, known) if following else {}
    places = {stmt: k for k, stmt in enumerate(block)}
    for stmt in following:
        popped = [pops[n] for n in dict.fromkeys(ir.reads(stmt)) if n in pops and len(readers[n]) == 1]
        move_past(s, block, places, readers, stmt, popped)


def is_pop(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement reads back one value: of several, others may be read before."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) > 1 or not stmt.effect or not is_call(stmt.expr, "pop"):
        return False
    return getattr(stmt.expr.func.value, "id", None) in s.saved


def is_number(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement gives a cotangent a number that is written in the text."""
    return isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Constant) and s.hints[stmt.target].startswith("d_")


def is_next_value(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement makes a cotangent from one of the same name."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place:
        return False
    if any(is_pop_call(node) for node in ir.nodes_in(stmt.expr)):
        return False
    return s.hints[stmt.target].startswith("d_") and len(replaced_by(s, stmt)) == 1


def replaced_by(s: Specialiser, stmt: ir.Let) -> set[str]:
    return {n for n in ir.reads(stmt) if s.hints[n] == s.hints[stmt.target]}


def move_past(
    s: Specialiser,
    block: ir.Block,
    places: dict[Any, int],
    readers: dict[str, list[Any]],
    stmt: ir.Let,
    popped: list[ir.Let],
) -> None:
    start = places[stmt]
    last = last_use(s, block, places, readers, stmt)
    passed = block[start + 1 : last + 1]
    if not passed or any(stmt.target in ir.reads_inside(x) for x in passed):
        return
    memory = {root for n in ir.reads(stmt) for root in roots_of(s.facts[n])}
    if not any(touches(s, x, memory, True) or changes(s, x, memory) for x in passed):
        moved = [*popped, stmt]
        first = min(places[x] for x in moved)
        block[first : last + 1] = [*(x for x in block[first : last + 1] if x not in moved), *moved]
        places |= {block[k]: k for k in range(first, last + 1)}


def changes(s: Specialiser, stmt: Any, memory: set[int]) -> bool:
    """Whether a statement adds something to some memory under another name."""
    sums = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and x.in_place]
    return any(memory & roots_of(s.facts[n]) for x in sums for n in (x.target, *ir.variables_in(x.expr.left)))


def last_use(
    s: Specialiser, block: ir.Block, places: dict[Any, int], readers: dict[str, list[Any]], first: ir.Let
) -> int:
    """Where the reverse of one line reads what a statement replaces, or a temporary that is made of it, last."""
    last = places[first]
    after = {places[x] for n in replaced_by(s, first) for x in readers[n] if places[x] > last}
    stored: list[Any] = []
    while after:
        place = min(after)
        after.remove(place)
        if any(begins_line(x, first) for x in block[last + 1 : place + 1] if x not in stored):
            break
        last, stmt = place, block[place]
        if not isinstance(stmt, ir.Let):
            continue
        later = [x for x in readers.get(stmt.target, ()) if places[x] > place]
        if stmt.target not in s.named:
            after |= {places[x] for x in later}
        elif len(later) == 1 and is_stored(stmt, later[0]):
            stored += later
            after.add(places[later[0]])
        elif len(later) == 1 and isinstance(later[0], ir.Let) and s.hints[later[0].target] == s.hints[stmt.target]:
            after.add(places[later[0]])
    return last


def is_stored(stmt: ir.Let, following: Any) -> bool:
    """Whether a statement puts what another one makes into an item, or adds it to one."""
    return isinstance(following, ir.Store) and getattr(following.value, "id", None) == stmt.target


def begins_line(stmt: Any, first: ir.Let) -> bool:
    """Whether a statement reverses another line of the user's than an earlier one, or several."""
    return bool(ir.bodies(stmt)) or (stmt.origin is not None and not ir.same_line(stmt, first))
