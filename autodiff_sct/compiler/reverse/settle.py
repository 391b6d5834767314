"""Which overwritten memory has to be restored: that which the reverse sweep reads as it was before.

A restore stays if a statement reversed later than the write reads the memory's content: one before it in the program,
or one in a common loop.  Reading a shape, or making zeros of the same shape, reads no content.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import gast

from ...errors import AliasError
from .. import ir
from ..explain import note, places
from ..facts import Listed, Mapped
from ..regions import written_by
from .sharing import regions_held
from .sweep import Reverse

KINDS = {"shape", "ndim", "size", "dtype"}
SHAPE_ONLY = {"zeros_like", "full_like", "ones_like", "len", "shape", "ndim"}
SECOND_IS_SHAPE = {"unbroadcast", "spread"}


def content_names(expr: Any) -> set[str]:
    """The variables whose content an expression reads."""
    found = set()
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Name):
            found.add(node.id)
        elif isinstance(node, list):
            pending += node
        elif not (isinstance(node, gast.Attribute) and node.attr in KINDS and isinstance(node.value, gast.Name)):
            pending += content_parts(node)
    return found


def content_parts(node: Any) -> list[Any]:
    """The parts of a node whose content it may read."""
    if isinstance(node, gast.Call):
        callee = node.func.attr if isinstance(node.func, gast.Attribute) else getattr(node.func, "id", "")
        if callee in SHAPE_ONLY:
            return [node.args[1:], node.keywords]
        if callee in SECOND_IS_SHAPE:
            return node.args[:1]
    return [getattr(node, part, None) for part in ir.PARTS.get(type(node), ())]


def settle(r: Reverse, reverse: ir.Block, captured: set[str]) -> None:
    """Drop the restores that nobody needs."""
    undo = {node: stmt for stmt, node in r.overwritten.restores}
    if not undo:
        return
    found = readings(r, reverse, set(undo), r.regions.written)
    captured_regions = {r.regions.of(n) for n in captured}
    for node, stmt in undo.items():
        region = r.regions.of(base_of(stmt))
        # An operand of the write itself may be memory that it changes.
        needed = is_needed(r, stmt, region, found) or region in r.kept_regions
        if needed and (isinstance(node, ir.Raise) or region in captured_regions):
            raise AliasError(
                "memory that lives outside the function, or a list, is changed and its old content is needed",
                "copy it first",
                stmt.origin,
            )
        node.dropped = not needed
        if needed:
            who = places([] if region is None else [x for each in found[region].values() for x in each.lines])
            note(r.s, node, f"put back: {who} reads what was here")
        else:
            note(r.s, stmt, "nothing is saved of what this overwrites: the reverse sweep does not read it")
    prune(reverse)


@dataclass
class Readings:
    """Where the reverse sweep reads the memory of a variable."""

    earliest: int = 10**9  # the first place of which the reverse reads it
    looped: set[Any] = field(default_factory=set)  # the loops around such places
    lines: list[Any] = field(default_factory=list)  # the statements that read it


ByRegion = dict[int | None, dict[str, Readings]]  # by region and variable; "" for what a list holds


def readings(r: Reverse, reverse: ir.Block, undo: set[Any], among: set[int]) -> ByRegion:
    """Where the reverse sweep, but for the statements in `undo`, reads memory of some regions."""
    by_place = {place: stmt for stmt, place in r.order.items()}
    found: ByRegion = defaultdict(lambda: defaultdict(Readings))
    for stmt in ir.walk(reverse):
        if stmt not in undo:
            place = r.positions.get(stmt, 10**9)
            reader = by_place.get(place)
            for region, name in memory_read(r, stmt, among):
                readers = found[region][name]
                readers.earliest = min(place, readers.earliest)
                readers.looped.update((reader, *r.around.get(reader, ())))
                readers.lines.append(stmt)
    return found


def is_needed(r: Reverse, stmt: Any, region: int | None, found: ByRegion) -> bool:
    """Whether the reverse sweep reads what was in memory before a statement."""
    return region in found and any(
        (
            readers.earliest <= r.order[stmt]
            or any(loop in readers.looped and not is_local(r, loop, region) for loop in r.around[stmt])
        )
        and not r.generations.is_apart(name, stmt)
        for name, readers in found[region].items()
    )


def base_of(stmt: Any) -> str:
    base = written_by(stmt)
    assert base is not None
    return base


def memory_read(r: Reverse, stmt: Any, among: set[int]) -> set[tuple[int, str]]:
    """The regions among some whose content a statement reads, each with the variable by which it does.

    What runs steps again reads all that a list holds.
    """
    again = getattr(stmt, "state_reads", ())
    held = {(region, "") for n in again for region in regions_held(r, n) & among}
    if not held and not any(n in r.first and r.regions.of(n) in among for n in (*ir.reads(stmt), *again)):
        return set()
    names: set[str] = set()
    if isinstance(stmt, (ir.Let, ir.Effect)):
        names = content_names(stmt.expr)
    elif isinstance(stmt, ir.Store):
        names = content_names(stmt.index) | content_names(stmt.value)
    elif isinstance(stmt, ir.If):
        names = content_names(stmt.test)
    elif isinstance(stmt, ir.Loop):
        names = set().union(*(content_names(b) for b in stmt.bounds))
    elif isinstance(stmt, ir.Return):
        names = content_names(stmt.value)
    names |= lengths_read(r, stmt)
    found = {(r.regions.of(n), n) for n in names if ir.is_variable(n) and n in r.first}
    found |= {(r.regions.of(n), "") for n in again if n in r.first}
    return held | {(region, n) for region, n in found if region is not None and region in among}


def lengths_read(r: Reverse, stmt: Any) -> set[str]:
    """The lists whose length a statement reads, which is not the same at all times as an array's is."""
    exprs = [*stmt.bounds] if isinstance(stmt, ir.Loop) else [getattr(stmt, "expr", None), getattr(stmt, "value", None)]
    calls = [n for expr in exprs for n in ir.nodes_in(expr) if isinstance(n, gast.Call)]
    names = {n.args[0].id for n in calls if getattr(n.func, "id", "") == "len" and isinstance(n.args[0], gast.Name)}
    return {name for name in names if isinstance(r.s.facts.get(name), (Listed, Mapped))}


def written_later(r: Any, stmt: Any, region: int) -> bool:
    """Whether a region is written after a statement, or in an iteration after it."""
    loops = r.around
    for other, place in r.order.items():
        if region in r.regions.written_in(other):
            common = [loop for loop in loops.get(stmt, ()) if loop in loops.get(other, ())]
            if place > r.order[stmt] or any(not is_local(r, loop, region) for loop in common):
                return True
    return False


def is_local(r: Reverse, loop: ir.Loop, region: Any) -> bool:
    """Whether memory is made anew in every iteration of a loop."""
    return all(n == loop.index or loop in r.around.get(r.makers.get(n), ()) for n in r.members[region])


def prune(block: ir.Block) -> None:
    block[:] = [stmt for stmt in block if not getattr(stmt, "dropped", False)]
    for stmt in block:
        for inner in ir.bodies(stmt):
            prune(inner)
