"""Availability: values that the reverse sweep has at hand or recomputes at no more cost than a saved one.

What is told of one variable is told of many others that are computed from it, so it is kept; it holds until something
is made available, and whoever does that asks a new `AtHand` afterwards.

Memory that the reverse sweep reads is saved before a write, and put back after its reverse (`Overwritten`).  Every
write gets a restore; `settle` keeps those that somebody needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ....runtime import objects
from ... import ir
from ...analysis.alias import MOVES, move
from ...analysis.liveness import Liveness
from ...domain.facts import UNKNOWN, Facts, Listed, Mapped, Num, Pair
from ...domain.values import Const, Leaf, Value
from ...interp.arrays import indexing
from ...interp.calls.recursive_functions import Recursion
from ...interp.kernel.specialiser import Specialiser, is_slice
from ..reverse.cotangents import helper, numpy_call
from ..reverse.lists import put_again, take_again

if TYPE_CHECKING:
    from .insert import Record

ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def is_arithmetic(expr: Any) -> bool:
    """True if an expression is one of the four operations, a change of sign or a square."""
    if isinstance(expr, gast.UnaryOp):
        return isinstance(expr.op, gast.USub)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow):
        return isinstance(expr.right, gast.Constant) and expr.right.value in (2, 2.0)
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, ARITHMETIC)


def is_power_of_constant(expr: Any) -> bool:
    """True if an expression is a number from the program's text to some power: ``0.9**t``."""
    power = isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow)
    return power and isinstance(expr.left, gast.Constant)


def is_math(stmt: ir.Let) -> bool:
    """True if a statement calls `float` or a function of `math`, which take no longer than to save a number."""
    if stmt.op is None or not isinstance(stmt.expr, gast.Call):
        return False
    return stmt.op.fn is float or getattr(stmt.op.fn, "__module__", "") == "math"


def is_function(stmt: ir.Let) -> bool:
    """True if a statement calls an elementwise function of NumPy's, or one of `math`, of one number."""
    if stmt.op is None or not isinstance(stmt.expr, gast.Call) or len(stmt.expr.args) != 1 or stmt.expr.keywords:
        return False
    return isinstance(stmt.op.fn, np.ufunc) or is_math(stmt)


QUICK = (float, math.sqrt, math.fabs)


def computed_anyway(s: Specialiser, forward: ir.Block, reverse: ir.Block, final: ir.Return) -> frozenset[str]:
    """The functions of `math` that machine code saves: those that take longer, and that the forward sweep computes.

    It computes what somebody reads beside the reverse sweep, for which it may be computed there.
    """
    found = {
        stmt.target
        for stmt in ir.walk(forward)
        if isinstance(stmt, ir.Let) and is_math(stmt) and stmt.op is not None and stmt.op.fn not in QUICK
    }
    if not found:
        return frozenset()
    read = {n for stmt in [*reverse, final] for n in ir.reads_inside(stmt)} - found
    rest = ir.Return(ir.tuple_([ir.name(n) for n in sorted(read)]))
    return frozenset(found & Liveness(s, [*forward, rest], set(), set()).live)


def is_test(expr: Any) -> bool:
    """True if an expression compares numbers, or is a test the other way round."""
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Not):
        return isinstance(expr.operand, gast.Name) or is_test(expr.operand)
    operands = [expr.left, *expr.comparators] if isinstance(expr, gast.Compare) else [None]
    return all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)


