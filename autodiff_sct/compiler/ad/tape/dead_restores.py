"""Dead restores: an overwritten value is read where it was saved, and not put back, if nothing else reads it.

::

    y[...] = old_y                        d_x += d_y * (1 - old_y * old_y)
    d_x += d_y * (1 - y * y)      ->
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import written_names
from ...analysis.remarks import note
from ...ir.patterns import is_ellipsis
from ...ir.rewrite import read_instead
from .required_restores import is_local, memory_read

if TYPE_CHECKING:
    from ..reverse.transform import Reverse


def eliminate_dead_restores(r: Reverse, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the reverse sweep, in place."""
    undone = {node: stmt for stmt, node in r.overwritten.restores if is_whole(stmt, node)}
    if undone:
        Copies(r, undone, set(ir.reads(final))).block(reverse, [])


def is_whole(stmt: Any, node: Any) -> bool:
    """True if a statement puts all of an array back."""
    if not isinstance(stmt, ir.Store) or not isinstance(node, ir.Store) or node.aug is not None:
        return False
    return is_ellipsis(node.index) and isinstance(node.value, gast.Name)


class Copies:
    """Restores of whole arrays, and who reads what they put back."""

    def __init__(self, r: Reverse, undone: dict[Any, Any], returned: set[str]) -> None:
        self.r, self.undone, self.returned = r, undone, returned

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
        if region in r.kept_regions or not all(is_local(r, loop, region) for loop in r.around[self.undone[undo]]):
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
