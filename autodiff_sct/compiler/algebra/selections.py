"""Cotangents by the two sides of one condition, added up, are one selection.

::

    d_a = np.where(small, d_y, 0) * r
    d_r = d_a + np.where(small, 0, d_y) * k * np.sign(r)    ->    d_r = np.where(small, d_y * r, d_y * k * np.sign(r))

So it is for each function that the user writes in pieces.  What a side is where it is not chosen does not matter: no
zero is multiplied by an infinity there.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import Num
from ..optimise import count_uses
from ..peephole import is_literal_zero, touches
from ..regions import roots_of
from ..specialise.state import Specialiser
from .spelling import numpy_name


def one_selection(s: Specialiser, program: ir.Block, back: ir.Block) -> None:
    """Rewrite the blocks of the reverse sweep of a program, in place."""
    every = [back, *(inner for stmt in ir.adjoint_walk(back) for inner in ir.adjoint_bodies(stmt))]
    blocks = [block for block in every if any(isinstance(stmt, ir.Let) and is_half(stmt.expr) for stmt in block)]
    read = count_uses(program) if blocks else {}
    for block in blocks:
        Halves(s, block, read).join()


class Halves:
    """The products of one block that are zero where a condition does not hold, or where it does."""

    def __init__(self, s: Specialiser, block: ir.Block, read: dict[str, int]) -> None:
        self.s, self.block = s, block
        lets = [x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1 and not (x.effect or x.in_place)]
        self.makers = {x.target: x for x in lets if read.get(x.target) == 1}
        self.sums = {x.target: x for x in block if is_sum(x) and read.get(x.target) == 1}

    def join(self) -> None:
        for stmt in list(self.block):
            if not is_sum(stmt) or not self.is_array(stmt.target):
                continue
            last = self.half(stmt.expr.right)
            before = self.sums.get(getattr(stmt.expr.left, "id", ""))
            if last is None:
                continue
            if (first := self.half(stmt.expr.left)) is not None:
                self.replace(stmt, first, last, None)
            elif before is not None and (first := self.half(before.expr.right)) is not None:
                self.replace(stmt, first, last, before)  # what is added to something in turns

    def is_array(self, name: str) -> bool:
        facts = self.s.facts[name]
        return isinstance(facts, Num) and facts.kind == "array"

    def half(self, expr: Any) -> tuple[Any, Any, ir.Block] | None:
        """The ``np.where`` in a product, the product with what that selects in its place, and their statements."""
        stmt = self.makers.get(getattr(expr, "id", ""))
        if stmt is None:
            return None
        expr = stmt.expr
        if is_half(expr):
            return expr, expr.args[2 if is_literal_zero(expr.args[1]) else 1], [stmt]
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            found = self.half(expr.operand)
            return found and (found[0], gast.UnaryOp(expr.op, found[1]), [*found[2], stmt])
        if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Mult, gast.Div)):
            return None
        if (found := self.half(expr.left)) is not None:
            return found[0], gast.BinOp(found[1], expr.op, expr.right), [*found[2], stmt]
        found = self.half(expr.right) if isinstance(expr.op, gast.Mult) else None
        return found and (found[0], gast.BinOp(expr.left, expr.op, found[1]), [*found[2], stmt])

    def replace(
        self, total: ir.Let, one: tuple[Any, Any, ir.Block], other: tuple[Any, Any, ir.Block], before: ir.Let | None
    ) -> None:
        """Let a sum be a selection, if the halves have one condition and nothing that they read is written since."""
        (call, a, first), (second, b, rest) = one, other
        if call.args[0].id != second.args[0].id or is_literal_zero(call.args[1]) == is_literal_zero(second.args[1]):
            return
        gone = dict.fromkeys([*first, *rest, *([before] if before is not None else [])])
        names = [n for stmt in gone for n in ir.reads(stmt)]
        region = frozenset(root for n in names for root in roots_of(self.s.facts[n]))
        start, end = min(map(self.block.index, gone)), self.block.index(total)
        if any(self.writes(stmt, region) for stmt in self.block[start:end] if stmt is not before):
            return
        selected = ir.call(call.func, call.args[0], *((b, a) if is_literal_zero(call.args[1]) else (a, b)))
        total.expr = selected if before is None else ir.binop(before.expr.left, gast.Add, selected)
        total.op, total.in_place = None, before is not None and before.in_place
        self.block[:] = [stmt for stmt in self.block if stmt not in gone]
        for stmt in gone:
            self.makers.pop(stmt.target, None)
            self.sums.pop(stmt.target, None)
        if before is None:
            self.sums.pop(total.target, None)  # it is a selection now

    def writes(self, stmt: Any, region: frozenset[int]) -> bool:
        in_place = any(isinstance(x, ir.Let) and (x.in_place or x.effect) for x in ir.inside(stmt))
        return touches(self.s, stmt, region, not in_place)


def is_sum(stmt: Any) -> bool:
    """Whether a statement adds two things up."""
    plain = isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and isinstance(stmt.expr, gast.BinOp)
    return plain and isinstance(stmt.expr.op, gast.Add)


def is_half(expr: Any) -> bool:
    """Whether an expression selects a cotangent or zero."""
    if not isinstance(expr, gast.Call) or numpy_name(expr) != "where" or len(expr.args) != 3 or expr.keywords:
        return False
    return isinstance(expr.args[0], gast.Name) and is_literal_zero(expr.args[1]) != is_literal_zero(expr.args[2])
