"""The cotangent of what was copied is that of the copy, but for the part that was overwritten.

::

    new = u.copy()                        d_u = np.zeros_like(u)
    new[1:-1] = u[1:-1] + k * lap         d_part = d_new[1:-1].copy()           d_part = d_new[1:-1].copy()
    u = new                               d_lap = d_part * k                    d_lap = d_part * k
                                          d_new[1:-1] = 0.0               ->    d_new[2:] += d_lap
                                          d_u[1:-1] += d_part
                                          d_u += d_new
                                          d_u[2:] += d_lap
                                          d_new = d_u

Where a step of a stencil adds to what was there, the cotangent of the part goes back to where it came from.  So what a
loop carries is changed in place.  That is right where nothing else reads or writes either array before all of the one
is added to the other, and nothing reads the one after that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from .... import ir
from ....analysis.alias import roots_of
from ....analysis.ownership import is_alike
from ....domain.facts import Num
from ....ir.function import Function
from ....ir.patterns import is_call, is_ellipsis
from ....ir.traversal import read_instead


def elide_loop_copies(s: Function, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the outermost loops of the reverse sweep, in place."""
    for stmt in reverse:
        if isinstance(stmt, ir.Loop) and stmt.kind == "range" and stmt.stop is None:
            for carry in list(stmt.carries):
                step = Step(s, [*reverse, final], stmt, carry)
                if step.is_taken_over():
                    step.rewrite()


class Step:
    """The variables that a loop carries, and what becomes of them in one step."""

    def __init__(self, s: Function, around: ir.Block, loop: ir.Loop, carry: ir.Carry) -> None:
        self.s, self.around, self.loop, self.carry = s, around, loop, carry
        self.old, self.new = carry.phi, carry.next or ""
        self.gone: list[Any] = []  # the statements that are not needed any more

    def is_taken_over(self) -> bool:
        """True if the next value begins with zeros, to which all of the old one is added when that is done with."""
        body = self.loop.body
        zero = next((x for x in body if isinstance(x, ir.Let) and x.targets == (self.new,)), None)
        if zero is None or self.loop.head or not is_call(zero.expr, "zeros_like") or not self.is_only_carried():
            return False
        whole = next((x for x in body if is_addition(x, self.new) and is_name(x.value, self.old)), None)
        if whole is None or not is_ellipsis(whole.index) or not is_alike(self.s, self.old, self.new):
            return False
        self.gone = [zero, whole]
        place = body.index(whole)
        later = [n for stmt in body[place + 1 :] for n in ir.reads_inside(stmt)]
        before = self.before(body[:place])
        return before is not None and not {self.old, *before} & {*later}

    def before(self, block: ir.Block) -> set[str] | None:
        """The parts of the old value, if one is copied, cleared, and added to the same part of the new one."""
        parts: dict[str, str] = {}  # a view -> the index
        copies: dict[str, str] = {}
        cleared: list[str] = []
        added: list[str] = []
        for stmt in block:
            names = set(ir.reads_inside(stmt)) & {self.old, self.new, *parts}
            if not names or stmt is self.gone[0]:
                continue
            if isinstance(stmt, ir.Let) and is_part(stmt.expr) and len(stmt.targets) == 1:
                parts[stmt.target] = f"{stmt.expr.value.id} {gast.dump(stmt.expr.slice)}"
            elif isinstance(stmt, ir.Let) and is_call(stmt.expr, "copy") and is_name(stmt.expr.func.value, *parts):
                copies[stmt.target] = parts[stmt.expr.func.value.id]
            elif isinstance(stmt, ir.Store) and stmt.base == self.old and is_zero(stmt) and not added:
                cleared.append(f"{self.old} {gast.dump(stmt.index)}")
                self.gone.append(stmt)
            elif is_addition(stmt, *parts) and is_ellipsis(stmt.index) and is_name(stmt.value, *copies):
                added.append(parts[stmt.base])
                self.gone.append(stmt)
                if [copies[stmt.value.id]] != cleared or added[-1] != cleared[0].replace(self.old, self.new, 1):
                    return None
            elif not (copies and is_addition(stmt, self.new, *self.of_new(parts)) and is_apart(stmt, names)):
                return None
        if len(cleared) != 1 or len(added) != 1:
            return None
        return {name for name, part in parts.items() if part.startswith(f"{self.old} ")}

    def of_new(self, parts: dict[str, str]) -> list[str]:
        return [name for name, part in parts.items() if part.startswith(f"{self.new} ")]

    def is_only_carried(self) -> bool:
        """True if nobody but the loop reads what it begins with, and nothing else what it leaves."""
        init, place = self.carry.init, self.around.index(self.loop)
        if init is None or not isinstance(self.s.facts[init], Num):
            return False
        first = [stmt for stmt in self.around[:place] if init in ir.reads_inside(stmt)]
        rest = [n for stmt in [*self.loop.body, *self.around[place + 1 :]] for n in ir.reads_inside(stmt)]
        passed = [n for c in self.loop.carries for n in (c.init, c.next)]
        makers = [stmt for stmt in self.around[:place] if isinstance(stmt, ir.Let) and stmt.targets == (init,)]
        made = len(makers) == 1 and is_call(makers[0].expr, "zeros_like")
        alone = passed.count(init) == passed.count(self.new) == 1 and init not in rest and self.old not in passed
        return made and alone and all(isinstance(stmt, ir.Store) and stmt.base == init for stmt in first)

    def rewrite(self) -> None:
        """Let one variable stand for what the loop carries, before it, in it and after it."""
        s, init = self.s, str(self.carry.init)
        self.loop.body[:] = [stmt for stmt in self.loop.body if stmt not in self.gone]
        self.loop.carries.remove(self.carry)
        fresh, memory = roots_of(s.facts[self.new]), roots_of(s.facts[init])
        for name, facts in s.facts.items():
            if isinstance(facts, Num) and facts.roots & fresh:
                s.facts[name] = replace(facts, roots=facts.roots - fresh | memory)
        names = dict.fromkeys((self.old, self.new, self.carry.out), init)
        for stmt in ir.walk(self.around):
            read_instead(stmt, names)


def is_name(expr: Any, *names: str) -> bool:
    return isinstance(expr, gast.Name) and expr.id in names


def is_addition(stmt: Any, *bases: str) -> bool:
    return isinstance(stmt, ir.Store) and stmt.base in bases and stmt.aug is gast.Add


def is_apart(stmt: ir.Store, names: set[str]) -> bool:
    """True if what is stored comes from none of some variables."""
    return names.isdisjoint(ir.variables_in(stmt.value)) and names.isdisjoint(ir.variables_in(stmt.index))


def is_zero(stmt: ir.Store) -> bool:
    return stmt.aug is None and isinstance(stmt.value, gast.Constant) and stmt.value.value == 0


def is_part(expr: Any) -> bool:
    """True if an expression is a part of an array between literal bounds."""
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
        return False
    parts = expr.slice.elts if isinstance(expr.slice, gast.Tuple) else [expr.slice]
    return all(isinstance(part, gast.Slice) and not ir.variables_in(part) for part in parts)
