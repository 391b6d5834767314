"""A branch that only the reverse sweep reads becomes one with the branch that reverses it.

::

    if x > 0.5:                               if x > 0.5:
        sin_x = np.sin(x)                         sin_x = np.sin(x)
    if x > 0.5:                        ->         d_x = d_out * sin_x + d_out * x * np.cos(x)
        d_x = d_out * sin_x + ...             else:
    else:                                         d_x = d_out
        d_x = d_out

    t = y ** 2                                d_x = d_out * y ** 2
    d_x = d_out * t                    ->

Outside branches a value moves only to the one statement that reads it, of the same line of the user's, and only where
that keeps no other array alive. Nothing moves past a write to what it reads nor past an effect, and of two statements
that may raise the first stays the first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....core import thresholds
from ... import ir
from ...analysis.alias import Regions, reachable, roots_of
from ...analysis.effects import is_safe
from ...analysis.liveness import count_uses, readers_of
from ...domain.facts import Num
from ...ir.function import Function


def fuse_branches(s: Function, where: Regions, front: ir.Block, back: ir.Block) -> None:
    """Move statements from the end of the forward sweep into the reverse sweep, in place."""
    made = {n for stmt in front for n in ir.ir_targets(stmt)}
    Joining(s, where, count_uses([*front, *back]), made).block(front, back, Passed(), False)


@dataclass
class Passed:
    """The effects of the statements that another would move past."""

    acts: bool = False  # something that is seen outside
    fails: bool = False  # something that may raise
    written: set[int] = field(default_factory=set)  # roots of the memory that they write

    def add(self, other: Passed) -> None:
        self.acts |= other.acts
        self.fails |= other.fails
        self.written |= other.written

    def copy(self) -> Passed:
        return Passed(self.acts, self.fails, set(self.written))


class Joining:
    """Moves statements of a block of the forward sweep into the block that reverses it, the last one first."""

    def __init__(self, s: Function, where: Regions, uses: dict[str, int], made: set[str]) -> None:
        self.s, self.uses, self.made = s, uses, made
        self.read: dict[Any, dict[str, None]] = {}  # what is known of blocks into which nothing has been moved
        self.memory: dict[Any, frozenset[int]] = {}  # the roots of what statements of the reverse sweep write
        self.done: dict[Any, Passed] = {}  # what `does` has told
        self.seen_outside = any(where.is_written(e.name) for e in s.externals.values())

    def block(self, front: ir.Block, back: ir.Block, passed: Passed, branch: bool) -> None:
        """Move what only `back` reads; `passed` runs between the two, `branch` says that they are of one branch."""
        target = Target(self.s, back, self.read, self.memory)
        partners = {x.primal: x for x in back if isinstance(x, ir.If) and x.primal is not None}
        for stmt in list(reversed(front)):
            partner = partners.get(stmt)
            if isinstance(stmt, ir.Let) and self.may_move(stmt, passed):
                self.move(stmt, front, target, branch)
            elif partner is not None:
                self.branch(stmt, front, partner, target.before(partner, passed))
            passed.add(self.does(stmt))

    def branch(self, stmt: ir.If, front: ir.Block, partner: ir.If, passed: Passed) -> None:
        """The same for the sides of a branch, which goes if they are left empty."""
        self.block(stmt.then, partner.then, passed.copy(), True)
        self.block(stmt.orelse, partner.orelse, passed.copy(), True)
        if not (stmt.then or stmt.orelse or stmt.merges):
            front.remove(stmt)
            for name in ir.reads(stmt):
                self.uses[name] -= 1

    def does(self, stmt: Any) -> Passed:
        """The effects of a statement and the blocks inside it, from which nothing more is moved."""
        if stmt not in self.done:
            found = Passed(self.acts(stmt), not is_safe(self.s, stmt), set(written(self.s, stmt)))
            for body in ir.bodies(stmt):
                for inner in body:
                    found.add(self.does(inner))
            self.done[stmt] = found
        return self.done[stmt]

    def acts(self, stmt: Any) -> bool:
        if isinstance(stmt, ir.Let):
            return stmt.effect
        writes_outside = isinstance(stmt, ir.Store) and self.seen_outside
        return writes_outside or isinstance(stmt, (ir.Raise, ir.Try, ir.With, ir.Effect))

    def may_move(self, stmt: ir.Let, passed: Passed) -> bool:
        """True if a statement may run after others as well."""
        if stmt.effect or stmt.in_place or stmt.saves or stmt.state_reads or passed.acts:
            return False
        return not (memory_of(self.s, stmt) & passed.written) and (not passed.fails or is_safe(self.s, stmt))

    def move(self, stmt: ir.Let, front: ir.Block, target: Target, branch: bool) -> None:
        """Put a statement before the first one that reads it, if there it is as good."""
        inside = Counter(
            n for n in stmt.targets for x in target.readers.get(n, ()) for m in ir.reads_inside(x) if m == n
        )
        if any(inside[n] != self.uses.get(n, 0) for n in stmt.targets):
            return
        reader = target.first_reader(stmt)
        if reader is None and branch and target.block:
            reader = target.block[0]  # it is there because it may raise
        if reader is None or not branch and not self.is_nested(stmt, reader, target):
            return
        if not memory_of(self.s, stmt) & target.before(reader, Passed()).written:
            front.remove(stmt)
            target.insert(stmt, reader)

    def is_nested(self, stmt: ir.Let, reader: Any, target: Target) -> bool:
        """True if a value becomes part of the one expression that reads it."""
        if len(stmt.targets) != 1 or stmt.target in self.s.named or self.uses[stmt.target] != 1:
            return False
        if stmt.target not in ir.reads(reader) or not (isinstance(reader, ir.If) or ir.same_line(stmt, reader)):
            return False
        if is_sum(stmt) and any(self.is_passed_on(n) and is_array(self.s, n) for n in ir.reads(stmt)):
            return False  # which is smaller than what it adds up
        return all(target.readers.get(n) or self.is_there(n) for n in ir.reads(stmt))

    def is_there(self, name: str) -> bool:
        """True if a variable holds no array that would be freed, or one that moves, too."""
        return self.is_passed_on(name) or name not in self.made or not is_array(self.s, name)

    def is_passed_on(self, name: str) -> bool:
        """True if a variable is a temporary that one statement reads."""
        return name not in self.s.named and self.uses[name] == 1


class Target:
    """A block of the reverse sweep that statements are moved into."""

    def __init__(
        self, s: Function, block: ir.Block, read: dict[Any, dict[str, None]], known: dict[Any, frozenset[int]]
    ) -> None:
        self.s, self.block = s, block
        self.readers = readers_of(block, read)
        memory = {stmt: written_inside(s, stmt, known) for stmt in block}  # what moves here writes nothing
        self.writers = {stmt: roots for stmt, roots in memory.items() if roots}
        self.written = frozenset().union(*self.writers.values())

    def before(self, stmt: Any, passed: Passed) -> Passed:
        """The effects that are passed on the way to a statement."""
        ahead = self.written
        if len(self.writers) < thresholds.STATEMENTS_ORDERED:
            place = self.block.index(stmt)
            ahead = frozenset().union(*(roots for x, roots in self.writers.items() if self.block.index(x) < place))
        return Passed(passed.acts, passed.fails, passed.written | ahead)

    def first_reader(self, stmt: ir.Let) -> Any:
        found = [x for n in stmt.targets for x in self.readers.get(n, ())]
        return min(found, key=self.block.index) if found else None

    def insert(self, stmt: ir.Let, reader: Any) -> None:
        self.block.insert(self.block.index(reader), stmt)
        for name in dict.fromkeys(ir.reads(stmt)):
            self.readers.setdefault(name, []).append(stmt)


def memory_of(s: Function, stmt: Any) -> set[int]:
    """The roots of what a statement reads."""
    return {root for n in ir.reads(stmt) for root in reachable(s, s.facts[n])}


def written(s: Function, stmt: Any) -> set[int]:
    """The roots of the memory that a statement itself writes."""
    if isinstance(stmt, ir.Store):
        return set(roots_of(s.facts[stmt.base]))
    if isinstance(stmt, ir.Effect):
        return memory_of(s, stmt)
    if not isinstance(stmt, ir.Let) or not stmt.in_place:
        return set()
    return {root for n in [stmt.target, *ir.names_in(stmt.expr.left)] for root in roots_of(s.facts[n])}


def written_inside(s: Function, stmt: Any, known: dict[Any, frozenset[int]]) -> frozenset[int]:
    """The roots of the memory that a statement and the blocks inside it write; `known` are those found."""
    if stmt not in known:
        inside = (written_inside(s, x, known) for body in ir.bodies(stmt) for x in body)
        known[stmt] = frozenset(written(s, stmt)).union(*inside)
    return known[stmt]


def is_array(s: Function, name: str) -> bool:
    facts = s.facts[name]
    return not isinstance(facts, Num) or bool(facts.ndim) or facts.dims is None


def is_sum(stmt: ir.Let) -> bool:
    """True if a statement adds up an array: to move it would keep that."""
    return stmt.op is not None and stmt.op.fn in (np.sum, np.mean)
