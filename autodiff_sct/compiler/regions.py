"""Memory: which variables may share it, and which memory the program writes.

Places where memory is made (roots) that one variable may stand for are one *region*; two variables of one region may be
aliases.  A region is written if a statement changes memory through any variable of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import ir
from .facts import Facts, Listed, Mapped, Num, Pair

if TYPE_CHECKING:
    from .specialise.state import Specialiser


@dataclass
class Regions:
    parent: dict[int, int] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)  # representatives
    facts: dict[str, Facts] = field(default_factory=dict)
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

    def is_written(self, name: str) -> bool:
        region = self.of(name)
        return region is not None and region in self.written


def roots_of(facts: Facts) -> frozenset[int]:
    """The places where the memory of a value may have been made."""
    return facts.roots


def reachable(s: Specialiser, facts: Any) -> frozenset[int] | set[int]:
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
            pending.append(s.elements_of(item))
    return found


def regions(block: ir.Block, facts: dict[str, Facts], elements: dict[int, Facts]) -> Regions:
    """The regions of a program."""
    table = Regions(facts=facts)
    for found in [*facts.values(), *elements.values()]:
        stack: list[Any] = [found]
        while stack:
            item = stack.pop()
            if isinstance(item, Pair):
                stack += item.items
            elif len(item.roots) > 1:
                table.union(item.roots)
    for stmt in ir.walk(block):
        base = written_by(stmt)
        for name in [*written_arguments(stmt), *([base] if base is not None else [])]:
            table.stored |= facts[name].roots
    table.written = {table.find(root) for root in table.stored}
    return table


def enclosing_loops(block: ir.Block, around: tuple[ir.Loop, ...] = ()) -> dict[Any, tuple[ir.Loop, ...]]:
    """For each statement, the loops that it is in."""
    result: dict[Any, tuple[ir.Loop, ...]] = {}
    for stmt in block:
        result[stmt] = around
        inner = (*around, stmt) if isinstance(stmt, ir.Loop) else around
        for body in ir.bodies(stmt):
            result |= enclosing_loops(body, inner)
    return result


def written_arguments(stmt: Any) -> list[str]:
    """The variables whose memory a call of a recursive function writes."""
    if not isinstance(stmt, ir.Let) or stmt.op is None:
        return []
    written = getattr(stmt.op.fn, "written", None)
    if not isinstance(written, frozenset):
        return []
    return [v.name for p, v in stmt.op.arguments.items() if p in written and hasattr(v, "name")]


def written_by(stmt: Any) -> str | None:
    """The variable through which a statement writes memory."""
    if isinstance(stmt, ir.Store):
        return stmt.base
    if isinstance(stmt, ir.Effect) and stmt.kind and stmt.kind != "publish":
        return stmt.operands[0].name
    if isinstance(stmt, ir.Let) and stmt.op is not None and stmt.op.fn is list.pop:
        return stmt.op.arguments["x"].name
    return None