@dataclass
class AtHand:
    record: Record
    forward: ir.Block
    names: dict[str, str]  # what is available, each under its name in the reverse sweep
    cheap: dict[str, bool] = field(default_factory=dict)  # what `is_cheap` has told
    lacks: dict[str, frozenset[str] | None] = field(default_factory=dict)  # what `lacking` has told
    invariant: dict[str, bool] = field(default_factory=dict)  # what `is_invariant` has told

    def is_cheap(self, name: str) -> bool:
        """True if a variable costs next to nothing to compute again."""
        stmt, known = self.record.homes[name].stmt, self.cheap.get(name)
        if known is not None:
            return known
        if isinstance(stmt, ir.Loop):
            known = name == stmt.index and stmt.kind != "iter"
        else:
            repeats = isinstance(stmt, ir.Let) and self.may_repeat(stmt)
            known = (
                (repeats and all(self.is_there(n) for n in ir.reads(stmt)))
                or self.lacking(name) == frozenset()
                or self.stays(name)
            )
        self.cheap[name] = known
        return known

    def stays(self, name: str) -> bool:
        """True if a number is still in an array, and the place is known."""
        item = self.record.lasting.get(name)
        return item is not None and all(self.is_there(n) for n in ir.variables_in(item))

    def lacking(self, name: str) -> frozenset[str] | None:
        """The missing operands of the one operation that computes a variable again; None where no operation does.

        What numbers and views are made of may itself be computed again; an array takes one pass over memory, which is
        less than to keep one costs.
        """
        if name in self.lacks:
            return self.lacks[name]
        record, found = self.record, None
        stmt, facts = record.homes[name].stmt, record.s.facts[name]
        if isinstance(stmt, ir.Let) and not stmt.effect and isinstance(facts, Num):
            number = facts.kind == "int" or facts.kind != "array" and facts.dims == () and facts.dtype == np.float64
            there = record.wanted.get(id(self.forward), ())
            if (number or is_view(stmt)) and isinstance(stmt.expr, gast.Subscript) and self.may_repeat(stmt):
                found = frozenset([n for n in ir.reads(stmt) if n not in there and not self.is_there(n)])
            elif self.is_quick(name, stmt, facts) if number else record.is_pass(stmt):
                found = frozenset()
                for operand in map(record.first, ir.reads(stmt)):
                    if operand not in there and not self.is_at_hand(operand):
                        local = record.is_local(operand, self.forward)
                        again = local and (number or is_view(record.homes[operand].stmt))
                        deeper = self.lacking(operand) if again else None
                        found |= {operand} if deeper is None else deeper
        self.lacks[name] = found
        return found

    def is_quick(self, name: str, stmt: ir.Let, facts: Num) -> bool:
        """True if computing a number takes no longer than to save it."""
        if is_arithmetic(stmt.expr) or is_power_of_constant(stmt.expr):
            return True
        return facts.python and name not in self.record.computed and is_math(stmt)

    def is_at_hand(self, name: str) -> bool:
        """True if an operand needs no pass over memory of its own."""
        record = self.record
        passed = record.is_local(name, self.forward) and record.is_pass(record.homes[name].stmt)
        return self.is_there(name) and not passed

    def is_there(self, name: str) -> bool:
        """True if a variable is at hand in the reverse sweep of a block, or can be computed again there."""
        home = self.record.homes.get(name)
        if home is None or not home.repeated or name in self.names:
            return True
        return home.block is self.forward and self.is_cheap(name)

    def may_repeat(self, stmt: ir.Let) -> bool:
        """True if computing a statement again gives the same at next to no cost."""
        if stmt.effect or len(stmt.targets) != 1 or (stmt.op is not None and isinstance(stmt.op.fn, Recursion)):
            return False
        facts = self.record.s.facts[stmt.target]
        if isinstance(stmt.expr, (gast.Constant, gast.Name)):
            return True
        operands = ir.reads(stmt)
        if isinstance(stmt.expr, gast.JoinedStr):  # a key, such as f"w{i}"
            return all(self.is_settled(n, stmt) for n in operands)
        if is_test(stmt.expr):  # of numbers that come back by themselves, such as the loop's index
            return all(self.is_scalar(n) for n in [stmt.target, *operands])
        if stmt.op is None and not isinstance(stmt.expr, (gast.Attribute, gast.Subscript)):
            return False
        if self.is_invariant(stmt.target):
            return True  # computed of numbers from outside the loop, as it was in each step
        if self.is_length(stmt.expr):
            return True  # whatever is written into an array, its shape stays
        if isinstance(facts, Num) and facts.python and facts.dtype is not None and facts.dtype.kind in "ib":
            return all(self.is_settled(n, stmt) for n in operands)
        if isinstance(stmt.expr, gast.Subscript) and stmt.op is not None and isinstance(facts, (Num, Pair, Listed)):
            if stmt.op.shares:
                return True
            base = stmt.op.arguments.get("x")
            if not isinstance(base, Leaf):
                return False
            scalar = isinstance(facts, Num) and facts.kind == "npscalar"
            container = isinstance(self.record.s.facts[base.name], (Listed, Mapped, Pair))
            return (scalar or container) and self.record.memory.stays(base.name, stmt)
        return stmt.op is not None and bool(stmt.op.shares) and isinstance(stmt.expr, gast.Attribute)

    def is_length(self, expr: Any) -> bool:
        """True if an expression is the length of an axis of an array."""
        if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len" and len(expr.args) == 1:
            array = expr.args[0]
        elif isinstance(expr, gast.Subscript) and isinstance(expr.slice, gast.Constant):
            array = expr.value.value if getattr(expr.value, "attr", "") == "shape" else None
        else:
            return False
        facts = self.record.s.facts.get(array.id) if isinstance(array, gast.Name) else None
        return isinstance(facts, Num) and facts.kind == "array" and "len" not in self.record.s.globals

    def is_scalar(self, name: str) -> bool:
        """True if a variable is a number, not an array of one."""
        facts = self.record.s.facts[name]
        return isinstance(facts, Num) and facts.dims == () and (facts.python or facts.kind == "npscalar")

    def is_invariant(self, name: str) -> bool:
        """True if a number is the same in every iteration of every loop."""
        home, known = self.record.homes.get(name), self.invariant.get(name)
        if known is None:
            known = self.is_scalar(name)
            if known and home is not None and home.repeated:
                let = isinstance(home.stmt, ir.Let)
                computes = let and (isinstance(home.stmt.expr, (gast.BinOp, gast.UnaryOp)) or is_function(home.stmt))
                known = computes and all(map(self.is_invariant, ir.reads(home.stmt)))
            self.invariant[name] = known
        return known

    def is_settled(self, name: str, reader: Any) -> bool:
        """True if a variable means the same in the reverse sweep as where a statement reads it.

        So does a number, and memory that nobody writes any more.
        """
        facts = self.record.s.facts[name]
        return (isinstance(facts, Num) and facts.python) or self.record.memory.stays(name, reader)


def is_view(stmt: Any) -> bool:
    """True if a statement takes a part of an array without a copy."""
    return isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Subscript) and bool(stmt.op and stmt.op.shares)


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
