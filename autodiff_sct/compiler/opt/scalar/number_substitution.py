"""A number that the forward sweep computes for one line of the reverse sweep is computed there.

::

    total = np.sum(y ** 2)                  ...
    ...                               ->    d_a = d_out * np.sum(y ** 2)
    d_a = d_out * total

What it is computed from is there in any case: nobody writes to it, the reverse sweep reads it later, and no other
value takes its name.  What may fail moves only to the reverse of its own line, and past nothing that may fail, too:
exceptions keep their order.
"""

from __future__ import annotations

from typing import Any

from ....core import thresholds
from ... import ir
from ...analysis.alias import reachable, roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...analysis.may_raise import is_safe
from ...analysis.remarks import hand_on
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import size


def substitute_numbers(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Move statements from the end of the forward sweep into the reverse sweep, in place."""
    uses = count_uses([*front, *back])
    table = Movable(s, front, back, uses)
    for let in [stmt for stmt in reversed(front) if table.is_single(stmt)]:
        user, facts = table.readers.get(let.target), s.facts[let.target]
        if user is not None and let in front and isinstance(facts, Num) and facts.dims == ():
            table.move(let, user)


class Movable:
    """The statements that may move, and where to."""

    def __init__(self, s: Specialiser, front: ir.Block, back: ir.Block, uses: dict[str, int]) -> None:
        self.s, self.front, self.back, self.uses = s, front, back, uses
        self.makers = {stmt.target: stmt for stmt in front if isinstance(stmt, ir.Let) and len(stmt.targets) == 1}
        self.readers = {n: stmt for stmt in back if isinstance(stmt, (ir.Let, ir.Store)) for n in ir.reads(stmt)}
        self.failing: set[Any] = set()  # what has been moved and may fail

    def is_single(self, stmt: Any) -> bool:
        """True if a statement only computes a number or an array, for one reader."""
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or self.uses.get(stmt.target) != 1:
            return False
        if stmt.effect or stmt.in_place or stmt.saves or stmt.state_reads or stmt.target in self.s.named:
            return False
        facts = self.s.facts[stmt.target]
        return isinstance(facts, Num) and facts.dims is not None and (facts.kind == "array" or not facts.dims)

    def move(self, let: ir.Let, user: Any) -> None:
        """Put a statement before its reader, with what is computed for it alone."""
        unit = [let]
        for stmt in unit:
            makers = [self.makers[n] for n in ir.reads(stmt) if n in self.makers]
            unit += [maker for maker in makers if maker in self.front and self.is_single(maker)]
        whole = sum(size(e) for e in ir.expressions(user)) + sum(size(stmt.expr) for stmt in unit)
        if whole > thresholds.OPERATIONS_NESTED or not all(self.may_move(stmt, unit, user) for stmt in unit):
            return
        if not self.is_kept(unit, user):
            return
        if not all(is_safe(self.s, stmt) for stmt in unit):
            self.failing |= {user, *unit}
        self.front[:] = [stmt for stmt in self.front if stmt not in unit]
        place = self.back.index(user)
        self.back[place:place] = unit[::-1]
        for stmt in unit:
            hand_on(self.s, stmt, user)

    def may_move(self, stmt: ir.Let, unit: list[Any], user: Any) -> bool:
        """True if a statement gives the same before a statement of the reverse sweep."""
        ahead = [x for x in self.front[self.front.index(stmt) + 1 :] if x not in unit]
        passed = [*ahead, *self.back[: self.back.index(user)]]
        if not is_safe(self.s, stmt):
            late = any(x in self.failing for x in passed) or not all(is_safe(self.s, x) for x in ahead)
            if late or not ir.same_line(stmt, user):
                return False
        memory = {root for n in ir.reads(stmt) for root in reachable(self.s, self.s.facts[n])}
        if any(touches(self.s, x, memory, True) or self.takes_from(x, memory) for x in passed):
            return False
        named = {self.s.hints[n] for n in ir.reads(stmt) if n in self.s.hints}
        return not any(self.s.hints[n] in named for x in passed for n in self.targets(x))

    def takes_from(self, stmt: Any, memory: set[int]) -> bool:
        """True if a statement may change memory by a call whose result it names, such as ``items.pop()``."""
        lets = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and x.effect]
        return any(memory & roots_of(self.s.facts[n]) for x in lets for n in (*ir.reads(x), *x.state_reads))

    def targets(self, stmt: Any) -> list[str]:
        """The variables that a statement and the blocks inside it define."""
        return [n for n in (*ir.ir_targets(stmt), *ir.defined_in(stmt)) if n in self.s.hints]

    def is_kept(self, unit: list[Any], user: Any) -> bool:
        """True if the reverse sweep keeps the arrays that some statements read, also without them."""
        made = {stmt.target for stmt in unit}
        arrays = {n for stmt in unit for n in ir.reads(stmt) if n in self.makers and roots_of(self.s.facts[n])} - made
        if not arrays:
            return True
        later = {n for stmt in self.back[self.back.index(user) :] for n in ir.reads_inside(stmt)}
        return arrays <= later
