"""Rewriting a program in which short arrays become numbers (see `short_arrays`)."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import Regions
from ...domain.facts import Num
from ...domain.values import Const, Leaf, ListV, SliceV, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import numpy_call
from ...interp.containers.items import items_of_leaf
from ...interp.kernel.operations import operate
from ...interp.kernel.specialiser import Specialiser
from ...ir.traversal import read_instead
from .sroa_candidates import Arrays, index_of, is_array

PLAIN = (TupleV, ListV, SliceV)


def replace_aggregates(s: Specialiser, where: Regions, program: ir.Block, results: Sequence[str]) -> bool:
    """Rewrite a program in place; whether there was something to gain. `results` are the variables that it returns."""
    statements = ir.walk(program)
    loops = [stmt for stmt in statements if isinstance(stmt, ir.Loop)]
    if not any(makes_vector(stmt) for stmt in ir.walk([x for loop in loops for x in loop.body])):
        return False
    if any(isinstance(stmt, (ir.Try, ir.With)) for stmt in statements):
        return False
    found = Arrays(s, where, program, set(results))
    lengths = found.short()
    if not lengths:
        return False
    outer = s.origin
    Separate(s, found, lengths, kept_names(s, statements, results)).block(program, s.lengths)
    s.origin = outer
    return True


def makes_vector(stmt: Any) -> bool:
    """True if a statement makes an array of a few numbers, as far as a look at it tells."""
    fn = stmt.op.fn if isinstance(stmt, ir.Let) and stmt.op is not None else None
    return fn is np.array or fn in (np.zeros, np.ones, np.empty)


def kept_names(s: Specialiser, statements: list[Any], results: Sequence[str]) -> set[str]:
    """The variables that somebody knows by their names: results, and what is in values of other kinds than numbers."""
    values = [v for stmt in statements for v in values_of(stmt)]
    return {*results, *(n for value in values if not is_simple(value) for n in s.leaves(value))}


def values_of(stmt: Any) -> list[Value]:
    op = getattr(stmt, "op", None)
    return [*(op.arguments.values() if op is not None else ()), *getattr(stmt, "operands", ())]


def is_simple(value: Value) -> bool:
    """True if a value is made of variables and constants only, so that one variable can be put in place of another."""
    return isinstance(value, (Leaf, Const)) or (isinstance(value, PLAIN) and all(map(is_simple, inside(value))))


def inside(value: Value) -> Sequence[Value]:
    return (value.start, value.stop, value.step) if isinstance(value, SliceV) else value.items


def with_names(value: Value, names: dict[str, str]) -> Value:
    """A simple value with other variables."""
    if isinstance(value, Leaf):
        return Leaf(names.get(value.name, value.name))
    if not isinstance(value, PLAIN):
        return value
    new = [with_names(item, names) for item in inside(value)]
    return SliceV(*new) if isinstance(value, SliceV) else replace(value, items=tuple(new))


class Separate:
    """The numbers of each short array; variables in `kept` keep their names."""

    def __init__(self, s: Specialiser, found: Arrays, lengths: dict[str, int], kept: set[str]) -> None:
        self.s, self.found, self.lengths, self.kept = s, found, lengths, kept
        self.names: dict[str, str] = {}  # what was an item -> the number
        self.items: dict[str, list[Value]] = {}
        self.whole = {name for name in lengths if found.wanted_whole(name, lengths)}
        self.loads: dict[int, list[str]] = {}  # id of a statement -> arrays that are taken apart before it
        for name in lengths:
            for array in found.recipes[name].arrays(s):
                home = found.home.get(array, id(found.program))
                stmt = dict(found.chains[name]).get(home)
                if array not in lengths and stmt is not None:
                    self.loads.setdefault(id(stmt), []).append(array)

    def block(self, block: ir.Block, lengths: Any, then: Any = None) -> None:
        """Rewrite the statements of a block; `then` is done at its end."""
        new: ir.Block = []
        with self.s.writing(new, lengths):
            for stmt in block:
                self.s.origin = getattr(stmt, "origin", None)
                for array in self.loads.get(id(stmt), ()):
                    self.values(array)
                self.statement(stmt)
            if then is not None:
                then()
        block[:] = new

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Let):
            self.let(stmt)
        elif isinstance(stmt, ir.Store) and stmt.base in self.lengths:
            self.store(stmt)
        elif isinstance(stmt, ir.Loop):
            self.loop(stmt)
        elif isinstance(stmt, ir.If):
            self.branch(stmt)
        else:
            self.append(stmt)

    def append(self, stmt: Any) -> None:
        """Write a statement that stays, and reads numbers in place of items."""
        if any(n in self.names for n in ir.uses(stmt)):
            read_instead(stmt, self.names)
            if getattr(stmt, "op", None) is not None:
                given = {k: with_names(v, self.names) for k, v in stmt.op.arguments.items()}
                stmt.op = replace(stmt.op, arguments=given)
            if isinstance(stmt, ir.Effect):
                stmt.operands = tuple(with_names(v, self.names) for v in stmt.operands)
            if isinstance(stmt, ir.Let):
                self.s.definitions[stmt.target] = stmt.expr
        self.s.block.append(stmt)

    def values(self, array: str) -> list[Value]:
        """The numbers of an array; one that is none of the short ones is taken apart here."""
        if array not in self.items:
            n = next(self.lengths[name] for name in self.lengths if array in self.found.recipes[name].arrays(self.s))
            self.items[array] = items_of_leaf(self.s, Leaf(array), self.s.facts[array], n)
            self.call_after(array, self.items[array])
        return self.items[array]

    def call_after(self, array: str, values: list[Value]) -> None:
        """Name new numbers after their array."""
        hint = self.s.hints[array]
        for k, value in enumerate(values):
            if isinstance(value, Leaf) and self.s.hints[value.name] == "t" and array in self.s.named:
                self.s.call(value.name, f"{hint}_{k}", self.s.roles.get(array))
                self.s.named.add(value.name)

    def becomes(self, array: str, values: list[Value]) -> None:
        """The numbers of an array are known, and where it is wanted whole, it is made of them."""
        self.items[array] = values
        if array in self.whole:
            numpy_call(self.s, np.array, [ListV(tuple(values))], {})
            self.s.block[-1].targets = (array,)
            self.s.definitions[array] = self.s.block[-1].expr

    # -- statements

    def let(self, stmt: ir.Let) -> None:
        s = self.s
        if stmt.target in self.lengths:
            values = self.made(stmt.target)
            self.call_after(stmt.target, values)
            self.becomes(stmt.target, values)
            return
        short = next((n for n in ir.reads(stmt) if n in self.lengths), None)
        how = "whole" if short is None else self.found.reading(stmt)
        if short is not None and how == "length":
            stmt = ir.Let(stmt.targets, ir.constant(self.lengths[short]), None, stmt.origin)
            s.definitions[stmt.target] = stmt.expr
        elif short is not None and how == "item":
            item = self.as_numpy(self.items[short][index_of(stmt)])
            if stmt.target not in self.kept:
                self.names[stmt.target] = item.name
                return
            stmt = ir.Let(stmt.targets, s.expr(item), ir.Op(np.positive, {"x": item}), stmt.origin)
            s.definitions[stmt.target] = stmt.expr
        self.append(stmt)

    def made(self, array: str) -> list[Value]:
        """The numbers of which a statement would make an array."""
        s, recipe, n = self.s, self.found.recipes[array], self.lengths[array]
        if recipe.kind == "display":
            return [with_names(v, self.names) for v in recipe.values]
        if recipe.kind in ("filled", "like"):
            return [Const(recipe.operator)] * n
        given = [with_names(v, self.names) for v in recipe.values]
        operands = [self.values(v.name) if is_array(s, v) else [v] * n for v in given]
        if recipe.kind == "same":
            return list(operands[0])
        if recipe.kind == "negative":
            return [self.negative(v) for v in operands[0]]
        return [self.operated(recipe.operator, a, b) for a, b in zip(*operands)]

    def operated(self, op: type, a: Value, b: Value) -> Value:
        """An operation on two numbers one of which is NumPy's, as an item of an array is."""
        if not self.is_numpy(a) and not self.is_numpy(b):
            a = self.as_numpy(a)
        return operate(self.s, op, a, b)

    def negative(self, value: Value) -> Value:
        value = self.as_numpy(value)
        expr = gast.UnaryOp(gast.USub(), self.s.expr(value))
        return emit_op.apply(self.s, np.negative, expr, [value], {}, operator.neg)

    def is_numpy(self, value: Value) -> bool:
        facts = self.s.num(value)
        return facts is not None and facts.kind == "npscalar"

    def as_numpy(self, value: Value) -> Value:
        return value if self.is_numpy(value) else numpy_call(self.s, np.float64, [value], {})

    def store(self, stmt: ir.Store) -> None:
        assert stmt.op is not None
        items, k = self.items[stmt.base], index_of(stmt)
        value = with_names(stmt.op.arguments["value"], self.names)
        items[k] = value if stmt.aug is None else self.operated(stmt.aug, items[k], value)
        self.call_after(stmt.base, items)

    def passed(self, name: str | None) -> list[Value]:
        """The numbers of an array as a loop or a branch hands them on."""
        assert name is not None
        return [self.as_numpy(v) for v in self.values(name)]

    def new_numbers(self, array: str) -> list[Value]:
        facts = Num("npscalar", np.dtype(float), ())
        values: list[Value] = [Leaf(self.s.fresh("t", facts)) for _ in range(self.lengths[array])]
        self.call_after(array, values)
        return values

    def loop(self, stmt: ir.Loop) -> None:
        s = self.s
        short = [c for c in stmt.carries if c.phi in self.lengths and c.out in self.lengths]
        inits = {c.phi: self.passed(c.init) for c in short}
        lengths = s.lengths_in(stmt.body)
        with s.within(lengths):
            phis = {c.phi: self.new_numbers(c.phi) for c in short}
        self.items |= phis
        nexts: dict[str, list[Value]] = {}
        self.block(stmt.head, s.lengths_in(stmt.head))
        front: ir.Block = []
        with s.writing(front, lengths):
            for c in short:
                self.becomes(c.phi, phis[c.phi])
        self.block(stmt.body, lengths, lambda: nexts.update({c.phi: self.passed(c.next) for c in short}))
        stmt.body[:0] = front
        outs = {c.phi: self.new_numbers(c.out) for c in short}
        carries = [c for c in stmt.carries if c not in short]
        for c in short:
            parts = zip(phis[c.phi], inits[c.phi], nexts[c.phi], outs[c.phi])
            carries += [ir.Carry(phi.name, init.name, after.name, out.name) for phi, init, after, out in parts]
        stmt.carries = carries
        self.append(stmt)
        for c in short:
            self.becomes(c.out, outs[c.phi])

    def branch(self, stmt: ir.If) -> None:
        if stmt in self.found.tests and any(n in self.lengths for n in ir.variables_in(stmt.test)):
            return
        short = [m for m in stmt.merges if m.target in self.lengths]
        sides: list[dict[str, list[Value]]] = []
        for block, side in ((stmt.then, "then"), (stmt.orelse, "orelse")):
            found: dict[str, list[Value]] = {}

            def at_end(found: Any = found, side: str = side) -> None:
                found.update({m.target: self.passed(getattr(m, side)) for m in short})

            self.block(block, self.s.lengths_in(block), at_end)
            sides.append(found)
        outs = {m.target: self.new_numbers(m.target) for m in short}
        merges = [m for m in stmt.merges if m not in short]
        for m in short:
            parts = zip(outs[m.target], sides[0][m.target], sides[1][m.target])
            merges += [ir.Merge(out.name, then.name, orelse.name) for out, then, orelse in parts]
        stmt.merges = merges
        self.append(stmt)
        for m in short:
            self.becomes(m.target, outs[m.target])
