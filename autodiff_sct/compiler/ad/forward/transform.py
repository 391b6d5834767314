"""Forward mode: each statement followed by its tangent, two for one.

A tangent's memory follows its primal's: a view's tangent is the same view, a write into an array is a write into its
tangent, a list's tangent is a list that is filled beside it.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from ....errors import NoRule
from ....rules.table import NONDIFFERENTIABLE, TABLE
from ....runtime import memory
from ... import ir
from ...analysis.alias import MOVES, UNCERTAIN, Regions, enclosing_loops, move, roots_of
from ...domain.facts import UNKNOWN, Listed, Mapped, Num, Pair
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op, indexing
from ...interp.calls.instantiate_rule import apply_rule, check_entries, holds_function
from ...interp.kernel.specialiser import Specialiser, is_slice
from ...ir import defined_in, ir_targets
from ...ir.function import Role
from ..activity import Activity
from ..magnitudes import Square, scaled, squared_magnitudes
from ..nested_gradients import nested_gradient, tangent_of_nested
from ..recursion.function_pairs import is_recursive
from ..recursion.reverse import tangent_call
from ..results import of_rank_0
from ..reverse.cotangents import as_numpys, copied, facts_like, fit, is_full, is_new, spread
from ..reverse.stores import check_base, check_number, check_parts
from ..strong_zeros import rule_for, with_strong_zeros, without_slope
from ..value_flow import operands
from .lists import attempt, multilinear, popped, refuse_lists, set_apart, sum_from, without_constants, zero_tangent


class Forward:
    """The state of a forward-mode program while it is written."""

    def __init__(self, s: Specialiser, activity: Activity, regions: Regions) -> None:
        self.s, self.activity, self.regions = s, activity, regions
        self.tangents: dict[str, Leaf] = {}
        self.around: dict[Any, tuple[ir.Loop, ...]] | None = None  # statement -> the loops around it
        self.order: dict[Any, int] = {}  # statement -> its place
        self.makers: dict[str, Any] = {}
        self.members: dict[int, list[str]] = {}  # the variables of a region
        self.handled = False  # whether the program handles what is raised here

    def index(self, block: ir.Block) -> None:
        """Number the statements of the program."""
        self.around = enclosing_loops(block)
        for place, stmt in enumerate(ir.walk(block)):
            self.order[stmt] = place
            self.makers |= dict.fromkeys(ir_targets(stmt), stmt)
        self.members = self.regions.members([*self.makers, *(e.name for e in self.s.externals.values())])
        self.squares = squared_magnitudes(self.s, self.regions, self.makers, block, self.active)

    def active(self, name: str) -> bool:
        return self.activity.active(name)

    def has_memory(self, name: str) -> bool:
        return isinstance(self.s.facts[name], (Listed, Mapped, Pair)) or self.regions.is_written(name)

    def of(self, name: str) -> Leaf:
        """The tangent of an active variable."""
        if name not in self.tangents:
            self.tangents[name] = self.variable(self.zero(name), name)
        return self.tangents[name]

    def zero(self, name: str) -> Value:
        return zero_tangent(self, name)

    def facts(self, name: str) -> Any:
        s = self.s
        facts = s.facts[name]
        if isinstance(facts, (Listed, Mapped)):
            return self.beside(facts)
        return self.followed(facts if isinstance(facts, Pair) else facts_like(s, name), name)

    def beside(self, facts: Any) -> Any:
        """The facts of a tangent whose primal has these: memory of its own for each place where memory is made."""
        if isinstance(facts, Pair):
            return replace(facts, items=tuple(map(self.beside, facts.items)))
        if not isinstance(facts, (Num, Listed, Mapped)):
            return facts
        s = self.s
        places = {r: s.root(("tangent of", r)) for r in sorted(facts.roots)}
        for primal, own in places.items():
            if primal in s.elements and own not in s.elements:
                s.elements[own] = s.elements[primal]  # a list may hold itself
                s.elements[own] = self.beside(s.elements[primal])
        return replace(facts, roots=frozenset(places.values()))

    def followed(self, facts: Any, name: str) -> Any:
        """The facts of a variable's tangent, which share memory with other tangents as the variable does with others.

        It matters where that memory is written: nothing is read of it before a write that follows, or after it.
        """
        primal = self.s.facts[name]
        if isinstance(primal, Num) and isinstance(facts, Num) and self.regions.is_written(name):
            return replace(facts, roots=self.beside(primal).roots)
        return facts

    def variable(self, value: Value, name: str) -> Leaf:
        s = self.s
        leaf = value if isinstance(value, Leaf) else s.let(s.expr(value), s.facts_of(value), may_raise=False)
        if leaf.name not in s.named:
            s.call_after(leaf.name, Role.TANGENT, name)
            if name in s.named:
                s.named.add(leaf.name)
        s.facts[leaf.name] = self.followed(s.facts[leaf.name], name)
        return leaf

    def set(self, name: str, value: Value) -> None:
        s = self.s
        facts = s.facts[name]
        if isinstance(facts, Num):
            given, value = value, fit(s, value, name)
            sharing = [] if is_new(s, value, given) else self.sharing(given)
            if not is_full(s, value, name):
                value = spread(s, value, name)
            elif sharing and any(map(self.regions.is_written, [name, *sharing])):
                value = copied(s, value)
            have = s.num(value)
            if facts.kind == "array" and facts.dims == () and (have is None or have.kind != "array"):
                value = s.let(of_rank_0(s, s.expr(value), facts), facts_like(s, name), may_raise=False)
        self.tangents[name] = self.variable(value, name)

    def sharing(self, given: Value) -> list[str]:
        """The variables whose tangents a value is, or may be: one of the two sides of a branch of a rule."""
        roots = roots_of(self.s.facts_of(given)) if isinstance(given, Leaf) else frozenset()
        return [n for n, t in self.tangents.items() if t == given or roots & roots_of(self.s.facts_of(t))]

    # -- blocks

    def block(self, block: ir.Block) -> ir.Block:
        """The block with the tangents' statements put in."""
        if self.around is None:
            self.index(block)
        result: ir.Block = []
        lengths = self.s.lengths_in(block)
        for stmt in list(block):
            with self.s.writing(result, lengths):
                outer, self.s.origin = self.s.origin, getattr(stmt, "origin", None)
                start = len(result)
                self.statement(stmt)
                if self.handled and stmt in result[start:]:
                    set_apart(self.s, result, result.index(stmt, start) + 1)
                self.s.origin = outer
        return result

    def statement(self, stmt: Any) -> None:
        s = self.s
        if isinstance(stmt, ir.Store):
            self.store(stmt)
            return
        if isinstance(stmt, ir.Loop):
            self.loop(stmt)
            return
        if is_recursive(stmt):
            tangent_call(self, stmt)
            return
        if isinstance(stmt, ir.Let) and stmt.op is not None and stmt.op.fn is list.pop and popped(self, stmt):
            return
        s.block.append(stmt)
        if isinstance(stmt, ir.Let):
            if stmt.op is not None and any(self.active(t) for t in stmt.targets):
                self.let(stmt, stmt.op)
        elif isinstance(stmt, ir.Effect):
            self.effect(stmt)
        elif isinstance(stmt, ir.If):
            stmt.then, stmt.orelse = self.block(stmt.then), self.block(stmt.orelse)
            for m in list(stmt.merges):
                if self.active(m.target):
                    self.merge(stmt, m)
        elif isinstance(stmt, ir.With):
            stmt.body = self.block(stmt.body)
        elif isinstance(stmt, ir.Try):
            attempt(self, stmt)

    # -- operations

    def let(self, stmt: ir.Let, op: ir.Op) -> None:
        s, fn = self.s, op.fn
        if fn is list:
            items = [self.item(v) for v in op.arguments["items"].items]
            leaf = s.let(gast.List([s.expr(v) for v in items], gast.Load()), self.facts(stmt.target), may_raise=False)
            self.tangents[stmt.target] = self.variable(leaf, stmt.target)
        elif fn is dict or fn in (operator.mul,) and "items" in op.arguments:
            self.tangents[stmt.target] = self.of(stmt.target)
        elif fn is operator.concat:
            parts = [self.s.expr(self.list_tangent(op.arguments[p])) for p in ("a", "b")]
            leaf = s.let(ir.binop(parts[0], gast.Add, parts[1]), self.facts(stmt.target), may_raise=False)
            self.tangents[stmt.target] = self.variable(leaf, stmt.target)
        elif fn is nested_gradient:
            tangent_of_nested(self, stmt)
        elif fn in (list.copy, operator.getitem) or self.is_view(stmt, op):
            self.same_operation(stmt)
        elif (
            fn in NONDIFFERENTIABLE
            or fn not in TABLE
            or all(not self.active(n) for v in op.arguments.values() for n in s.leaves(v))
        ):
            for target in stmt.targets:  # a constant that is written later
                if self.active(target):
                    self.of(target)
        else:
            self.operation(stmt, self.squares.get(stmt, Square(op)))

    def item(self, value: Value) -> Value:
        """The tangent of something that is put into a list."""
        if isinstance(value, TupleV):
            return TupleV(tuple(self.item(v) for v in value.items), value.cls)
        if isinstance(value, Leaf) and self.active(value.name):
            return self.of(value.name)
        if isinstance(value, Leaf):
            return self.zero(value.name)
        return Const(0.0)

    def is_view(self, stmt: ir.Let, op: ir.Op) -> bool:
        return bool(op.shares) and self.regions.is_written(stmt.target)

    def same_operation(self, stmt: ir.Let) -> None:
        """The same view of, or the same item out of, the tangent."""
        s = self.s
        assert stmt.op is not None
        check_number(s, stmt)
        if len(stmt.targets) > 1:
            check_parts(stmt)
        check_base(stmt, [n for n in stmt.op.shares if self.active(n)])
        base = stmt.op.shares[0] if stmt.op.shares else next(iter(stmt.op.arguments.values())).name
        tangent = self.of(base)
        expr = ir.substitute(stmt.expr, {base: s.expr(tangent)})
        if stmt.op.fn in UNCERTAIN and self.regions.is_written(stmt.target):
            helper_name = s.bind("tangent_view", memory.tangent_view)
            expr = ir.call(helper_name, expr, s.expr(tangent), ir.name(stmt.target), ir.name(base))
        roots = roots_of(s.facts[tangent.name])
        if isinstance(s.facts[base], Num) and not roots_of(s.facts[base]) & roots_of(s.facts[stmt.target]):
            roots = frozenset([s.root(("tangent", stmt.target))])  # of a copy
        facts = [
            replace(f, roots=roots or f.roots) if isinstance(f := s.facts[t], Num) and f.roots else f
            for t in stmt.targets
        ]
        leaves = [s.let(expr, facts[0], may_raise=False)] if len(facts) == 1 else s.let_several(expr, facts, None)
        for target, leaf in zip(stmt.targets, leaves):
            self.tangents[target] = self.variable(leaf, target)

    def operation(self, stmt: ir.Let, square: Square) -> None:
        s, op = self.s, square.op
        row = TABLE[op.fn]
        names = [p for p in op.arguments if any(self.active(n) for n in s.leaves(op.arguments[p]))]
        several = len(stmt.targets) > 1 or op.boxed
        y: Value = TupleV(tuple(Leaf(t) for t in stmt.targets), op.cls) if several else Leaf(stmt.target)
        total: list[Value]
        if op.fn is sum and op.arguments.get("start", Const(0)) != Const(0):
            total = [sum_from(self, stmt, op, names)]
        elif row.kind == "linear":
            if names != [next(iter(row.signature.parameters))]:
                raise NoRule(
                    f"{getattr(op.fn, '__name__', op.fn)} has no forward derivative with respect to {names[-1]!r}",
                    "wrap that argument in stop_gradient",
                    stmt.origin,
                    code="no-forward-rule",
                )
            total = [self.linear(stmt, op, names[0])]
            if len(stmt.targets) > 1:
                total = list(total[0].items)
        elif op.fn is np.linalg.multi_dot and isinstance(op.arguments["arrays"], ListV):
            total = [multilinear(self, stmt, op)]
        else:
            if row.forward is None:
                raise NoRule(
                    f"{getattr(op.fn, '__name__', op.fn)} has no forward rule",
                    "register one with autodiff_sct.rule.forward",
                    stmt.origin,
                    code="no-forward-rule",
                )
            total = self.shares(row, op, names, y, stmt)
        for target, value in zip(stmt.targets, total):
            if self.active(target):
                if value == Const(None):
                    self.of(target)
                else:
                    self.set(target, scaled(s, value, square.factors))

    def linear(self, stmt: ir.Let, op: ir.Op, parameter: str) -> Value:
        """A linear function of its tangent."""
        s = self.s
        argument = op.arguments[parameter]
        mapping: dict[str, Any] = {}
        for n in dict.fromkeys(s.leaves(argument)):
            mapping[n] = s.expr(self.of(n) if self.active(n) else self.variable(self.zero(n), n))
        expr = ir.substitute(without_constants(s, stmt, argument), mapping)
        facts = [f if not isinstance(f, Num) else facts_like(s, t) for t, f in ((t, s.facts[t]) for t in stmt.targets)]
        if len(stmt.targets) == 1:
            return s.let(expr, facts[0], may_raise=False)
        return TupleV(tuple(s.let_several(expr, facts, None)))

    def shares(self, row: Any, op: ir.Op, names: list[str], y: Value, stmt: ir.Let) -> list[Value]:
        """The sum of the inputs' shares of the result's tangent."""
        total: list[Value] | None = None
        for p in names:
            refuse_lists(self.s, row, op, p, stmt.origin)
            for given, pick in self.inputs(op.arguments[p]):
                single = self.s.careful and len(stmt.targets) == 1
                tangent = as_numpys(self.s, given, stmt.target) if single else given

                # One entry is used, and the others are written for tangents of other shapes.
                alone = ([p], pick or 0) if holds_function(op.arguments) else (None, None)

                def write(tangent: Value, arguments: Any, p: str = p, alone: Any = alone) -> dict[str, Value]:
                    written = apply_rule(self.s, rule_for(self.s, row, "forward"), op.fn, y, tangent, arguments, *alone)
                    check_entries(op.fn, written, [p], stmt.origin)
                    return written

                with self.s.learning_no_lengths():
                    entries = with_strong_zeros(self.s, op, tangent, write, [p])
                    entries |= without_slope(self.s, op, write, entries, p)
                entry = entries[p] if pick is None else self.nth(entries[p], pick)
                several = len(stmt.targets) > 1 or op.boxed
                parts = list(entry.items) if isinstance(entry, (TupleV, ListV)) and several else [entry]
                total = parts if total is None else [self.plus(a, b) for a, b in zip(total, parts)]
        assert total is not None
        return total

    def nth(self, entry: Value, k: int) -> Value:
        if isinstance(entry, (TupleV, ListV)):
            return entry.items[k]
        return self.s.let(ir.subscript(self.s.expr(entry), ir.constant(k)), UNKNOWN, may_raise=False)

    def inputs(self, argument: Value) -> list[tuple[Value, int | None]]:
        """The active variables of an argument: itself, or one by one where it is a tuple or a list display."""
        if isinstance(argument, Leaf):
            return [(self.of(argument.name), None)]
        result: list[tuple[Value, int | None]] = []
        for k, item in enumerate(argument.items):
            if isinstance(item, Leaf) and self.active(item.name):
                result.append((self.of(item.name), k))
        return result

    def plus(self, a: Value, b: Value) -> Value:
        s = self.s
        if a == Const(None) or b == Const(None):
            return b if a == Const(None) else a
        if isinstance(a, TupleV) and isinstance(b, TupleV):
            return TupleV(tuple(self.plus(one, other) for one, other in zip(a.items, b.items, strict=True)))
        return emit_op.apply(s, np.add, ir.binop(s.expr(a), gast.Add, s.expr(b)), [a, b], {}, operator.add)

    # -- writes

    def store(self, stmt: ir.Store) -> None:
        s = self.s
        assert stmt.op is not None
        base = stmt.op.arguments.get("x")
        if base is None or not self.active(base.name):
            s.block.append(stmt)
            return
        index, value = stmt.op.arguments["index"], stmt.op.arguments["value"]
        tangent = self.of(base.name)
        if stmt.aug is None:
            s.block.append(stmt)
            facts = s.facts[base.name]
            if isinstance(facts, Listed) and is_slice(index):
                given = self.list_tangent(value)
            else:
                given = self.stored(value, isinstance(facts, (Listed, Mapped)))
            s.block.append(ir.Store(tangent.name, stmt.index, s.expr(given), None, s.origin))
        elif stmt.op.fn in NONDIFFERENTIABLE:
            s.block += [stmt, ir.Store(tangent.name, stmt.index, ir.constant(0.0), None, s.origin)]
        elif stmt.aug in (gast.Add, gast.Sub):
            s.block.append(stmt)
            if any(self.active(n) for n in s.leaves(value)):
                s.block.append(ir.Store(tangent.name, stmt.index, s.expr(self.of(value.name)), stmt.aug, s.origin))
        else:
            self.augmented(stmt, base, index, value, tangent)

    def list_tangent(self, value: Leaf) -> Value:
        """The tangent of a list, zeros where it has none."""
        return self.of(value.name) if self.active(value.name) else self.zero(value.name)

    def stored(self, value: Value, as_item: bool) -> Value:
        """The tangent of what is put into an array, whose part one zero fills, or into a list or dict."""
        if isinstance(value, ListV):
            return ListV(tuple(self.item(v) for v in value.items))
        is_filled = isinstance(value, Leaf) and not self.active(value.name) and not as_item
        return Const(0.0) if is_filled else self.item(value)

    def augmented(self, stmt: ir.Store, base: Leaf, index: Value, value: Value, tangent: Leaf) -> None:
        s = self.s
        assert stmt.op is not None and stmt.aug is not None
        row = TABLE[stmt.op.fn]
        # All is read before the write: the operand may be memory that it changes.
        old = base if index == Const(Ellipsis) else indexing.load_item(s, base, index)
        slot = tangent if index == Const(Ellipsis) else indexing.load_item(s, tangent, index)
        new = emit_op.apply(s, stmt.op.fn, ir.binop(s.expr(old), stmt.aug, s.expr(value)), [old, value], {})
        first, second = list(row.signature.parameters)[:2]
        start = len(s.block)
        arguments = {first: old, second: value}
        total = apply_rule(s, row.forward, stmt.op.fn, new, slot, arguments)[first]
        if isinstance(value, Leaf) and self.active(value.name):
            total = self.plus(
                total, apply_rule(s, row.forward, stmt.op.fn, new, self.of(value.name), arguments)[second]
            )
        if isinstance(total, Leaf) and total == slot:
            total = copied(s, total)
        if self.handled:
            set_apart(s, s.block, start)
        s.block.append(stmt)
        s.block.append(ir.Store(tangent.name, stmt.index, s.expr(total), None, s.origin))

    def effect(self, stmt: ir.Effect) -> None:
        s = self.s
        if stmt.kind in ("append", "insert") and self.active(stmt.operands[0].name):
            base, value, *index = stmt.operands
            put = ir.attribute(s.expr(self.of(base.name)), stmt.kind)
            expr = ir.call(put, *map(s.expr, index), s.expr(self.item(value)))
            s.block.append(ir.Effect(expr, s.origin, "tangent"))
        elif stmt.kind == "delete" and self.active(stmt.operands[0].name):
            tangent = self.of(stmt.operands[0].name)
            expr = ir.call(ir.attribute(s.expr(tangent), "pop"), s.expr(stmt.operands[1]))
            s.block.append(ir.Effect(expr, s.origin, "tangent"))
        elif stmt.kind in MOVES and self.active(stmt.operands[0].name):
            base, *operands = stmt.operands
            s.block.append(ir.Effect(move(s, stmt.kind, self.of(base.name), *operands), s.origin, "tangent"))
        elif stmt.kind in ("add.at", "subtract.at"):
            base, index, value = stmt.operands
            if self.active(base.name) and any(self.active(n) for n in s.leaves(value)):
                name = stmt.kind.split(".")[0]
                callee = ir.attribute(ir.attribute(s.bind("np", np), name), "at")
                s.block.append(
                    ir.Effect(
                        ir.call(callee, s.expr(self.of(base.name)), s.expr(index), s.expr(self.of(value.name))),
                        s.origin,
                        "tangent",
                    )
                )

    # -- control

    def side(self, block: ir.Block, source: str | None) -> str | None:
        """The tangent of a variable at the end of a block."""
        if source is None:
            return None
        with self.s.writing(block):
            if self.active(source):
                return self.of(source).name
            return self.variable(self.zero(source), source).name

    def merge(self, stmt: ir.If, m: ir.Merge) -> None:
        target = self.s.fresh_after(Role.TANGENT, m.target, self.facts(m.target))
        if m.target in self.s.named:
            self.s.named.add(target)
        stmt.merges.append(ir.Merge(target, self.side(stmt.then, m.then), self.side(stmt.orelse, m.orelse)))
        self.tangents[m.target] = Leaf(target)

    def loop(self, stmt: ir.Loop) -> None:
        s = self.s
        carries = []
        for c in list(stmt.carries):
            if not (self.active(c.phi) or self.active(c.out)):
                continue
            phi, out = (s.fresh_after(Role.TANGENT, c.phi, self.facts(n)) for n in (c.phi, c.out))
            if c.phi in s.named:
                s.named |= {phi, out}
            init = self.side(s.block, c.init)
            self.tangents[c.phi] = Leaf(phi)
            carries.append((c, ir.Carry(phi, init, None, out)))
        outside = dict(self.tangents)
        for name in self.used_from_outside(stmt):
            outside[name] = self.of(name)
        s.block.append(stmt)
        stmt.head, stmt.body = self.block(stmt.head), self.block(stmt.body)
        for c, carry in carries:
            carry.next = self.side(stmt.body, c.next)
            stmt.carries.append(carry)
            outside[c.out] = Leaf(carry.out)
        self.tangents = outside

    def used_from_outside(self, stmt: ir.Loop) -> list[str]:
        inner = defined_in(stmt)
        names = [n for inside in ir.walk(stmt.body) for n in operands(self.s, inside)]
        names += [c.next for c in stmt.carries if c.next]
        return [n for n in dict.fromkeys(names) if n not in inner and self.active(n)]
