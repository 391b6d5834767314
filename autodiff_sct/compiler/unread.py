"""What nobody reads and what cannot fail is not computed.

::

    for v in x:                            d_x = np.zeros_like(x)
        condition = v > 0.75               for v in x[::-1]:
    d_x = np.zeros_like(x)                     if v > 0.75:
    for v in x[::-1]:              ->              ...
        if v > 0.75:
            ...

Other passes leave such statements behind: tests that the reverse sweep reads again, items that a loop goes over. What
may raise stays, for the forward sweep raises where the program does. What has effects is executed without a name for
its result: ``print(x)``.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .facts import Listed, Num
from .failing import fact, is_safe
from .optimise import count_uses
from .specialise.state import Specialiser


def drop_unread(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Drop statements of the forward sweep, in place."""
    uses = count_uses([*front, *back])
    Unread(s, uses).block(front)


class Unread:
    """Drops statements from the last to the first, and counts what they do not read any more."""

    def __init__(self, s: Specialiser, uses: dict[str, int]) -> None:
        self.s, self.uses = s, uses

    def block(self, block: ir.Block) -> None:
        kept = []
        for stmt in reversed(block):
            for inner in ir.bodies(stmt) if isinstance(stmt, (ir.If, ir.Loop, ir.Try, ir.With)) else ():
                self.block(inner)
            if isinstance(stmt, ir.Try) and not self.are_read((stmt.took,)):
                stmt.took = ""
            if self.is_idle(stmt):
                for name in ir.reads(stmt):
                    self.uses[name] -= 1
            elif isinstance(stmt, ir.Let) and stmt.effect and not self.are_read(stmt.targets):
                kept.append(executed(stmt))
            else:
                kept.append(stmt)
        block[:] = kept[::-1]

    def is_idle(self, stmt: Any) -> bool:
        if isinstance(stmt, ir.Let):
            return not (stmt.effect or stmt.saves or stmt.in_place or self.are_read(stmt.targets)) and self.is_safe(
                stmt
            )
        if isinstance(stmt, ir.If):
            return not (stmt.then or stmt.orelse or stmt.merges) and self.is_safe(stmt)
        if not isinstance(stmt, ir.Loop) or stmt.body or stmt.carries or stmt.trips or stmt.stop is not None:
            return False
        return (
            stmt.kind == "iter"
            and not self.are_read((stmt.index, *ir.ir_targets(stmt)))
            and self.is_known(stmt.bounds[0])
        )

    def are_read(self, names: tuple[str | None, ...]) -> bool:
        return any(self.uses.get(name, 0) for name in names if name is not None)

    def is_safe(self, stmt: Any) -> bool:
        expr = stmt.expr if isinstance(stmt, ir.Let) else stmt.test
        if isinstance(expr, gast.Compare):
            return all(self.is_number(e) for e in (expr.left, *expr.comparators)) and is_ordered(expr)
        return is_safe(self.s, stmt)

    def is_number(self, expr: Any) -> bool:
        found = fact(self.s, expr)
        return isinstance(found, Num) and found.dims == () and found.kind in ("float", "int", "npscalar")

    def is_known(self, expr: Any) -> bool:
        """Whether an expression is an array or a list."""
        found = fact(self.s, expr)
        return isinstance(found, Listed) or (isinstance(found, Num) and found.kind == "array")


def executed(stmt: ir.Let) -> ir.Effect:
    """A statement whose result nobody reads: ``print(x)``."""
    effect = ir.Effect(stmt.expr, stmt.origin)
    effect.state_reads = stmt.state_reads
    return effect


def is_ordered(expr: Any) -> bool:
    """Whether a comparison is one of numbers by their size."""
    return all(isinstance(op, (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)) for op in expr.ops)
