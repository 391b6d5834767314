"""``total += row`` stays what it is where nobody else sees the memory of ``total``.

Single assignment makes ``total.2 = total.1 + row`` of it.  Where the old value is read by nothing else, neither in the
reverse sweep nor under another name, and its memory was made by an operation of the program, the sum is written there.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .optimise import count_uses

NEW = {"zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "copy", "array"}


def reuse(program: ir.Block) -> None:
    """Mark the augmented assignments of a program that may be carried out in place."""
    owners = Owners(program)
    for stmt in owners.makers.values():
        if isinstance(stmt, ir.Let) and stmt.augments and owners.may_overwrite(stmt):
            stmt.in_place = True


class Owners:
    """Who made each variable, and how often it is read."""

    def __init__(self, program: ir.Block) -> None:
        self.uses = count_uses(program)
        self.makers: dict[str, Any] = {}
        self.carries: dict[str, ir.Carry] = {}
        for stmt in ir.walk(program):
            self.makers |= dict.fromkeys(ir.ir_targets(stmt), stmt)
            if isinstance(stmt, ir.Loop):
                self.carries |= {c.phi: c for c in stmt.carries}

    def may_overwrite(self, stmt: ir.Let) -> bool:
        """Whether the left side of an operation is read there for the last time, and reached by nobody else."""
        left = stmt.expr.left if isinstance(stmt.expr, gast.BinOp) else None
        return isinstance(left, gast.Name) and self.uses.get(left.id) == 1 and self.is_own(left.id, frozenset())

    def is_own(self, name: str, assumed: frozenset[str]) -> bool:
        """Whether a variable holds memory that no other variable reaches."""
        if name in assumed:
            return True
        carry = self.carries.get(name)
        if carry is not None:
            ends = [carry.init, carry.next]
            return all(n is not None and self.uses.get(n) == 1 and self.is_own(n, assumed | {name}) for n in ends)
        maker = self.makers.get(name)
        if not isinstance(maker, ir.Let) or len(maker.targets) != 1:
            return False
        if maker.augments and isinstance(left := maker.expr.left, gast.Name):
            return self.uses.get(left.id) != 1 or self.is_own(left.id, assumed)
        return isinstance(maker.expr, (gast.BinOp, gast.UnaryOp)) or is_creation(maker.expr)


def is_creation(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr in NEW
