"""The cotangent of a copy is added to that of the original as it comes, without an array of its own.

::

    old = u.copy()                        d_part = d_u[1:-1].copy()             d_part = d_u[1:-1].copy()
    u[1:-1] = old[1:-1] + k * old[2:]     d_u[1:-1] = 0.0                       d_u[2:] += d_part * k
                                          d_old = np.zeros_like(old)
                                          d_old[2:] += d_part * k         ->
                                          d_old[1:-1] += d_part
                                          d_u += d_old

Many a step of a stencil is written so.  It is right where, from the first share of the copy's cotangent on, the
original's is added to only; what is taken out of it and cleared there may be so a little earlier.  A part that is
cleared, and to which the same numbers are added again, keeps them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from .. import ir
from ..facts import Num
from ..peephole import is_call, is_ellipsis
from ..regions import roots_of
from ..specialise.state import Specialiser
from ..substitution import substitute_own
from .memory import is_alike
from .taken_over import is_addition, is_name, is_zero


def add_through(s: Specialiser, reverse: ir.Block, final: ir.Return) -> None:
    """Rewrite the blocks of the reverse sweep, in place."""
    for block in [reverse, *(inner for stmt in ir.adjoint_walk(reverse) for inner in ir.adjoint_bodies(stmt))]:
        for zero in [stmt for stmt in block if isinstance(stmt, ir.Let) and is_call(stmt.expr, "zeros_like")]:
            copied = Copied(s, [*reverse, final], block, zero)
            if copied.is_added():
                copied.rewrite()


class Copied:
    """The cotangent of a copy, which begins as zeros, and of the original, to which all of it is added."""

    def __init__(self, s: Specialiser, program: ir.Block, block: ir.Block, zero: ir.Let) -> None:
        self.s, self.program, self.block, self.zero, self.new = s, program, block, zero, zero.target
        self.taking: list[Any] = []  # what reads and clears the original's cotangent before anything is added to it

    def is_added(self) -> bool:
        """Whether the shares of the copy's cotangent may go to the original's at once."""
        whole = [x for x in self.block if isinstance(x, ir.Store) and x.aug is gast.Add and is_name(x.value, self.new)]
        if len(whole) != 1 or not is_ellipsis(whole[0].index) or not isinstance(self.s.facts[self.new], Num):
            return False
        self.whole, self.old = whole[0], whole[0].base
        start, end = self.block.index(self.zero), self.block.index(self.whole)
        if self.old == self.new or not is_alike(self.s, self.old, self.new):
            return False
        between = self.block[start + 1 : end]
        return self.only_grows(between) and self.is_left_alone(between)

    def only_grows(self, between: ir.Block) -> bool:
        """Whether all that is done with the copy's cotangent is to add to it and to its parts."""
        region, inside = roots_of(self.s.facts[self.new]), set(map(id, ir.walk(between)))
        for stmt in ir.walk(self.program):
            if stmt is self.zero or stmt is self.whole or not self.touches(stmt, region):
                continue
            if id(stmt) not in inside or not (self.is_view(stmt) or self.adds(stmt, region)):
                return False
        return True

    def is_left_alone(self, between: ir.Block) -> bool:
        """Whether what is done with the original's cotangent is to add to it, once parts of it have been taken out."""
        region, grows = roots_of(self.s.facts[self.old]), False
        late = {name for stmt in between for name in (*ir.ir_targets(stmt), *ir.defined_in(stmt))}
        for stmt in between:
            touching = [inner for inner in ir.inside(stmt) if self.touches(inner, region)]
            if all(self.adds(inner, region) for inner in touching):
                grows = grows or bool(touching)
                continue
            late -= {name for taken in self.taking for name in taken.targets} if not grows else set()
            if grows or not self.takes(stmt) or late & set(ir.reads(stmt)):
                return False
            self.taking.append(stmt)
        return True

    def touches(self, stmt: Any, region: frozenset[int]) -> bool:
        """Whether a statement itself, or what it passes on, reads or writes memory of a region."""
        return any(not region.isdisjoint(roots_of(self.s.facts[n])) for n in ir.uses(stmt) if n in self.s.facts)

    def adds(self, stmt: Any, region: frozenset[int]) -> bool:
        """Whether a statement adds to a part of an array something that does not come from that."""
        if not isinstance(stmt, ir.Store) or stmt.aug not in (gast.Add, gast.Sub):
            return False
        names = [*ir.variables_in(stmt.value), *ir.variables_in(stmt.index)]
        return all(region.isdisjoint(roots_of(self.s.facts[n])) for n in names if n in self.s.facts)

    def is_view(self, stmt: Any) -> bool:
        return isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and part_of(stmt.expr) is not None

    def takes(self, stmt: Any) -> bool:
        """Whether a statement takes a part of the original's cotangent, copies that, or clears one."""
        if isinstance(stmt, ir.Let) and is_call(stmt.expr, "copy"):
            return len(stmt.targets) == 1 and isinstance(stmt.expr.func.value, gast.Name) and not stmt.expr.args
        return self.is_view(stmt) or (isinstance(stmt, ir.Store) and is_zero(stmt))

    def rewrite(self) -> None:
        """Let one variable stand for both."""
        s, block = self.s, self.block
        gone = {id(self.zero), id(self.whole), *map(id, self.taking)}
        place = block.index(self.zero)
        block[place:] = [*self.taking, *(stmt for stmt in block[place:] if id(stmt) not in gone)]
        fresh, memory = roots_of(s.facts[self.new]), roots_of(s.facts[self.old])
        for name, facts in s.facts.items():
            if isinstance(facts, Num) and facts.roots & fresh:
                s.facts[name] = replace(facts, roots=facts.roots - fresh | memory)
        for stmt in ir.walk(block):
            substitute_own(stmt, {self.new: ir.name(self.old)})
        self.keep_part(self.taken_until(place + len(self.taking)))

    def taken_until(self, place: int) -> ir.Block:
        """The statements that only take parts out of the original's cotangent, the last ones before a place."""
        region = roots_of(self.s.facts[self.old])
        touching = [x for x in self.block[:place] if any(self.touches(inner, region) for inner in ir.inside(x))]
        while touching and not all(map(self.takes, touching)):
            touching.pop(0)
        return touching

    def keep_part(self, taking: ir.Block) -> None:
        """Drop a clearing of a part to which the numbers taken out of it are added later."""
        cleared = [stmt for stmt in taking if isinstance(stmt, ir.Store)]
        if len(cleared) != 1 or cleared[0].base != self.old or not is_slices(cleared[0].index):
            return
        views = {stmt.target: part_of(stmt.expr) for stmt in self.block if self.is_view(stmt)}
        part = (self.old, gast.dump(cleared[0].index))
        before = taking[: taking.index(cleared[0])]
        copies = [x.target for x in before if is_call(x.expr, "copy") and views.get(x.expr.func.value.id) == part]
        added = [
            stmt
            for stmt in self.block
            if is_addition(stmt, self.old, *views)
            and is_name(stmt.value, *copies)
            and part in (views.get(stmt.base) if is_ellipsis(stmt.index) else None, (stmt.base, gast.dump(stmt.index)))
        ]
        written = [stmt.base for stmt in ir.walk(self.block) if isinstance(stmt, ir.Store)]
        if len(added) == 1 and added[0].value.id not in written:
            for stmt in (cleared[0], added[0]):
                self.block.remove(stmt)


def part_of(expr: Any) -> tuple[str, str] | None:
    """The array and the index of an expression that is a part of it along its axes."""
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name) or not is_slices(expr.slice):
        return None
    return expr.value.id, gast.dump(expr.slice)


def is_slices(index: Any) -> bool:
    return all(isinstance(part, gast.Slice) for part in (index.elts if isinstance(index, gast.Tuple) else [index]))
