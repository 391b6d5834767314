"""Liveness: uses counted, and statements dropped that nothing reads."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .. import ir
from ..ir.builder import Specialiser
from .alias import reachable, roots_of


class Liveness:
    """Marks, from effects and results back, the variables that somebody reads."""

    def __init__(
        self, s: Specialiser, program: ir.Block, strict: set[Any], shadows: set[str], rules: bool = False
    ) -> None:
        self.rules = rules
        self.live: set[str] = set()
        self.marked: set[Any] = set()  # statements that stay, what they read being live
        self.s = s
        self.live_roots: set[int] = set()
        self.strict, self.shadows = strict, shadows
        self.program = program
        rest = inside_out(program)
        known: set[str] = set()
        changed = True
        while changed:
            rest = [stmt for stmt in rest if not self.is_settled(stmt)]
            new = self.live - known
            self.live_roots.update(*[reachable(s, s.facts[name]) for name in new])
            known |= new
            changed = bool(new)

    def is_settled(self, stmt: Any) -> bool:
        """Mark what a statement needs; whether there is no more to come."""
        if type(stmt) is ir.Let:
            if kept := self.keeps(stmt):
                self.marked.add(stmt)
                self.live.update(ir.variables_in(stmt.expr))
                if self.rules and stmt.op is not None:
                    self.live.update(stmt.op.beside)
            return kept
        if stmt not in self.marked and self.keeps(stmt):
            self.marked.add(stmt)
            self.live.update(ir.reads(stmt))
        if type(stmt) in ir.SIMPLE:
            return stmt in self.marked
        if isinstance(stmt, ir.If):
            for m in stmt.merges:
                if m.target in self.live:
                    self.live.update(n for n in (m.then, m.orelse) if n)
        elif isinstance(stmt, ir.Try):
            for target, names in stmt.merges:
                if target in self.live:
                    self.live.update(n for n in names if n)
        elif isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                if c.phi in self.live or c.out in self.live:
                    self.live.update(n for n in (c.init, c.next) if n)
        return False

    def keeps(self, stmt: Any) -> bool:
        """True if a statement has to stay."""
        if type(stmt) is ir.Let:
            return not self.live.isdisjoint(stmt.targets) or stmt.effect or (stmt.may_raise and stmt in self.strict)
        if isinstance(stmt, ir.Store):
            if stmt in self.strict or stmt.base not in self.shadows or stmt.base in self.live:
                return True
            return bool(roots_of(self.s.facts[stmt.base]) & self.live_roots)
        if isinstance(stmt, ir.If):
            return self.holds_marked(stmt) or any(m.target in self.live for m in stmt.merges)
        if isinstance(stmt, ir.Loop):
            return (
                self.holds_marked(stmt)
                or stmt.trips in self.live
                or any(c.out in self.live for c in stmt.carries)
                or stmt.kind == "while"
            )
        if isinstance(stmt, ir.With) and stmt not in self.strict:
            return self.holds_marked(stmt)
        return True

    def holds_marked(self, stmt: Any) -> bool:
        """True if something directly inside a statement stays: that is marked before the statement is looked at."""
        return any(not self.marked.isdisjoint(block) for block in ir.bodies(stmt))

    def prune(self, block: ir.Block) -> ir.Block:
        """Drop the dead statements of a block, and inside its statements, in place."""
        kept = [stmt for stmt in block if stmt in self.marked or (type(stmt) is not ir.Let and self.keeps(stmt))]
        for stmt in [stmt for stmt in kept if type(stmt) not in ir.SIMPLE]:
            if isinstance(stmt, ir.If):
                stmt.then[:], stmt.orelse[:] = self.prune(stmt.then), self.prune(stmt.orelse)
                stmt.merges = [m for m in stmt.merges if m.target in self.live]
            elif isinstance(stmt, ir.Loop):
                stmt.head[:], stmt.body[:] = self.prune(stmt.head), self.prune(stmt.body)
                stmt.carries = [c for c in stmt.carries if c.phi in self.live or c.out in self.live]
                if stmt.trips is not None and stmt.trips not in self.live:
                    stmt.trips = None
            elif isinstance(stmt, ir.With):
                stmt.body[:] = self.prune(stmt.body)
            elif isinstance(stmt, ir.Try):
                for inner in ir.bodies(stmt):
                    inner[:] = self.prune(inner)
                stmt.merges = [m for m in stmt.merges if m[0] in self.live]
        return kept


def inside_out(block: ir.Block) -> ir.Block:
    """The statements of a block from the last to the first, control statements before and after those inside them."""
    found = []
    for stmt in reversed(block):
        if type(stmt) not in ir.SIMPLE:
            found.append(stmt)
            for inner in reversed(ir.bodies(stmt)):
                found += inside_out(inner)
        found.append(stmt)
    return found


def sweep_dead(s: Specialiser, program: ir.Block, strict: set[Any], shadows: set[str], rules: bool = False) -> ir.Block:
    """The program without what nobody reads; statements in `strict` may raise and then stay.

    With `rules`, what the rule of a statement reads beside its expression stays, too.
    """
    return Liveness(s, program, strict, shadows, rules).prune(program)


def count_uses(program: ir.Block) -> dict[str, int]:
    """The number of reads of each variable."""
    return Counter(ir.uses_in(program))


def names_read(stmt: Any, known: dict[Any, dict[str, None]]) -> dict[str, None]:
    """The variables that a statement and the blocks inside it read or pass on, in order; `known` are those found."""
    found = known.get(stmt)
    if found is None:
        found = dict.fromkeys(ir.reads(stmt) if type(stmt) in ir.SIMPLE else ir.uses(stmt))
        for body in ir.bodies(stmt):
            for inner in body:
                found.update(names_read(inner, known))
        known[stmt] = found
    return found


def readers_of(block: ir.Block, known: dict[Any, dict[str, None]] | None = None) -> dict[str, list[Any]]:
    """The readers of each variable among the statements of a block, in order; `known` as in `names_read`."""
    readers: dict[str, list[Any]] = {}
    known = {} if known is None else known
    for stmt in block:
        for name in names_read(stmt, known):
            readers.setdefault(name, []).append(stmt)
    return readers
