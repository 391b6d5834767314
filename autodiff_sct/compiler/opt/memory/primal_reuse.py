"""``total += row`` stays what it is where nobody else sees the memory of ``total`` any more.

::

    v = v + c * lap                         v += c * lap
    u = u + 0.1 * v                   ->    u += 0.1 * v

Single assignment makes ``total.2 = total.1 + row`` of it.  Where the old value is not read after that, neither in the
reverse sweep nor under another name, and its memory was made by an operation of the program, the sum is written there.
What a loop carries has one memory for all its iterations: what reads it before may only make something new of it.

The same holds for ``p = p / np.sum(p)``, where the new array surely has the shape, the dtype and the order in memory
of the old one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import enclosing_loops, roots_of
from ...analysis.ownership import IN_PLACE, is_alike
from ...domain import pass_registry
from ...domain.facts import Num
from ...ir.builder import Specialiser
from .axis_order import Orders, is_elementwise

NEW = {"zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "copy", "array"}
UFUNCS = {
    gast.Add: "add", gast.Sub: "subtract", gast.Mult: "multiply", gast.Div: "divide", gast.Pow: "power",
}  # fmt: skip


def mark_reuse(s: Specialiser, program: ir.Block) -> None:
    """Mark the augmented assignments of a program that may be carried out in place."""
    sums = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Let) and stmt.augments]
    owners = Owners(s, program) if sums else None
    for stmt in sums:
        if owners is not None and owners.may_overwrite(stmt):
            stmt.in_place = True


def reuse_primals(s: Specialiser, program: ir.Block, front: ir.Block, reordered: bool) -> None:
    """Let the user's arrays that get a new value under their name be overwritten by it, where nobody sees that.

    `reordered` says that the last digits of what the forward sweep computes do not matter.
    """
    on = pass_registry.on("reuse_buffers")
    lets = [stmt for stmt in ir.walk(front) if isinstance(stmt, ir.Let) and len(stmt.targets) == 1]
    own = [stmt for stmt in lets if on and is_successor(s, stmt)]
    anew = [stmt for stmt in lets if not reordered and makes_anew(s, stmt)]
    if not own and not anew:
        return
    owners = Owners(s, program)
    orders = Orders(s, owners.makers, owners.carries)
    for stmt in own:
        if owners.may_overwrite(stmt) and (reordered or orders.keeps(stmt.expr)):
            stmt.augments = stmt.in_place = True
    for stmt in anew:
        if not stmt.in_place and not orders.keeps(stmt.expr):
            keep_order(s, stmt)


def keep_order(s: Specialiser, stmt: ir.Let) -> None:
    """Let what ``x op= e`` makes lie in memory as `x` does: ``x + e`` may be in another order."""
    np_, old = s.bind("np", np), stmt.expr.left
    memory = ir.call(ir.attribute(np_, "empty_like"), old)
    stmt.expr = ir.call(ir.attribute(np_, UFUNCS[type(stmt.expr.op)]), old, stmt.expr.right, out=memory)


def makes_anew(s: Specialiser, stmt: ir.Let) -> bool:
    """True if a statement is a user's ``x op= e`` that may not be carried out in place."""
    if not stmt.augments or stmt.in_place or not isinstance(stmt.expr, gast.BinOp):
        return False
    left = stmt.expr.left
    return isinstance(left, gast.Name) and type(stmt.expr.op) in UFUNCS and is_alike(s, left.id, stmt.target)


def is_successor(s: Specialiser, stmt: ir.Let) -> bool:
    """True if a statement gives a name of the user's to what an operation with the array of that name makes."""
    if stmt.effect or stmt.in_place or not isinstance(stmt.expr, gast.BinOp):
        return False
    left = stmt.expr.left
    if not isinstance(stmt.expr.op, IN_PLACE) or not isinstance(left, gast.Name):
        return False
    if not {left.id, stmt.target} <= s.named:
        return False
    return s.hints[left.id] == s.hints[stmt.target] and is_alike(s, left.id, stmt.target)


