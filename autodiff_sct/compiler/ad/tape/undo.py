"""Undo of writes: memory that the reverse sweep reads is saved before a write, and put back after its reverse.

Every write gets a restore; `settle` keeps those that somebody needs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....runtime import objects
from ... import ir
from ...analysis.alias import MOVES, move
from ...domain.facts import UNKNOWN, Facts, Listed, Mapped, Num
from ...domain.values import Const, Leaf, Value
from ...interp.arrays import indexing
from ...ir.builder import Specialiser
from ...ir.element_facts import is_slice
from ..reverse.cotangents import helper, numpy_call
from ..reverse.lists import put_again, take_again


class Overwritten:
    """The old contents of a program's writes."""

    def __init__(self, s: Specialiser) -> None:
        self.s = s
        self.olds: dict[Any, Leaf] = {}
        self.before: dict[Any, list[ir.Let]] = {}
        self.restores: list[tuple[Any, Any]] = []  # (forward statement, the statement that undoes it)

    def old(self, stmt: ir.Store) -> Leaf:
        """The value that a write overwrites, saved before it."""
        assert stmt.op is not None
        return self.olds.get(stmt) or self.save(stmt, stmt.op.arguments["x"], stmt.op.arguments["index"])

    def save(self, stmt: Any, base: Leaf, index: Value) -> Leaf:
        s = self.s
        block: ir.Block = []
        with s.writing(block):
            leaf = self.read(base, index)
        s.hints[leaf.name] = f"old_{s.hints[base.name]}"
        s.named.add(leaf.name)
        for let in block:
            let.may_raise = False
        self.before[stmt] = block
        self.olds[stmt] = leaf
        return leaf

    def read(self, base: Leaf, index: Value) -> Leaf:
        """A part of memory, in memory of its own."""
        s = self.s
        facts: Any = s.facts[base.name]
        if isinstance(facts, Mapped):
            return s.let(helper(s, objects.peek, base, index), s.elements_of(facts) or UNKNOWN)
        if isinstance(facts, Listed):
            known: Facts = facts if is_slice(index) else s.elements_of(facts) or UNKNOWN
            return s.let(ir.subscript(s.expr(base), s.expr(index)), known)
        if index == Const(Ellipsis):
            own = frozenset([s.root(("old", s.counter))])
            return s.let(ir.call(ir.attribute(s.expr(base), "copy")), replace(facts, roots=own))
        taken = indexing.load_item(s, base, index)
        known = s.facts_of(taken)
        if not isinstance(known, Num) or known.kind == "npscalar" or not known.roots & facts.roots:
            return taken
        own = frozenset([s.root(("old", s.counter))])
        if known.kind == "array":
            return s.let(ir.call(ir.attribute(s.expr(taken), "copy")), replace(known, roots=own))
        return s.let(numpy_call(s, "copy", s.expr(taken)), replace(known, roots=own))

    def restore(self, stmt: Any) -> None:
        """Undo a write in the reverse sweep, where somebody needs what was there."""
        s = self.s
        undo: Any
        if isinstance(stmt, ir.Store):
            assert stmt.op is not None
            base, index = stmt.op.arguments["x"], stmt.op.arguments["index"]
            old = self.old(stmt)
            if isinstance(s.facts[base.name], Mapped):
                undo = ir.Effect(helper(s, objects.put_back, base, index, old), s.origin)
            else:
                undo = ir.Store(base.name, s.expr(index), s.expr(old), None, s.origin)
        elif isinstance(stmt, ir.Let):
            assert stmt.op is not None
            base = stmt.op.arguments["x"]
            undo = ir.Effect(put_again(s, base, stmt.op.arguments.get("index"), Leaf(stmt.target)), s.origin)
        elif stmt.kind in ("append", "insert"):
            base, _, *index = stmt.operands
            undo = ir.Effect(take_again(s, base, *index), s.origin)
        elif stmt.kind == "delete":
            base, key = stmt.operands
            old = self.olds.get(stmt) or self.save(stmt, base, key)
            undo = ir.Effect(helper(s, objects.put_back, base, key, old), s.origin)
        elif stmt.kind in MOVES:
            base = stmt.operands[0]
            undo = ir.Effect(move(s, stmt.kind, *stmt.operands, back=True), s.origin)
        elif stmt.kind.endswith(".at"):
            base, index = stmt.operands[0], stmt.operands[1]
            old = self.olds.get(stmt) or self.save(stmt, base, index)
            undo = ir.Store(base.name, s.expr(index), s.expr(old), None, s.origin)
        else:
            base = stmt.operands[0]
            undo = ir.Raise(None, stmt.origin)
        self.restores.append((stmt, undo))
        s.block.append(undo)
