"""What a program computes twice of the same values is computed once.

::

    y = np.exp(a) / np.sum(np.exp(a))             t = np.exp(a)
                                          ->      y = t / np.sum(t)

Operations on arrays whose memory the program does not write, in one block or in branches of it, where what reads the
second result makes something new of it.  So nobody can tell, and the reverse sweep has one value to think of.  The body
of a loop has its own values: no cotangent is carried through it for this.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions
from ...analysis.ownership import is_new
from ...domain.facts import Num
from ...domain.values import Leaf, TupleV
from ...ir.builder import Specialiser
from ...ir.rewrite import substitute_own
from .cross_sweep_cse import is_arithmetic, key_of


def once(s: Specialiser, where: Regions, program: ir.Block, results: Sequence[str]) -> None:
    """Drop statements of a program, in place; `results` are the variables that it returns."""
    Once(s, where, program, results).block(program, {})


class Once:
    """Looks for what is computed again."""

    def __init__(self, s: Specialiser, where: Regions, program: ir.Block, results: Sequence[str]) -> None:
        self.s, self.where, self.statements = s, where, ir.walk(program)
        self.shown = set(results)  # what somebody sees under its own name
        for stmt in self.statements:
            if isinstance(stmt, ir.Effect):
                self.shown.update(n for value in stmt.operands for n in s.leaves(value))

    @cached_property
    def readers(self) -> dict[str, list[Any]]:
        """For each variable, the statements that read it or pass it on."""
        readers: dict[str, list[Any]] = defaultdict(list)
        for stmt in self.statements:
            for name in set(ir.uses(stmt)):
                readers[name].append(stmt)
        return readers

    def block(self, block: ir.Block, known: dict[Any, str]) -> None:
        kept = []
        for stmt in block:
            if not isinstance(stmt, ir.Let) or not self.is_known(stmt, known):
                kept.append(stmt)
                for inner in ir.bodies(stmt):
                    self.block(inner, {} if isinstance(stmt, ir.Loop) else dict(known))
        block[:] = kept

    def is_known(self, stmt: ir.Let, known: dict[Any, str]) -> bool:
        """Whether a statement computes what there is already, which is read instead from then on."""
        key = key_of(self.s, self.where, stmt, {})
        if key is None or stmt.augments or self.where.is_written(stmt.target) or stmt.target in self.shown:
            return False
        found = known.setdefault(key, stmt.target)
        if found == stmt.target or not all(self.may_read(x, stmt.target) for x in self.readers[stmt.target]):
            return False
        readers = self.readers[stmt.target]
        for reader in readers:
            substitute_own(reader, {stmt.target: ir.name(found)})
            arguments = reader.op.arguments
            reader.op = replace(reader.op, arguments={k: renamed(v, stmt.target, found) for k, v in arguments.items()})
        self.readers[found] += readers
        return True

    def may_read(self, stmt: Any, name: str) -> bool:
        """Whether a statement only computes with a variable, or takes from an array, or puts there, what it picks."""
        return makes_new(stmt, name) or self.is_index(stmt, name)

    def is_index(self, stmt: Any, name: str) -> bool:
        """Whether a statement reads a variable as the index of what it reads or writes, by which that is no view."""
        if isinstance(stmt, ir.Store):
            picks = isinstance(self.s.facts[stmt.base], Num) and name not in (stmt.base, *ir.variables_in(stmt.value))
            return picks and stmt.op is not None
        expr = stmt.expr if isinstance(stmt, ir.Let) and stmt.op is not None and not stmt.effect else None
        if not isinstance(expr, gast.Subscript) or not isinstance(self.s.facts[stmt.target], Num):
            return False
        return name not in ir.variables_in(expr.value)


def makes_new(stmt: Any, name: str) -> bool:
    """Whether a statement is an operation that makes something new of a variable that is its argument."""
    if not isinstance(stmt, ir.Let) or stmt.effect or stmt.op is None:
        return False
    direct = ir.variables_in(stmt.expr).count(name) == sum(v == Leaf(name) for v in stmt.op.arguments.values())
    return direct and (is_new(stmt.expr) or is_arithmetic(stmt, name))


def renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, TupleV):
        return replace(value, items=tuple(renamed(item, old, new) for item in value.items))
    return Leaf(new) if value == Leaf(old) else value
