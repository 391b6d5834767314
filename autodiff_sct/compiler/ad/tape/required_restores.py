"""Restores of overwritten memory: those that the reverse sweep requires, and those that are dead.

Required restores: overwritten memory that the reverse sweep reads as it was before.

A restore stays if a statement reversed later than the write reads the memory's content: one before it in the program,
or one in a common loop.  Reading a shape, or making zeros of the same shape, reads no content, and what a loop writes
once stays where all that is read of the array are parts that no write has yet to come to (see `item_places`)::

    for i in range(n):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]      # x[:i] is as it was read: nothing is saved

Dead restores: an overwritten value is read where it was saved, and not put back, if nothing else reads it.

::

    y[...] = old_y                        d_x += d_y * (1 - old_y * old_y)
    d_x += d_y * (1 - y * y)      ->
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import gast

from ....errors import AliasError
from ... import ir
from ...analysis.alias import roots_of, written_by
from ...analysis.effects import written_names
from ...analysis.remarks import note, places
from ...domain.facts import Listed, Mapped, Num
from ...ir.patterns import is_ellipsis
from ...ir.traversal import read_instead
from ..reverse.container_aliasing import regions_held
from ..reverse.transform import Reverse
from .subscript_dependence import Places

if TYPE_CHECKING:
    from ..reverse.transform import Reverse

KINDS = {"shape", "ndim", "size", "dtype"}
SHAPE_ONLY = {"zeros_like", "full_like", "ones_like", "len", "shape", "ndim"}
SECOND_IS_SHAPE = {"unbroadcast", "spread"}


def contents(expr: Any) -> Iterator[tuple[str, Any]]:
    """The variables whose content an expression reads, each with the subscript of what it reads, or None."""
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Name):
            yield node.id, None
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            yield node.value.id, node.slice
            pending.append(node.slice)
        elif isinstance(node, list):
            pending += node
        elif not (isinstance(node, gast.Attribute) and node.attr in KINDS and isinstance(node.value, gast.Name)):
            pending += content_parts(node)


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
    found = readings(r, reverse, undo, r.regions.written)
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


class Reading(NamedTuple):
    """A read of the reverse sweep by the name of a variable."""

    place: int  # of the statement that is reversed there
    stmt: Any  # this statement, if there is one
    part: Any  # the subscript of what is read, or None for all of it
    after: bool  # as the statement has left it, not as it found it


@dataclass
class Readings:
    """The reads of a variable's memory in the reverse sweep."""

    earliest: int = 10**9  # the first place of which the reverse reads it
    looped: set[Any] = field(default_factory=set)  # the loops around such places
    lines: list[Any] = field(default_factory=list)  # the statements that read it
    each: list[Reading] = field(default_factory=list)


ByRegion = dict[int | None, dict[str, Readings]]  # by region and variable; "" for what a list holds


def readings(r: Reverse, reverse: ir.Block, undo: dict[Any, Any], among: set[int]) -> ByRegion:
    """The reads of some regions in the reverse sweep, but for the statements that `undo` others."""
    by_place = {place: stmt for stmt, place in r.order.items()}
    found: ByRegion = defaultdict(lambda: defaultdict(Readings))
    kept = set(undo.values())  # the writes that are not undone yet
    for stmt in ir.walk(reverse):
        if stmt in undo:
            kept.discard(undo[stmt])
        else:
            place = r.positions.get(stmt, 10**9)
            reader = by_place.get(place)
            for region, name, part in parts_read(r, stmt, among):
                readers = found[region][name]
                readers.earliest = min(place, readers.earliest)
                readers.looped.update((reader, *r.around.get(reader, ())))
                readers.lines.append(stmt)
                readers.each.append(Reading(place, reader, part, reader in kept))
    return found


def is_needed(r: Reverse, stmt: Any, region: int | None, found: ByRegion) -> bool:
    """True if the reverse sweep reads what was in memory before a statement."""
    return region in found and any(
        (
            readers.earliest <= r.order[stmt]
            or any(loop in readers.looped and not is_local(r, loop, region) for loop in r.around[stmt])
        )
        and not r.generations.is_apart(name, stmt)
        and not is_missed(r, stmt, name, readers)
        for name, readers in found[region].items()
    )


def is_missed(r: Reverse, write: Any, name: str, readers: Readings) -> bool:
    """True if a statement never writes into what is read of a variable after that has been read for the first time."""
    facts = r.s.facts.get(getattr(write, "base", None) or "")
    if not isinstance(write, ir.Store) or not isinstance(facts, Num) or r.places is None or write not in r.places.order:
        return False
    written = list(parts_of(r, write.base, write.index))
    return all(is_unmet(r, name, reading, write, written) for reading in readers.each)


