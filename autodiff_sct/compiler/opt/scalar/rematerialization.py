"""Rematerialization: cheap parts of arrays, lengths and branch tests are written where they are read.

::

    t = A[1:]                              B[1:] += A[1:] * c
    B[1:] += t * c                         ...
    ...                                    d_c = d_B[1:] * A[1:]
    d_c = d_B[1:] * t              ->

    condition = t > 0.5                    if t > 0.5:
    if condition:                              ...
        ...                        ->

    t = x + 1.0                            y = math.log(x + 1.0)
    y = math.log(t)                        ...
    ...                                    d_x = d_out / (x + 1.0)
    d_x = d_out / t                ->

Outside loops only. A view is the same view whatever has been written since; a number that is read out of memory must be
out of memory that nobody writes later. What may raise still does so before anything else is done that is seen outside.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...ad.tape.availability import is_arithmetic
from ...analysis.alias import Regions, roots_of
from ...analysis.effects import fact
from ...analysis.liveness import count_uses
from ...domain.facts import Listed, Num
from ...ir.function import Function
from ...ir.traversal import substitute_own
from ...text.expressions import columns_of

INDEX = (gast.Constant, gast.Slice, gast.UnaryOp, gast.Tuple)
SHORT = 8  # columns of what may be read three times


def rematerialize(s: Function, where: Regions, front: ir.Block, back: ir.Block) -> None:
    """Rewrite both sweeps, in place."""
    table = Repeating(s, where, [*front, *back])
    for block in (front, back):
        table.sums = block is front  # a sum of the reverse sweep is a step that its reader follows
        table.block(block)
    if table.found:
        for stmt in ir.walk([*front, *back]):
            substitute_own(stmt, table.found)


class Repeating:
    """Finds what is as short as a name, and takes its statements out."""

    def __init__(self, s: Function, where: Regions, program: ir.Block) -> None:
        self.s, self.where = s, where
        self.found: dict[str, Any] = {}
        self.sums = False
        self.uses = count_uses(program)
        self.statements = ir.walk(program)

    # Asked for only where something is read twice.

    @cached_property
    def read(self) -> Counter[str]:
        return Counter(n for x in self.statements for e in ir.expressions(x) for n in ir.variables_in(e))

    @cached_property
    def in_loops(self) -> set[str]:
        return {n for x in self.statements if isinstance(x, ir.Loop) for n in ir.reads_inside(x)}

    @cached_property
    def tests(self) -> Counter[str]:
        return Counter(n for x in self.statements if isinstance(x, ir.If) for n in ir.reads(x))

    @cached_property
    def versions(self) -> Counter[str]:
        """The number of values of each user's name: an argument that the body goes on with is one."""
        names = {n for x in self.statements for n in [*ir.ir_targets(x), *ir.reads_inside(x)]}
        lets = [x for x in self.statements if isinstance(x, ir.Let) and isinstance(x.expr, gast.Name)]
        names -= {
            x.target for x in lets if x.expr.id in names and self.s.hints.get(x.expr.id) == self.s.hints[x.target]
        }
        return Counter(self.s.hints[n] for n in names if n in self.s.hints)

    @cached_property
    def last_written(self) -> dict[int, int]:
        """The number of statements up to the last write of each region."""
        return {region: k for k, x in enumerate(self.statements) for region in self.regions_written(x)}

    def regions_written(self, stmt: Any) -> set[int]:
        """The memory that a statement changes."""
        if isinstance(stmt, ir.Store):
            names = [stmt.base]
        else:
            writes = isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Let) and (stmt.effect or stmt.in_place))
            names = [*ir.reads(stmt), *ir.ir_targets(stmt)] if writes else []
        return {self.where.find(root) for n in names for root in roots_of(self.s.facts[n])}

    def block(self, block: ir.Block) -> None:
        """Take statements out of a block and of the branches inside it."""
        for place, stmt in enumerate(list(block)):
            if (
                isinstance(stmt, ir.Let)
                and self.is_short(stmt)
                and self.raises_first(stmt, block[place + 1 : place + 1 + thresholds.NEAR_PART])
            ):
                self.found[stmt.target] = ir.substitute(stmt.expr, self.found)
            elif isinstance(stmt, ir.If):
                self.block(stmt.then)
                self.block(stmt.orelse)
        block[:] = [x for x in block if not (isinstance(x, ir.Let) and x.target in self.found)]

    def is_short(self, stmt: ir.Let) -> bool:
        if len(stmt.targets) != 1 or stmt.target in self.s.named or stmt.effect:
            return False
        uses = self.uses.get(stmt.target, 0)
        if uses not in (2, 3) or not self.may_be_short(stmt.expr):
            return False
        if self.read[stmt.target] != uses or stmt.target in self.in_loops:
            return False
        if uses == 3 and not (is_part(stmt.expr) and columns_of(stmt.expr) <= SHORT):
            return False
        expr = stmt.expr
        if isinstance(expr, gast.Compare):
            short = self.tests[stmt.target] == 2 and all(self.is_number(e) for e in [expr.left, *expr.comparators])
        else:
            short = self.is_part(stmt) or self.is_size(expr) or self.is_sum(stmt)
        # A name of the user's may stand for another value by then.
        return short and not any(self.versions[self.s.hints[n]] > 1 for n in ir.reads(stmt) if n in self.s.named)

    def may_be_short(self, expr: Any) -> bool:
        """True if an expression has a form that `is_short` asks more about."""
        if isinstance(expr, (gast.BinOp, gast.UnaryOp)):
            return self.sums and is_arithmetic(expr) and self.s.named.issuperset(ir.variables_in(expr))
        return isinstance(expr, (gast.Compare, gast.Call)) or is_part(expr)

    def is_sum(self, stmt: ir.Let) -> bool:
        """True if a number is one operation on numbers that have names, or are none."""
        expr = stmt.expr
        if not isinstance(expr, (gast.BinOp, gast.UnaryOp)) or not self.is_number(ir.name(stmt.target)):
            return False
        return all(
            self.is_number(e) for e in ([expr.operand] if isinstance(expr, gast.UnaryOp) else [expr.left, expr.right])
        )

    def is_number(self, expr: Any) -> bool:
        found = fact(self.s, expr)
        number = isinstance(found, Num) and found.dims == () and found.kind not in (None, "array")
        return number and not self.is_passed_on(expr)

    def is_passed_on(self, expr: Any) -> bool:
        """True if an expression is a temporary that is read once: it would need a name instead."""
        return isinstance(expr, gast.Name) and expr.id not in self.s.named and self.uses.get(expr.id) == 1

    def is_part(self, stmt: ir.Let) -> bool:
        """True if a statement takes a part of an array or of a list, and takes the same at any later time."""
        expr, found = stmt.expr, self.s.facts[stmt.target]
        base = fact(self.s, expr.value) if is_part(expr) else None
        if not isinstance(found, Num) or not isinstance(base, (Num, Listed)) or self.is_passed_on(expr.value):
            return False
        if isinstance(base, Num) and base.kind == "array" and found.kind == "array":
            return bool(found.roots & base.roots)
        regions = {self.where.find(root) for root in roots_of(base)}
        place = self.statements.index(stmt) if regions & self.last_written.keys() else 0
        kinds = ("npscalar",) if isinstance(base, Num) else ("npscalar", "float", "int", "array")
        return found.kind in kinds and bool(regions) and all(self.last_written.get(r, -1) < place for r in regions)

    def is_size(self, expr: Any) -> bool:
        """True if an expression is the length of an axis."""
        if isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Attribute) and expr.value.attr == "shape":
            return isinstance(expr.slice, gast.Constant) and isinstance(fact(self.s, expr.value.value), Num)
        call = isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len"
        return call and isinstance(fact(self.s, expr.args[0]), Num)

    def raises_first(self, stmt: ir.Let, after: ir.Block) -> bool:
        """True if nothing may fail between a statement and the first that reads it, or the statement itself cannot."""
        if isinstance(stmt.expr, gast.Compare):
            return True
        for other in after:
            if stmt.target in ir.reads(other):
                return True
            if not isinstance(other, ir.Let) or other.effect:
                return False
        return False


def is_part(expr: Any) -> bool:
    """True if an expression is ``x[...]`` with an index of numbers."""
    return isinstance(expr, gast.Subscript) and all(isinstance(n, INDEX) for n in ir.nodes(expr.slice))
