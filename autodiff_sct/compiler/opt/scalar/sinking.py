"""Code sinking: the next value of a cotangent is computed after the last use of the one that it replaces.

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

A part of a shadow is set to zero after the use of what was in it, which then needs no name.

::

    d_t = d_y[3]                           d_x[4] += 2 * d_y[3] * t
    d_y[3] = 0.0                           d_y[3] = 0.0
    d_x[4] += 2 * d_t * t         ->

Only where nothing in between reads or writes the shadow or a view of it.
"""

from __future__ import annotations

from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses, names_read, readers_of
from ...ir.builder import Specialiser
from ...ir.patterns import is_call, is_pop_call, is_zeroing


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
    """True if a statement reads back one value: of several, others may be read before."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) > 1 or not stmt.effect or not is_call(stmt.expr, "pop"):
        return False
    return getattr(stmt.expr.func.value, "id", None) in s.saved


def is_number(s: Specialiser, stmt: Any) -> bool:
    """True if a statement gives a cotangent a number that is written in the text."""
    return isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Constant) and s.is_cotangent(stmt.target)


def is_next_value(s: Specialiser, stmt: Any) -> bool:
    """True if a statement makes a cotangent from one of the same name."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place:
        return False
    if any(is_pop_call(node) for node in ir.nodes_in(stmt.expr)):
        return False
    return s.is_cotangent(stmt.target) and len(replaced_by(s, stmt)) == 1


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
    """True if a statement adds something to some memory under another name."""
    sums = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and x.in_place]
    return any(memory & roots_of(s.facts[n]) for x in sums for n in (x.target, *ir.variables_in(x.expr.left)))


def last_use(
    s: Specialiser, block: ir.Block, places: dict[Any, int], readers: dict[str, list[Any]], first: ir.Let
) -> int:
    """The last read, in the reverse of one line, of what a statement replaces, or of a temporary made of it."""
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
    """True if a statement puts what another one makes into an item, or adds it to one."""
    return isinstance(following, ir.Store) and getattr(following.value, "id", None) == stmt.target


def begins_line(stmt: Any, first: ir.Let) -> bool:
    """True if a statement reverses another line of the user's than an earlier one, or several."""
    return bool(ir.bodies(stmt)) or (stmt.origin is not None and not ir.same_line(stmt, first))


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
    """The last use of a value read from a shadow before its zeroing at `start`, if the zeroing may wait."""
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
    """True if a statement makes a temporary that one other uses."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect:
        return False
    return stmt.target not in s.named and uses.get(stmt.target, 0) == 1