def is_unmet(r: Reverse, name: str, read: Reading, write: Any, written: list[tuple[str, Any]]) -> bool:
    """True if a write does not come to what is read of a variable after the statement that is reversed there."""
    assert r.places is not None
    if read.stmt not in r.places.order:
        return read.stmt is None and read.place > r.order[write]
    return r.places.is_over(write, read.stmt, read.after) or any(
        base == other
        and is_outside(r.places, base, read.stmt, write)
        and r.places.is_past(read.stmt, index, write, place, read.after)
        for base, index in parts_of(r, name, read.part)
        for other, place in written
    )


def parts_of(r: Reverse, name: str, index: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of which something is a part, each with a subscript that it lies in."""
    while True:
        if index is not None:
            yield name, index
        maker = r.makers.get(name)
        if not isinstance(maker, ir.Let) or maker.op is None or len(maker.op.shares) != 1:
            return
        whole = maker.expr
        name = maker.op.shares[0]
        of_name = isinstance(whole, gast.Subscript) and isinstance(whole.value, gast.Name) and whole.value.id == name
        index = whole.slice if of_name else None


def is_outside(places: Places, name: str, *stmts: Any) -> bool:
    """True if a variable is one array in all the steps of the loops that two statements are both in."""
    common = places.common(*stmts)
    return not common or name not in ir.defined_in(common[0])


def base_of(stmt: Any) -> str:
    base = written_by(stmt)
    assert base is not None
    return base


def memory_read(r: Reverse, stmt: Any, among: set[int]) -> set[tuple[int, str]]:
    """The regions among some whose content a statement reads, each with the variable by which it does."""
    return {(region, name) for region, name, _ in parts_read(r, stmt, among)}


def parts_read(r: Reverse, stmt: Any, among: set[int]) -> list[tuple[int, str, Any]]:
    """The same with the subscript of what is read, or None where that is all of the variable's.

    What runs steps again reads all that a list holds.
    """
    again = getattr(stmt, "state_reads", ())
    held = [(region, "", None) for n in again for region in regions_held(r, n) & among]
    if not held and not any(n in r.first and r.regions.of(n) in among for n in (*ir.reads(stmt), *again)):
        return []
    exprs: list[Any] = []
    if isinstance(stmt, (ir.Let, ir.Effect)):
        exprs = [stmt.expr]
    elif isinstance(stmt, ir.Store):
        exprs = [stmt.index, stmt.value]
    elif isinstance(stmt, ir.If):
        exprs = [stmt.test]
    elif isinstance(stmt, ir.Loop):
        exprs = [*stmt.bounds]
    elif isinstance(stmt, ir.Return):
        exprs = [stmt.value]
    read = [(n, part) for n, part in contents(exprs) if ir.is_variable(n) and n in r.first]
    read += [(n, None) for n in lengths_read(r, stmt)]
    found = [(r.regions.of(n), n, part) for n, part in read]
    found += [(r.regions.of(n), "", None) for n in again if n in r.first]
    return held + [(region, n, part) for region, n, part in found if region is not None and region in among]


def lengths_read(r: Reverse, stmt: Any) -> set[str]:
    """The lists whose length a statement reads, which is not the same at all times as an array's is."""
    exprs = [*stmt.bounds] if isinstance(stmt, ir.Loop) else [getattr(stmt, "expr", None), getattr(stmt, "value", None)]
    calls = [n for expr in exprs for n in ir.nodes_in(expr) if isinstance(n, gast.Call)]
    names = {n.args[0].id for n in calls if getattr(n.func, "id", "") == "len" and isinstance(n.args[0], gast.Name)}
    return {name for name in names if isinstance(r.s.facts.get(name), (Listed, Mapped))}


def written_later(r: Any, stmt: Any, region: int) -> bool:
    """True if a region is written after a statement, or in an iteration after it."""
    loops = r.around
    for other, place in r.order.items():
        if region in r.regions.written_in(other):
            common = [loop for loop in loops.get(stmt, ()) if loop in loops.get(other, ())]
            if place > r.order[stmt] or any(not is_local(r, loop, region) for loop in common):
                return True
    return False


def is_local(r: Reverse, loop: ir.Loop, region: Any) -> bool:
    """True if memory is made anew in every iteration of a loop, and no container takes it to the next one."""
    return all(n == loop.index or loop in r.around.get(r.makers.get(n), ()) for n in r.members[region])


def prune(block: ir.Block) -> None:
    block[:] = [stmt for stmt in block if not getattr(stmt, "dropped", False)]
    for stmt in block:
        for inner in ir.bodies(stmt):
            prune(inner)


def eliminate_dead_restores(r: Reverse, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the reverse sweep, in place."""
    undone = {node: stmt for stmt, node in r.overwritten.restores if is_whole(stmt, node)}
    if undone:
        Copies(r, undone, set(ir.reads(final)), reverse).block(reverse, [])


def is_whole(stmt: Any, node: Any) -> bool:
    """True if a statement puts all of an array back."""
    if not isinstance(stmt, ir.Store) or not isinstance(node, ir.Store) or node.aug is not None:
        return False
    return is_ellipsis(node.index) and isinstance(node.value, gast.Name)


class Copies:
    """Restores of whole arrays, and who reads what they put back."""

    def __init__(self, r: Reverse, undone: dict[Any, Any], returned: set[str], reverse: ir.Block) -> None:
        self.r, self.undone, self.returned, self.reverse = r, undone, returned, reverse

    def block(self, block: ir.Block, outside: ir.Block) -> None:
        """Drop restores of a block; `outside` are the statements that follow it, up to those of a next step."""
        for stmt in reversed(list(block)):
            place = block.index(stmt)
            after = block[place + 1 :]
            if stmt in self.undone and self.is_read_alone(stmt, after, outside):
                self.drop(stmt, block, after)
            elif not getattr(stmt, "again", False):
                for body in ir.bodies(stmt):
                    self.block(body, [] if isinstance(stmt, ir.Loop) else [*after, *outside])

    def is_read_alone(self, undo: ir.Store, after: ir.Block, outside: ir.Block) -> bool:
        """True if what a statement puts back is read by one name only, in its own block."""
        r, region = self.r, self.r.regions.of(undo.base)
        assert region is not None
        if region in r.kept_regions or not (
            self.is_remade(undo, region) or self.is_read_only_here(undo, after, region)
        ):
            return False
        if any(self.is_of(region, n) for n in self.returned):
            return False
        made: set[str] = set()
        for stmt in self.reached(undo, after):
            for inner in ir.inside(stmt):
                if not self.is_read_by(inner, undo.base, region, made):
                    return False
                made.update(ir.ir_targets(inner))
        ends = self.next_restore(undo, after) is not None
        return ends or not any(self.touches(inner, region) for stmt in outside for inner in ir.inside(stmt))

    def is_remade(self, undo: ir.Store, region: int) -> bool:
        """True if each step of the loops around has memory of its own."""
        return all(is_local(self.r, loop, region) for loop in self.r.around[self.undone[undo]])

    def is_read_only_here(self, undo: ir.Store, after: ir.Block, region: int) -> bool:
        """True if no other statement of the reverse sweep reads what a region holds, or hands it on."""
        here = {inner for stmt in self.reached(undo, after) for inner in ir.inside(stmt)}
        others = [stmt for stmt in ir.walk(self.reverse) if stmt not in here]
        if any(memory_read(self.r, stmt, {region}) for stmt in others):
            return False
        handed_on = {n for stmt in others for n in {*ir.uses(stmt)} - {*ir.reads(stmt)}}
        return not any(self.is_of(region, n) for n in handed_on)

    def reached(self, undo: ir.Store, after: ir.Block) -> ir.Block:
        """The statements of a block that run before the same array gets other contents."""
        end = self.next_restore(undo, after)
        return after if end is None else after[: after.index(end)]

    def next_restore(self, undo: ir.Store, after: ir.Block) -> Any:
        return next((x for x in after if x in self.undone and x.base == undo.base), None)

    def is_of(self, region: int, name: str) -> bool:
        facts = self.r.s.facts.get(name)
        return facts is not None and any(self.r.regions.find(root) == region for root in roots_of(facts))

    def is_read_by(self, stmt: Any, base: str, region: int, made: set[str]) -> bool:
        """True if a statement writes nothing of a region, and reads it by a variable or what was `made` of that."""
        r = self.r
        if any(self.is_of(region, n) for n in written_names(stmt)):
            return False
        if any(name != base for _, name in memory_read(r, stmt, {region})):
            return False
        own = set(ir.reads(stmt))
        if any(self.is_of(region, n) for n in ir.uses(stmt) if n not in own):
            return False  # handed on
        return all(n in r.first or n in made or not self.is_of(region, n) for n in own)

    def touches(self, stmt: Any, region: int) -> bool:
        return any(self.is_of(region, n) for n in (*ir.uses(stmt), *getattr(stmt, "state_reads", ())))

    def drop(self, undo: ir.Store, block: ir.Block, after: ir.Block) -> None:
        names = {undo.base: undo.value.id}
        for stmt in self.reached(undo, after):
            for inner in ir.inside(stmt):
                if undo.base in ir.reads(inner):
                    note(self.r.s, inner, "reads what was overwritten where it was saved")
                read_instead(inner, names)
        block.remove(undo)
