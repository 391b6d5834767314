"""Branch sinking: the reverse of a number that only one side of a branch uses moves to that side.

::

    if r < cutoff:                          if r < cutoff:
        d_r = -d_out / (r * r)                  d_r = -d_out / (r * r)
    else:                                       d_t = d_r / (2 * r)
        d_r = 0.0                     ->        d_x[i] += d_t * (2 * dx)
    d_t = d_r / (2 * r)
    d_x[i] += d_t * (2 * dx)

On the other side all that is made of zeros, and added.  What others read, too, is zero there; that is done where there
is a division, which may be one by zero.  Nothing moves past what writes memory that it reads, nor past what touches
memory that it writes; what it needs and others read, too, is computed before the branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import is_call, is_literal_zero
from ...ir.traversal import substitute_own
from .sinking import is_pop


def sink_into_branches(s: Specialiser, program: ir.Block, back: ir.Block) -> None:
    """Rewrite the reverse sweep of a program, in place."""
    blocks = [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]
    if not any(map(merging, blocks)):
        return
    values = {x.target: x.expr for x in ir.walk(program) if isinstance(x, ir.Let) and len(x.targets) == 1}
    uses = count_uses(program)
    for block in blocks:
        for stmt in merging(block):
            for side in ("then", "orelse", "then"):  # what one side takes away may have been in the way of the other
                Moving(s, uses, values, block, stmt, side).run()


def merging(block: ir.Block) -> list[ir.If]:
    """The branches of a block that leave values."""
    return [x for x in block if isinstance(x, ir.If) and x.merges and x.path is None]


def may_be_infinite(stmt: Any) -> bool:
    """True if a statement divides, or takes a power that may be a division, by something else than a literal."""
    nodes = [node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)]
    found = [n for n in nodes if isinstance(n, gast.BinOp) and isinstance(n.op, (gast.Div, gast.Pow))]
    return any(is_call(n, "pow") for n in nodes) or any(not isinstance(n.right, gast.Constant) for n in found)


@dataclass
class Moving:
    """The statements after a branch that do something only if one side of it was taken."""

    s: Specialiser
    uses: dict[str, int]
    values: dict[str, Any]
    block: ir.Block
    branch: ir.If
    side: str
    barred: set[Any] = field(default_factory=set)  # statements that stay
    zeros: set[str] = field(default_factory=set)  # numbers that are zero if the other side was taken
    moved: ir.Block = field(default_factory=list)
    lifted: ir.Block = field(default_factory=list)  # those that go before the branch
    stay: ir.Block = field(default_factory=list)
    sums: dict[str, str] = field(default_factory=dict)  # sums with zeros -> what they are on the other side
    merged: set[str] = field(default_factory=set)  # numbers that others read, too, and that are zero on the other side

    def run(self) -> None:
        start = self.zero_merges()
        while start:
            self.zeros, self.moved, self.lifted, self.stay, self.sums = set(start), [], [], [], {}
            for stmt in self.block[self.block.index(self.branch) + 1 :]:
                self.consider(stmt)
            wanted = [x for x in self.moved if self.read_elsewhere(x)]
            divides = any(map(may_be_infinite, [*self.moved, *self.lifted]))
            self.merged = {x.target for x in wanted if divides and self.has_zero(x.target)}
            wanted = [x for x in wanted if x.target not in self.merged]
            self.barred |= set(wanted)
            if not wanted:
                break
        if (
            len(self.moved) > thresholds.STATEMENTS_LEFT
            or self.merged
            or any(isinstance(x, ir.Store) for x in self.moved)
        ):
            self.write(start)

    def zero_merges(self) -> set[str]:
        """The numbers that the other side leaves as zero."""
        zero = {m.target: is_literal_zero(self.values.get(self.other(m) or "")) for m in self.branch.merges}
        given = {m.target for m in self.branch.merges if getattr(m, self.side) is not None}
        return {n for n in given if zero[n] and self.is_number(n)}

    def other(self, merge: ir.Merge) -> str | None:
        return merge.orelse if self.side == "then" else merge.then

    def is_number(self, name: str) -> bool:
        facts = self.s.facts[name]
        return isinstance(facts, Num) and facts.dims == () and not facts.tensor and facts.kind != "array"

    def has_zero(self, name: str) -> bool:
        """True if it is known what a zero of the kind of a number is."""
        return self.is_number(name) and getattr(self.s.facts[name], "dtype", None) is not None

    def consider(self, stmt: Any) -> None:
        """Put a statement where it belongs."""
        if stmt not in self.barred and self.is_zero(stmt) and self.may_move(stmt):
            self.moved.append(stmt)
            if isinstance(stmt, ir.Let) and stmt.target not in self.sums:
                self.zeros.add(stmt.target)
        else:
            if isinstance(stmt, ir.Let):
                self.sums.pop(stmt.target, None)
            self.stay.append(stmt)

    def is_zero(self, stmt: Any) -> bool:
        """True if a statement changes nothing if the other side was taken."""
        if isinstance(stmt, ir.Store):
            apart = self.zeros.isdisjoint([stmt.base, *ir.names_in(stmt.index)])
            return stmt.aug in (gast.Add, gast.Sub) and apart and self.linear(stmt.value)
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place:
            return False
        return self.linear(stmt.expr) or self.is_sum(stmt)

    def linear(self, expr: Any) -> bool:
        """True if an expression is zero if the other side was taken."""
        if isinstance(expr, gast.Name):
            return expr.id in self.zeros
        if isinstance(expr, gast.UnaryOp):
            return isinstance(expr.op, gast.USub) and self.linear(expr.operand)
        if isinstance(expr, gast.Call):
            return getattr(expr.func, "id", "") == "float" and len(expr.args) == 1 and self.linear(expr.args[0])
        if isinstance(expr, gast.IfExp):
            sides = [x for x in (expr.body, expr.orelse) if not is_literal_zero(x)]
            return all(map(self.linear, sides)) and self.is_apart(expr.test)
        if not isinstance(expr, gast.BinOp):
            return False
        left, right = self.linear(expr.left), self.linear(expr.right)
        if isinstance(expr.op, (gast.Add, gast.Sub)):
            return left and right
        if isinstance(expr.op, gast.Mult):
            return (left and self.is_apart(expr.right)) or (right and self.is_apart(expr.left))
        return isinstance(expr.op, gast.Div) and left and self.is_apart(expr.right)

    def is_apart(self, expr: Any) -> bool:
        return self.zeros.isdisjoint(ir.names_in(expr))

    def is_sum(self, stmt: ir.Let) -> bool:
        """True if a statement adds to a number, from before the branch, what is zero if the other side was taken."""
        expr = stmt.expr
        if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Add, gast.Sub)):
            return False
        pairs = [(expr.left, expr.right), (expr.right, expr.left)][: 2 if isinstance(expr.op, gast.Add) else 1]
        for kept, added in pairs:
            if isinstance(kept, gast.Name) and self.linear(added) and self.goes_on(kept.id, stmt.target):
                self.sums[stmt.target] = self.sums.get(kept.id, kept.id)
                return True
        return False

    def goes_on(self, old: str, new: str) -> bool:
        """True if a number is another after an addition, with the same name."""
        if old in {m.target for m in self.branch.merges} | self.zeros or self.s.hints[old] != self.s.hints[new]:
            return False
        a, b = self.s.facts[old], self.s.facts[new]
        if not (isinstance(a, Num) and isinstance(b, Num) and self.is_number(old)):
            return False
        return (a.kind, a.dtype, a.python) == (b.kind, b.dtype, b.python)

    # -- order

    def may_move(self, stmt: Any) -> bool:
        """True if a statement may go to the end of the branch, and what it needs may be there."""
        if any(getattr(m, self.side) is None for m in self.branch.merges if m.target in ir.reads(stmt)):
            return False
        if not self.passes(stmt, self.stay):
            return False
        made = {n: x for x in self.stay for n in ir.ir_targets(x)}
        before = (list(self.lifted), list(self.stay))
        for name in ir.reads(stmt):
            if name in made and made[name] in self.stay and not self.lift(made[name], made):
                self.lifted, self.stay = before
                return False
        return True

    def lift(self, stmt: Any, made: dict[str, Any]) -> bool:
        """Take a statement before the branch, with what it needs."""
        if not isinstance(stmt, ir.Let) or (stmt.effect and not is_pop(self.s, stmt)) or stmt.in_place:
            return False
        for name in ir.reads(stmt):
            if name in made and made[name] in self.stay and not self.lift(made[name], made):
                return False
        ours = {n for x in [self.branch, *self.moved] for n in ir.ir_targets(x)}
        around = [self.branch, *self.moved, *self.stay[: self.stay.index(stmt)]]
        if ours.intersection(ir.reads(stmt)) or not self.passes(stmt, around):
            return False
        self.stay.remove(stmt)
        self.lifted.append(stmt)
        return True

    def passes(self, stmt: Any, others: ir.Block) -> bool:
        """True if a statement may run before others that now run before it."""
        if is_pop(self.s, stmt):
            taken = set(ir.reads(stmt))
            return not any(taken.intersection(ir.reads_inside(x)) for x in others)
        read = {root for n in ir.reads(stmt) for root in roots_of(self.s.facts[n])}
        written = set(roots_of(self.s.facts[stmt.base])) if isinstance(stmt, ir.Store) else set()
        return not any(touches(self.s, x, read, True) or touches(self.s, x, written, False) for x in others)

    # -- what comes of it

    def read_elsewhere(self, stmt: Any) -> bool:
        """True if something that is not moved reads what a statement makes, which is no sum."""
        return isinstance(stmt, ir.Let) and stmt.target not in self.sums and any(map(self.read_by_others, stmt.targets))

    def read_by_others(self, name: str) -> bool:
        return self.uses.get(name, 0) > sum(list(ir.reads(x)).count(name) for x in self.moved)

    def write(self, start: set[str]) -> None:
        """Move the statements."""
        place = self.block.index(self.branch)
        order = {stmt: k for k, stmt in enumerate(self.block)}
        before = count_uses([self.branch, *self.lifted, *self.moved])
        self.keep_together(order)
        inside = {m.target: ir.name(str(getattr(m, self.side))) for m in self.branch.merges}
        for stmt in self.moved:
            substitute_own(stmt, inside)
            if isinstance(stmt, ir.Let) and stmt.target in self.sums.keys() | self.merged:
                self.rename(stmt, inside)
        self.block[place:] = [*self.lifted, self.branch, *self.stay]
        (self.branch.then if self.side == "then" else self.branch.orelse).extend(self.moved)
        before = self.recount(before)
        forget(self.branch, {n for n in start if not self.uses[n]}, self.values)
        self.recount(before)

    def recount(self, before: dict[str, int]) -> dict[str, int]:
        """Note how often variables are read now in what there was with the counts `before`."""
        after = count_uses([*self.lifted, self.branch])
        for name in before.keys() | after.keys():
            self.uses[name] = self.uses.get(name, 0) + after.get(name, 0) - before.get(name, 0)
        return after

    def keep_together(self, order: dict[Any, int]) -> None:
        """Have what only moved statements read among them, not before the branch."""
        for stmt in reversed(self.lifted):
            if not stmt.effect and not self.read_elsewhere(stmt) and not set(stmt.targets) & set(self.sums.values()):
                self.lifted.remove(stmt)
                self.moved.append(stmt)
        self.moved.sort(key=order.__getitem__)

    def rename(self, stmt: ir.Let, inside: dict[str, Any]) -> None:
        """Give a sum a name of its own on its side."""
        target = stmt.target
        own = self.s.fresh_like(target)
        inside[target], stmt.targets = ir.name(own), (own,)
        if self.read_by_others(target):
            other = self.sums[target] if target in self.sums else self.zero(target)
            self.branch.merges.append(ir.Merge(target, *((own, other) if self.side == "then" else (other, own))))

    def zero(self, name: str) -> str:
        """A zero on the other side, of the kind that a number has."""
        facts = self.s.facts[name]
        assert isinstance(facts, Num) and facts.dtype is not None
        zero = self.s.fresh_like(name, facts)
        expr = ir.constant(0.0) if facts.python else ir.call(f"np.{facts.dtype.name}", ir.constant(0.0))
        (self.branch.orelse if self.side == "then" else self.branch.then).append(ir.Let((zero,), expr))
        self.values[zero] = expr
        return zero


def forget(branch: ir.If, names: set[str], values: dict[str, Any]) -> None:
    """Drop what a branch left for statements that are in its sides now."""
    gone = {n for m in branch.merges if m.target in names for n in (m.then, m.orelse)}
    branch.merges = [m for m in branch.merges if m.target not in names]
    for block in (branch.then, branch.orelse):
        inner = block[-1] if block else None
        passed = {n for m in branch.merges for n in (m.then, m.orelse)}
        if isinstance(inner, ir.If):
            forget(inner, {m.target for m in inner.merges} & gone - passed - set(read_in(block[:-1])), values)
        read = {*read_in(block), *passed}
        block[:] = [
            x for x in block if not (isinstance(x, ir.Let) and x.target in gone - read and is_literal_zero(x.expr))
        ]


def read_in(block: ir.Block) -> list[str]:
    return [n for stmt in block for n in ir.reads_inside(stmt)]
