"""The cotangent of what was copied, of which a loop overwrites items, begins as a copy of the cotangent of the copy.

::

    new = u.copy()                        d_u = np.zeros_like(u)                d_u = d_new.copy()
    for i in range(1, n):                 for i in range(n - 1, 0, -1):         for i in range(n - 1, 0, -1):
        new[i] = u[i] + k * u[i - 1]          d_t = d_new[i]                        d_t = d_new[i]
    u = new                                   d_new[i] = 0.0            ->          d_u[i - 1] += d_t * k
                                              d_u[i] += d_t
                                              d_u[i - 1] += d_t * k
                                          d_u += d_new

As `taken_over` does for slices.  It is right where no item is overwritten twice, so that its cotangent need not be
cleared: each loop around has its own part of the index, and counts what is not negative.  Nobody else reads the
cotangent of the copy, which is what an outer loop carries, and that of what was copied is added to only.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..facts import Num
from ..peephole import is_call, is_ellipsis
from ..specialise.state import Specialiser
from .memory import is_alike, is_new
from .taken_over import is_addition, is_name, is_zero


def copy_first(s: Specialiser, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the loops of the reverse sweep, in place."""
    for loop in [stmt for stmt in ir.adjoint_walk(reverse) if isinstance(stmt, ir.Loop) and not stmt.head]:
        for carry in loop.carries:
            found = Overwritten(s, [*reverse, final], loop, carry)
            if found.is_found():
                found.rewrite()


class Overwritten:
    """What a loop carries: the cotangent of a copy, which becomes that of what was copied."""

    def __init__(self, s: Specialiser, program: ir.Block, loop: ir.Loop, carry: ir.Carry) -> None:
        self.s, self.program, self.loop, self.carry = s, program, loop, carry
        self.old, self.new = carry.phi, carry.next or ""

    def is_found(self) -> bool:
        body = self.loop.body
        zero = next((x for x in body if isinstance(x, ir.Let) and x.targets == (self.new,)), None)
        whole = next((x for x in body if is_addition(x, self.new) and is_name(x.value, self.old)), None)
        if zero is None or whole is None or not is_ellipsis(whole.index) or not is_call(zero.expr, "zeros_like"):
            return False
        if not is_alike(self.s, self.old, self.new) or not self.is_alone():
            return False
        start, end = body.index(zero), body.index(whole)
        between = body[start + 1 : end]
        if any(self.old in ir.reads_inside(x) for x in [*body[:start], *body[end + 1 :]]):
            return False
        self.zero, self.whole = zero, whole
        return self.is_taken_once(between, ())

    def is_alone(self) -> bool:
        """Whether nobody but the loop has what it begins with."""
        init = self.carry.init
        if init is None or not isinstance(self.s.facts[init], Num):
            return False
        statements = ir.walk(self.program)
        makers = [x for x in statements if isinstance(x, ir.Let) and init in x.targets]
        readers = [x for x in statements if init in ir.uses(x) and x is not self.loop]
        passed = [n for x in statements if isinstance(x, ir.Loop) for c in x.carries for n in (c.init, c.next)]
        once = passed.count(init) == 1 and self.old not in passed
        inside = {n for stmt in self.loop.body for n in ir.reads_inside(stmt)}
        if len(makers) != 1 or not (is_new(makers[0].expr) or isinstance(makers[0].expr, gast.BinOp)):
            return False
        return once and init not in inside and all(isinstance(x, ir.Store) and x.base == init for x in readers)

    def is_taken_once(self, between: ir.Block, around: tuple[ir.Loop, ...]) -> bool:
        """Whether each item of the old cotangent is taken, cleared and added to the same item of the new one."""
        self.gone: list[Any] = []
        found = self.sites(between, around)
        if found is None or len(found) != 1:
            return False
        block, loops = found[0]
        taken = next(x for x in block if isinstance(x, ir.Let) and self.is_item(x.expr))
        key, d = gast.dump(taken.expr.slice), taken.target
        stores = [x for x in block if isinstance(x, ir.Store)]
        clear = next((x for x in stores if x.base == self.old and is_zero(x) and gast.dump(x.index) == key), None)
        added = next((x for x in stores if is_addition(x, self.new) and is_name(x.value, d)), None)
        if clear is None or added is None or gast.dump(added.index) != key or block.index(clear) < block.index(taken):
            return False
        self.gone = [clear, added, self.whole]
        return is_apart(taken.expr.slice, loops, self.made_in(between)) and self.only_these(between, taken)

    def sites(self, block: ir.Block, around: tuple[ir.Loop, ...]) -> list[tuple[ir.Block, tuple[ir.Loop, ...]]] | None:
        """The blocks in which items of the old cotangent are taken, and the loops around them."""
        result = [(block, around) for x in block if isinstance(x, ir.Let) and self.is_item(x.expr)]
        for stmt in block:
            for inner in ir.bodies(stmt):
                if self.old not in ir.uses_in(inner):
                    continue
                if not isinstance(stmt, (ir.Loop, ir.If)) or (isinstance(stmt, ir.Loop) and inner is stmt.head):
                    return None
                result += self.sites(inner, (*around, stmt) if isinstance(stmt, ir.Loop) else around) or []
        return result

    def is_item(self, expr: Any) -> bool:
        return isinstance(expr, gast.Subscript) and is_name(expr.value, self.old)

    def made_in(self, block: ir.Block) -> set[str]:
        return {n for stmt in block for n in (*ir.ir_targets(stmt), *ir.defined_in(stmt))}

    def only_these(self, between: ir.Block, taken: ir.Let) -> bool:
        """Whether nothing else reads or writes the old cotangent, and the new one is added to only."""
        for stmt in ir.walk(between):
            if stmt is taken or stmt in self.gone:
                continue
            names = ir.uses(stmt)
            if self.old in names:
                return False
            if self.new in names:
                values = () if not is_addition(stmt, self.new) else (stmt.value, stmt.index)
                if not values or any(self.new in ir.variables_in(value) for value in values):
                    return False
        return True

    def rewrite(self) -> None:
        """Begin with the copy, and drop what it makes needless."""
        self.zero.expr = ir.call(ir.attribute(ir.name(self.old), "copy"))
        for block in ir.blocks(self.loop.body):
            block[:] = [stmt for stmt in block if stmt not in self.gone]


def is_apart(index: Any, loops: tuple[ir.Loop, ...], made: set[str]) -> bool:
    """Whether an index is another one in each step of some loops, of which the reverse sweep has the counters."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    counters = {loop.primal.index: loop.primal for loop in loops if loop.primal is not None}
    if len(counters) != len(loops) or not all(isinstance(p, gast.Name) for p in parts):
        return False
    names = [p.id for p in parts]
    others = {n for n in names if n not in counters}
    return counters.keys() <= set(names) and not others & made and all(map(counts_up_from_zero, counters.values()))


def counts_up_from_zero(loop: ir.Loop) -> bool:
    """Whether a loop of the forward sweep counts numbers none of which is negative."""
    if loop.kind != "range":
        return False
    bounds = [number(b) for b in loop.bounds]
    if len(bounds) == 1:
        return True
    start, stop, step = (*bounds, 1)[:3]
    if step is None or step == 0:
        return False
    return start is not None and start >= 0 if step > 0 else stop is not None and stop >= -1


def number(expr: Any) -> int | None:
    """The integer that an expression is literally."""
    sign = -1 if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub) else 1
    value = getattr(expr.operand if sign < 0 else expr, "value", None)
    return sign * value if type(value) is int else None
