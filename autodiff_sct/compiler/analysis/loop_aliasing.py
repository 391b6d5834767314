"""Aliasing in loops: variables that may refer to one piece of memory, and values that are changed later.

Facts tell where memory was made, but two iterations make it at one place; so the names are followed as well: a view, a
carried value, a sum that is written where its left side was, and what a run-time helper may give back belong together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ...runtime import broadcast
from .. import ir
from ..domain.facts import Num
from ..ir.builder import Specialiser
from ..ir.patterns import is_pop_call
from .alias import roots_of

GIVEN_BACK = (broadcast.unbroadcast, broadcast.spread)  # their first argument, if anything
COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant)


class Groups:
    """The variables of a loop in groups, and the places of its body at which memory is written."""

    def __init__(self, s: Specialiser, loop: ir.Loop) -> None:
        self.s = s
        self.parent: dict[str, str] = {}
        self.made: set[str] = set()
        for stmt in ir.inside(loop):
            self.join_names(stmt)
            if isinstance(stmt, ir.Let) and not is_pop_call(stmt.expr):
                self.made.update(stmt.targets)
        self.writes = [(k, name) for k, top in enumerate(loop.body) for name in self.written([top])]
        met = [*self.parent, *(name for _, name in self.writes)]
        self.outside = {self.find(n) for n in met if n not in self.made}
        self.before = {c.phi for c in loop.carries if c.phi != c.next}  # what was made before the iteration
        self.new = self.new_in_iteration(loop.body)

    def find(self, name: str) -> str:
        while (up := self.parent.setdefault(name, name)) != name:
            name = up
        return name

    def join(self, names: list[str]) -> None:
        held = [self.find(n) for n in names if self.has_memory(n)]
        for other in held[1:]:
            self.parent[self.find(other)] = self.find(held[0])

    def has_memory(self, name: str) -> bool:
        facts = self.s.facts[name]
        return not isinstance(facts, Num) or not (facts.python or facts.kind == "npscalar")

    def join_names(self, stmt: Any) -> None:
        """Join what a statement may make one."""
        if isinstance(stmt, ir.Let):
            self.join([*stmt.targets, *self.shared(stmt)])
        elif isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                self.join([n for n in (c.phi, c.init, c.next, c.out) if n])
        elif isinstance(stmt, ir.If):
            for m in stmt.merges:
                self.join([n for n in (m.target, m.then, m.orelse) if n])
        elif not isinstance(stmt, (ir.Store, ir.Effect)):
            self.join(
                [*ir.ir_targets(stmt), *ir.reads(stmt), *(n for _, ns in getattr(stmt, "merges", []) for n in ns if n)]
            )

    def shared(self, stmt: ir.Let) -> list[str]:
        """The variables whose memory the value of an assignment may be."""
        expr = stmt.expr
        if isinstance(expr, COMPUTED):
            return [expr.left.id] if stmt.in_place and isinstance(expr.left, gast.Name) else []
        if is_pop_call(expr) or is_copy(expr):
            return []
        if isinstance(expr, gast.Call) and self.s.globals.get(getattr(expr.func, "id", "")) in GIVEN_BACK:
            return [n for n in ir.names_in(expr.args[0]) if ir.is_variable(n)]
        names = [n for n in ir.reads(stmt) if ir.is_variable(n)]
        if is_numpy(expr):
            own = roots_of(self.s.facts[stmt.target])
            return [n for n in names if roots_of(self.s.facts[n]) & own]
        return names

    def written(self, block: ir.Block) -> Iterator[str]:
        """The variables whose memory a block writes."""
        for stmt in ir.walk(block):
            if isinstance(stmt, ir.Store):
                yield stmt.base
            elif isinstance(stmt, ir.Let) and stmt.in_place and isinstance(stmt.expr.left, gast.Name):
                yield stmt.expr.left.id
            elif isinstance(stmt, (ir.Let, ir.Effect)) and self.has_effect(stmt):
                yield from ir.reads(stmt)
                yield from stmt.state_reads

    def has_effect(self, stmt: Any) -> bool:
        if isinstance(stmt, ir.Effect):
            return stmt.kind != "save"
        called = stmt.expr.func if isinstance(stmt.expr, gast.Call) else None
        if isinstance(called, gast.Name) and called.id in self.s.globals:
            return getattr(self.s.globals[called.id], "__module__", "") != broadcast.__name__
        return (stmt.effect and not is_pop_call(stmt.expr)) or bool(stmt.state_reads)

    def new_in_iteration(self, body: ir.Block) -> set[str]:
        """The variables that hold memory which the iteration itself has made, whatever they are joined with."""
        new: set[str] = set()
        for stmt in body:
            if isinstance(stmt, ir.Let) and isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)):
                left = getattr(stmt.expr, "left", None) if stmt.in_place else None
                if isinstance(self.s.facts[stmt.target], Num) and (left is None or getattr(left, "id", "") in new):
                    new.add(stmt.target)
        return new

    def stays(self, name: str, place: int) -> bool:
        """True if nothing is written, at `place` of the body or later, to what a variable holds there.

        What an iteration finds is not written where all that is written is memory that an iteration has made itself.
        """
        new, before = self.find(name) not in self.outside, name in self.before
        writes = [(k, base) for k, base in self.writes if self.may_be_one(name, base)]
        return not any((k >= place or not new) and not (before and base in self.new) for k, base in writes)

    def writes_to(self, name: str) -> bool:
        """True if any statement of the loop may write to the memory of a variable."""
        return any(self.may_be_one(name, base) for _, base in self.writes)

    def may_be_one(self, a: str, b: str) -> bool:
        """True if two variables may share memory; what an iteration makes is shared within a group only."""
        one, other = self.find(a), self.find(b)
        outside = one in self.outside and other in self.outside
        return one == other or (outside and bool(roots_of(self.s.facts[a]) & roots_of(self.s.facts[b])))


def is_copy(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "copy"


def is_numpy(expr: Any) -> bool:
    """True if an expression is a call of one of NumPy's functions, whose facts tell what its result shares."""
    func = expr.func if isinstance(expr, gast.Call) else None
    while isinstance(func, gast.Attribute):
        func = func.value
    return isinstance(func, gast.Name) and func.id == "np"
