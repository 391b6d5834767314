"""What is the same in every step of a loop is computed before it, and reversed once, after the loop that reverses it.

::

    for _ in range(steps):                       t = (r * c) ** 2
        u = u + (r * c) ** 2 * lap(u)     ->     for _ in range(steps):
                                                     u = u + t * lap(u)

So the steps backwards add up the cotangent of ``t`` only.  It is for what carries a derivative, surely raises nothing
(`before_loops` says what that is) and has finite partial derivatives where its operands are finite: a loop may have no
steps, and zero times the derivative of ``sqrt(0.0)`` is no zero.  Operands are floats and arrays of doubles of which
the program writes none; what reads the result makes something new of it, so that nobody can tell that all steps have
the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import Regions
from ...analysis.may_raise import path
from ...ir.builder import Specialiser
from ...ir.patterns import literal
from ...ir.rewrite import read_instead
from ..loops.sroa import with_names
from .cse import makes_new
from .licm import SUMS, Kinds, is_number

WITH_FINITE_DERIVATIVES = (np.sin, np.cos, np.tanh, np.arctan, np.square)


def reverse_once(s: Specialiser, where: Regions, forward: ir.Block, active: set[str], again: bool) -> bool:
    """Move statements of the forward sweep before its loops, in place.

    `again` says that a call that raises may be run again; the result, whether one that raises has to be.
    """
    once = ReversedOnce(s, where, forward, active, again)
    if not any(isinstance(stmt, ir.Let) and stmt.loud for stmt in ir.walk(forward)):
        once.block(forward, set())
    return once.relies


class ReversedOnce:
    """Looks for what the steps of loops have in common."""

    def __init__(self, s: Specialiser, where: Regions, forward: ir.Block, active: set[str], again: bool) -> None:
        self.s, self.where, self.active = s, where, active
        self.kinds, self.safe, self.relies = Kinds(s, again), Kinds(s, False), False
        self.defined = ir.defined(forward)
        self.readers: dict[str, list[Any]] = defaultdict(list)
        for stmt in ir.walk(forward):
            for name in set(ir.uses(stmt)):
                self.readers[name].append(stmt)

    def block(self, block: ir.Block, there: set[str]) -> None:
        """Rewrite a block and those inside it; `there` are the variables that have a value before it."""
        for stmt in list(block):
            if isinstance(stmt, ir.Loop):
                moved = self.moved(stmt, there)
                place = block.index(stmt)
                block[place:place] = moved
                there.update(let.target for let in moved)
            for inner in ir.bodies(stmt):
                self.block(inner, {*there, *ir.ir_targets(stmt)})
            there.update([c.out for c in stmt.carries] if isinstance(stmt, ir.Loop) else ir.ir_targets(stmt))

    def moved(self, loop: ir.Loop, there: set[str]) -> list[ir.Let]:
        """The statements of a loop that are computed before it, taken out of it."""
        same: dict[str, ir.Let] = {}
        for stmt in always_run(loop):
            if isinstance(stmt, ir.Let) and self.is_same(stmt, there | same.keys()):
                same[stmt.target] = stmt
        wanted = {name for name, let in same.items() if name in self.active and not is_part(let)}
        for name, let in reversed(same.items()):
            if name in wanted:
                wanted.update(n for n in ir.reads(let) if n in same)
        names: dict[str, str] = {}
        known: dict[str, str] = {}
        moved = []
        for let in [same[name] for name in same if name in wanted]:
            self.take(let, names, known)
            if let.target not in names:
                moved.append(let)
        for stmt in ir.walk(loop.body) if moved else ():
            if isinstance(stmt, ir.Let) and stmt.target not in wanted and self.is_same(stmt, there | wanted):
                if gast.dump(stmt.expr) in known:
                    wanted.add(stmt.target)
                    self.take(stmt, names, known)
        without(loop, wanted)
        self.relies = self.relies or any(self.safe.of(let.expr) is None for let in moved)
        return moved

    def take(self, let: ir.Let, names: dict[str, str], known: dict[str, str]) -> None:
        """Note what a statement computes; if another does already, that one is read instead."""
        found = known.setdefault(gast.dump(let.expr), let.target)
        if found == let.target:
            return
        names[let.target] = found
        for reader in self.readers[let.target]:
            read_instead(reader, {let.target: found})
            if reader.op is not None:
                arguments = {k: with_names(v, names) for k, v in reader.op.arguments.items()}
                reader.op = replace(reader.op, arguments=arguments)
        self.readers[found] += self.readers[let.target]

    def is_same(self, stmt: ir.Let, there: set[str]) -> bool:
        """Whether a statement gives the same in every step, and that is only computed with."""
        if len(stmt.targets) != 1 or stmt.effect or stmt.in_place or stmt.augments or stmt.counted or stmt.op is None:
            return False
        names = ir.variables_in(stmt.expr)
        if not names or not all((n in there or n not in self.defined) and n not in self.s.unbound for n in names):
            return False
        if any(self.where.is_written(n) and not is_number(self.s.facts[n]) for n in (*names, stmt.target)):
            return False
        if not is_tame(self.s, stmt.expr) or self.kinds.of(stmt.expr) is None:
            return False
        number = is_number(self.s.facts[stmt.target])
        readers = self.readers[stmt.target]
        return all(is_operation(x) if number else makes_new(x, stmt.target) for x in readers)


def always_run(loop: ir.Loop) -> Iterator[Any]:
    """The statements of a loop, and of the loops inside it, that stand in no branch."""
    for stmt in loop.body:
        yield stmt
        if isinstance(stmt, ir.Loop):
            yield from always_run(stmt)


def without(loop: ir.Loop, names: Sequence[str] | set[str]) -> None:
    """Drop what computes some variables from a loop."""
    for stmt in [loop, *ir.walk(loop.body)]:
        for block in ir.bodies(stmt):
            block[:] = [x for x in block if not (isinstance(x, ir.Let) and x.target in names)]


def is_operation(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and not stmt.effect and stmt.op is not None


def is_part(let: ir.Let) -> bool:
    return isinstance(let.expr, gast.Subscript)


def is_tame(s: Specialiser, expr: Any) -> bool:
    """Whether an operation has finite derivatives where its operands are finite."""
    if isinstance(expr, (gast.Subscript, gast.UnaryOp)):
        return True
    if isinstance(expr, gast.Call):
        return path(s, expr.func) in WITH_FINITE_DERIVATIVES
    if not isinstance(expr, gast.BinOp):
        return False
    if isinstance(expr.op, SUMS):
        return True
    number = literal(expr.right)
    if isinstance(expr.op, gast.Pow):
        return type(number) is int and number > 0
    return isinstance(expr.op, gast.Div) and type(number) in (int, float) and number != 0