class Owners:
    """The owners of memory: the maker of each variable, its readers, and the variable that takes it over."""

    def __init__(self, s: Specialiser, program: ir.Block) -> None:
        self.s = s
        self.makers: dict[str, Any] = {}
        self.carries: dict[str, tuple[ir.Loop, ir.Carry]] = {}  # by what a loop carries, and by what it leaves
        self.readers: dict[str, list[Any]] = defaultdict(list)
        self.taken: dict[str, int] = defaultdict(int)  # how often branches and loops take a variable over
        self.order: dict[Any, int] = {}
        self.ends: dict[ir.Loop, int] = {}  # the place of the last statement of a loop
        self.around = enclosing_loops(program)
        for place, stmt in enumerate(ir.walk(program)):
            self.order[stmt] = place
            self.makers |= dict.fromkeys(ir.ir_targets(stmt), stmt)
            for name in ir.reads(stmt):
                self.readers[name].append(stmt)
            for name in taken_over(stmt):
                self.taken[name] += 1
            if isinstance(stmt, ir.Loop):
                self.carries |= {name: (stmt, c) for c in stmt.carries for name in (c.phi, c.out)}
                self.ends[stmt] = place + sum(1 for body in ir.bodies(stmt) for _ in ir.walk(body))

    def may_overwrite(self, stmt: ir.Let) -> bool:
        """True if the left side of an operation is read there for the last time, and reached by nobody else."""
        left = stmt.expr.left if isinstance(stmt.expr, gast.BinOp) else None
        if not isinstance(left, gast.Name) or self.taken[left.id] or not self.is_made_in(self.around[stmt], left.id):
            return False
        before = [reader for reader in self.readers[left.id] if reader is not stmt]
        return self.are_done(left.id, before, 0, self.order[stmt]) and self.is_own(left.id, frozenset())

    def is_made_in(self, around: tuple[ir.Loop, ...], name: str) -> bool:
        """True if each step of the innermost of some loops makes a variable, or is handed it by the step before."""
        if name in self.carries:
            loop, carry = self.carries[name]
            return around == ((*self.around[loop], loop) if name == carry.phi else self.around[loop])
        return name in self.makers and self.around[self.makers[name]] == around

    def are_done(self, name: str, readers: list[Any], first: int, last: int) -> bool:
        """True if readers make something new of a variable, all of them between two places of the program."""
        return all(
            first <= self.order[reader] < last
            and (self.consumes(reader, name) or self.is_passing_view(reader, first, last))
            for reader in readers
        )

    def is_passing_view(self, reader: Any, first: int, last: int) -> bool:
        """True if a statement takes a view that is only read, between two places."""
        if not isinstance(reader, ir.Let) or reader.effect or len(reader.targets) != 1:
            return False
        if not isinstance(reader.expr, gast.Subscript) or self.taken[reader.target]:
            return False
        return self.are_done(reader.target, self.readers[reader.target], first, last)

    def consumes(self, reader: Any, name: str) -> bool:
        """True if a statement keeps no reference to the memory of a variable that it reads."""
        roots = roots_of(self.s.facts[name])
        if isinstance(reader, ir.Store):
            return isinstance(self.s.facts[reader.base], Num) and not roots_of(self.s.facts[reader.base]) & roots
        if not isinstance(reader, ir.Let) or reader.effect or reader.in_place or not roots:
            return False
        return all(self.is_new(target, roots) and self.is_told(target, reader.expr) for target in reader.targets)

    def is_told(self, target: str, expr: Any) -> bool:
        """True if facts tell whose memory a variable shares: those of a tangent know of none but what is written."""
        facts = self.s.facts[target]
        is_array = not isinstance(facts, Num) or facts.kind == "array"
        return not is_array or not self.s.is_tangent(target) or self.makes(expr)

    def is_new(self, name: str, roots: frozenset[int]) -> bool:
        facts = self.s.facts[name]
        if not isinstance(facts, Num) or facts.kind is None:
            return False
        return facts.kind != "array" or bool(roots_of(facts)) and not roots_of(facts) & roots

    def is_own(self, name: str, assumed: frozenset[str]) -> bool:
        """True if a variable holds memory that no other variable reaches."""
        if name in assumed:
            return True
        if name in self.carries:
            return self.is_carried(*self.carries[name], assumed | {name})
        maker = self.makers.get(name)
        if not isinstance(maker, ir.Let) or len(maker.targets) != 1:
            return False
        return self.makes(maker.expr)

    def makes(self, expr: Any) -> bool:
        """True if an expression surely makes a new array."""
        return isinstance(expr, (gast.BinOp, gast.UnaryOp)) or is_creation(expr) or is_elementwise(self.s, expr)

    def is_carried(self, loop: ir.Loop, carry: ir.Carry, assumed: frozenset[str]) -> bool:
        """True if a loop alone holds what it carries from one iteration to the next."""
        start, around = self.order[loop], self.around[loop]
        ends = (carry.init, 0, start, around), (carry.next, start, self.ends[loop] + 1, (*around, loop))
        for name, first, last, place in ends:
            if name is None or self.taken[name] != 1 or not self.are_done(name, self.readers[name], first, last):
                return False
            if not self.is_made_in(place, name) or not self.is_own(name, assumed):
                return False
        return True


def taken_over(stmt: Any) -> list[str]:
    """The variables that a control statement gives another name."""
    if type(stmt) in ir.SIMPLE:
        return []
    if isinstance(stmt, ir.If):
        return [n for m in stmt.merges for n in (m.then, m.orelse) if n is not None]
    if isinstance(stmt, ir.Try):
        return [n for _, names in stmt.merges for n in names if n is not None]
    if isinstance(stmt, ir.Loop):
        return [n for c in stmt.carries for n in (c.init, c.next) if n is not None]
    return []


def is_creation(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr in NEW
