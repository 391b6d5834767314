"""Memory: which variables may share it, and which memory the program writes.

Places where memory is made (roots) that one variable may stand for are one *region*; two variables of one region may be
aliases.  A region is written if a statement changes memory through any variable of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import ir
from ..domain.facts import Facts, Listed, Mapped, Num, Pair

if TYPE_CHECKING:
    from ..ir.builder import Specialiser


@dataclass
class Regions:
    parent: dict[int, int] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)  # representatives
    facts: dict[str, Facts] = field(default_factory=dict)
    elements: dict[int, Facts] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)  # the places themselves whose memory a statement may change

    def find(self, root: int) -> int:
        while (up := self.parent.get(root, root)) != root:
            root = up
        return root

    def union(self, roots: frozenset[int]) -> None:
        first, *rest = sorted(roots)
        for other in rest:
            a, b = self.find(first), self.find(other)
            if a != b:
                self.parent[max(a, b)] = min(a, b)

    def of(self, name: str) -> int | None:
        """The region of a variable; None for what has no memory of its own, such as a float."""
        roots = self.facts[name].roots
        return self.find(min(roots)) if roots else None

    def members(self, names: Iterable[str]) -> dict[int, list[str]]:
        """The variables of each region, and the containers that lead to it."""
        found: dict[int, list[str]] = defaultdict(list)
        for name in names:
            for region in {self.find(root) for root in reachable(self, self.facts[name])}:
                found[region].append(name)
        return found

    def is_written(self, name: str) -> bool:
        region = self.of(name)
        return region is not None and region in self.written

    def is_written_inside(self, name: str) -> bool:
        """True if memory of what a list or a dict holds is written."""
        facts = self.facts[name]
        return any(self.find(root) in self.written for root in reachable(self, facts) - facts.roots)

    def written_in(self, stmt: Any) -> set[int]:
        """The regions whose memory a statement may change, without those inside it."""
        return {self.find(root) for root in self.stored_in(stmt)}

    def stored_in(self, stmt: Any) -> set[int]:
        """The places whose memory a statement may change."""
        base = written_by(stmt)
        found = set() if base is None else set(self.facts[base].roots)
        for parameter, name in written_arguments(stmt).items():
            facts, function = self.facts[name], stmt.op.fn
            found |= facts.roots if parameter in function.written_itself else set()
            found |= reachable(self, facts) - facts.roots if parameter in function.written_inside else set()
        return found


def roots_of(facts: Facts) -> frozenset[int]:
    """The places where the memory of a value may have been made."""
    return facts.roots


def reachable(s: Specialiser | Regions, facts: Any) -> frozenset[int] | set[int]:
    """The places of all the memory that a value leads to."""
    if isinstance(facts, Num):
        return facts.roots
    found: set[int] = set()
    pending = [facts]
    while pending:
        item = pending.pop()
        if isinstance(item, Pair):
            pending += item.items
        new = set(getattr(item, "roots", ())) - found
        found |= new
        if new and isinstance(item, (Listed, Mapped)):
            pending += [s.elements[root] for root in new if root in s.elements]
    return found


def regions(
    block: ir.Block, facts: dict[str, Facts], elements: dict[int, Facts], alive: set[str] | None = None
) -> Regions:
    """The regions of a program; only variables that are `alive` make several places one, or all of them."""
    table = Regions(facts=facts, elements=elements)
    joining = facts.values() if alive is None else [facts[name] for name in alive]
    for found in [*joining, *elements.values()]:
        stack: list[Any] = [found]
        while stack:
            item = stack.pop()
            if isinstance(item, Pair):
                stack += item.items
            elif len(item.roots) > 1:
                table.union(item.roots)
    for stmt in ir.walk(block):
        table.stored |= table.stored_in(stmt)
    table.written = {table.find(root) for root in table.stored}
    return table


def regions_of_program(s: Specialiser, block: ir.Block) -> Regions:
    """The regions of a whole program, in which a name that is never read makes no two arrays one."""
    alive = ir.defined(block).union(*(ir.defined(rec.block).union(rec.inputs) for rec in s.recursions.values()))
    return regions(block, s.facts, s.elements, alive)


def enclosing_loops(block: ir.Block, around: tuple[ir.Loop, ...] = ()) -> dict[Any, tuple[ir.Loop, ...]]:
    """The loops around each statement."""
    result: dict[Any, tuple[ir.Loop, ...]] = {}
    for stmt in block:
        result[stmt] = around
        inner = (*around, stmt) if isinstance(stmt, ir.Loop) else around
        for body in ir.bodies(stmt):
            result |= enclosing_loops(body, inner)
    return result


def written_arguments(stmt: Any) -> dict[str, str]:
    """The variables whose memory, or that of what they hold, a call of a recursive function writes, by parameter."""
    if not isinstance(stmt, ir.Let) or stmt.op is None:
        return {}
    written = getattr(stmt.op.fn, "written", None)
    if not isinstance(written, frozenset):
        return {}
    return {p: v.name for p, v in stmt.op.arguments.items() if p in written and hasattr(v, "name")}


def changed_through(stmt: Any) -> list[str]:
    """The variables through which a statement changes memory."""
    base = written_by(stmt)
    return [base] if base is not None else [*written_arguments(stmt).values()]


def written_by(stmt: Any) -> str | None:
    """The variable through which a statement writes memory."""
    if isinstance(stmt, ir.Store):
        return stmt.base
    if isinstance(stmt, ir.Effect) and stmt.kind and stmt.kind != "publish":
        return stmt.operands[0].name
    if isinstance(stmt, ir.Let) and stmt.op is not None and stmt.op.fn is list.pop:
        return stmt.op.arguments["x"].name
    return None


def every_root(s: Specialiser, facts: Facts | None, around: frozenset[int] = frozenset()) -> frozenset[int]:
    """The memory that a value and what is in it may be; `around` are the lists that it is in."""
    if isinstance(facts, Pair):
        return frozenset().union(*(every_root(s, f, around) for f in facts.items))
    if isinstance(facts, (Listed, Mapped)):
        if facts.roots and facts.roots <= around:
            raise s.refuse("too-large", "a list or a dict that holds itself", "keep what is in it apart")
        return facts.roots | every_root(s, s.elements_of(facts), around | facts.roots)
    return roots_of(facts) if facts is not None else frozenset()
