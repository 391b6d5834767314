"""Reverse mode: the statements of the forward sweep, each followed backwards.

A value that is never changed has a functional cotangent, collected by addition; memory that is written has one
*shadow*, made where the reverse sweep of its block begins, and a view's shadow is the same view of it (`shadows`).  The
reverse sweep freely reads variables of the forward sweep: what has to be kept for that, or computed again, is
`record`'s affair.
"""

from __future__ import annotations

import operator
from functools import cached_property
from itertools import zip_longest
from typing import Any

import gast
import numpy as np

from ....core import process_state
from ....errors import NoRule
from ....rules.table import BROADCASTING, NONDIFFERENTIABLE, TABLE
from ....runtime import memory
from ... import ir
from ...analysis.alias import Regions, enclosing_loops
from ...analysis.ownership import Generations
from ...domain.facts import FLOAT, UNKNOWN, Listed, Mapped, Num, Pair, is_same
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.calls.instantiate_rule import apply_rule, check_entries
from ...interp.calls.recursive_functions import Recursion
from ...interp.kernel.specialiser import Specialiser
from ...ir import ir_targets
from ..activity import Activity
from ..magnitudes import Square, as_square, multiplied, scaled, squared_magnitudes
from ..nested_gradients import nested_gradient, reverse_nested
from ..recursion.reverse import reverse_call
from ..strong_zeros import is_selection, with_strong_zeros
from ..tape.availability import Overwritten
from ..tape.subscript_dependence import Places
from .container_aliasing import check_copied
from .cotangents import (
    Adjoint,
    as_numpys,
    copied,
    fit,
    fits,
    helper,
    is_full,
    is_narrower,
    is_new,
    is_unbound,
    name_adjoint,
    spread,
    zeros,
)
from .lists import (
    fit_items,
    is_sum_of_numbers,
    item_read,
    joined,
    list_made,
    note_parts,
    numbers_summed,
    popped,
    rule_of,
)
from .loops import reverse_attempt, reverse_branch, reverse_loop, reverse_with
from .primal_shadows import reverse_moved
from .shadows import Shadows
from .stores import effect, stored

NOTHING, ZERO = Const(None), Const(0.0)
PRODUCTS = {operator.matmul, np.matmul, np.linalg.matmul, np.dot, np.ndarray.dot, np.linalg.solve}


class Reverse:
    """The state of a reverse sweep while it is written."""

    def __init__(self, s: Specialiser, activity: Activity, regions: Regions) -> None:
        self.s, self.activity, self.regions = s, activity, regions
        self.adjoints: dict[str, Adjoint] = {}
        self.shadows = Shadows(self)
        self.overwritten = Overwritten(s)
        self.positions: dict[Any, int] = {}  # statement of the reverse sweep -> place of the one that it reverses
        self.order: dict[Any, int] = {}  # statement of the forward sweep -> its place
        self.renames: dict[str, str] = {}
        self.shared_lists: set[str] = set()
        self.kept_regions: set[int | None] = set()  # whose old content is restored whoever reads it
        self.outputs: set[str] = set()
        self.budgets: dict[Any, ir.Let] = {}  # loops whose segments the run chooses, and where it does
        self.joint = False  # whether both sweeps are one function, so that an error in either comes out of the call
        self.attempts = 0  # handlers of exceptions around the statement
        self.variant: Any = None  # of a recursive function: what is being emitted, and the variable of its state
        self.state = ""

    # -- cotangents

    def index(self, block: ir.Block) -> None:
        """Number the statements of the forward sweep, and note where variables are defined and used."""
        self.program = block
        self.around = enclosing_loops(block)
        self.first = {external.name: -1 for external in self.s.externals.values()}
        self.last: dict[str, int] = {}
        self.makers: dict[str, Any] = {}
        for place, stmt in enumerate(ir.walk(block)):
            self.order[stmt] = place
            for name in ir_targets(stmt):
                self.first[name] = place
                self.makers[name] = stmt
            for name in [*ir.reads(stmt), *(n for c in getattr(stmt, "carries", []) for n in (c.init, c.next) if n)]:
                self.last[name] = place
        self.last |= dict.fromkeys(self.outputs, len(self.order))  # the caller reads them, also where only of seeds
        self.generations = Generations(self.s, self.regions, block)
        self.squares = squared_magnitudes(self.s, self.regions, self.makers, block, self.activity.active)
        self.members = self.regions.members(self.first)

    @cached_property
    def places(self) -> Places | None:
        """The places of reads and writes in the forward sweep; None where steps may be cut off, rerun or recursive."""
        program = ir.walk(self.program)
        cut = any(isinstance(x, ir.Try) or isinstance(x, ir.Loop) and x.every is not None for x in program)
        return None if cut or self.variant is not None else Places(self.program)

    def uses_after(self, stmt: Any) -> list[str]:
        return [name for name, place in self.last.items() if place > self.order[stmt]]

    def defined_before(self, stmt: Any) -> set[str]:
        """The variables that are defined where a statement begins: results of those around it are not."""
        later = {name for outer in ir.around(self.program, stmt) for name in ir.results(outer)}
        return {name for name in self.last if self.first.get(name, -1) < self.order[stmt]} - later

    def aliases(self, name: str) -> set[str]:
        """A variable and its views."""
        found = {name}
        for other, maker in self.makers.items():
            if isinstance(maker, ir.Let) and maker.op is not None and any(n in found for n in maker.op.shares):
                found.add(other)
        return found

    def has_shadow(self, name: str) -> bool:
        """True if a variable's cotangent lives in memory of its own that follows the primal's."""
        facts = self.s.facts[name]
        if isinstance(facts, (Listed, Mapped, Pair)):
            return True
        return isinstance(facts, Num) and self.regions.is_written(name)

    def pass_on(self, name: str, value: Value, owned: bool) -> None:
        """Add the cotangent of what a variable becomes after a branch or a loop, which has its shape."""
        self.add(name, value, owned, is_unbound(self.s, name))

    def add(self, name: str, value: Value, owned: bool, fits: bool = False) -> None:
        """Add a contribution to a variable's cotangent."""
        s = self.s
        if not self.activity.active(name):
            return
        if self.has_shadow(name):
            shadow = self.shadows.of(name)
            if isinstance(s.facts[name], (Listed, Mapped, Pair)):
                self.add_items(name, shadow, value)
            else:
                self.store(shadow, Const(Ellipsis), fit(s, value, name), gast.Add)
            return
        fitted = value if fits else fit(s, value, name)
        owned = owned or is_new(s, fitted, value)
        old = self.adjoints.get(name)
        if old is None:
            name_adjoint(s, fitted, name)
            self.adjoints[name] = Adjoint(fitted, owned)
            return
        total = emit_op.apply(
            s, np.add, ir.binop(s.expr(old.value), gast.Add, s.expr(fitted)), [old.value, fitted], {}, operator.add
        )
        facts = s.num(old.value)
        if old.owned and facts is not None and facts.kind == "array" and is_full(s, old.value, name):
            s.block[-1].in_place = True  # the sum so far is ours: it may be added to where it is
            s.fits[total.name] = name
        name_adjoint(s, total, name)
        self.adjoints[name] = Adjoint(total, True)

    def add_items(self, name: str, shadow: Leaf, value: Value) -> None:
        """Add a list of cotangents to the shadow of a list, item by item."""
        s = self.s
        if isinstance(value, (ListV, TupleV)):
            for k, item in enumerate(value.items):
                if item != Const(None):
                    self.add_at(shadow, Const(k), item)
        else:
            s.block.append(ir.Effect(helper(s, memory.add_items, shadow, value), s.origin, "adjoint"))

    def add_at(self, shadow: Leaf, index: Value, value: Value) -> None:
        self.s.block.append(ir.Store(shadow.name, self.s.expr(index), self.s.expr(value), gast.Add, self.s.origin))

    def store(self, base: Leaf, index: Value, value: Value, aug: type | None = None) -> None:
        self.s.block.append(ir.Store(base.name, self.s.expr(index), self.s.expr(value), aug, self.s.origin))

    def take(self, name: str) -> Adjoint | None:
        """The cotangent of a variable whose definition has been reached; nothing is added to it any more."""
        return self.adjoints.pop(name, None)

    # -- blocks

    def block(self, block: ir.Block) -> None:
        """Write the reverse of a block into the current one."""
        self.shadows.open(block)
        for stmt in reversed(block):
            self.statement(stmt)

    def statement(self, stmt: Any) -> None:
        s = self.s
        outer, s.origin = s.origin, None if isinstance(stmt, (ir.If, ir.Loop)) else getattr(stmt, "origin", None)
        start = len(s.block)
        self.shadows.meet_items(stmt)
        self.shadows.now = self.shadows.then.get(stmt, {})
        s.selects |= is_selection(stmt)
        if stmt in self.shadows.moved:
            reverse_moved(self, stmt)
        elif isinstance(stmt, ir.Let):
            self.let(stmt)
        elif isinstance(stmt, ir.Store):
            stored(self, stmt)
        elif isinstance(stmt, ir.Effect):
            effect(self, stmt)
        elif isinstance(stmt, ir.If):
            reverse_branch(self, stmt)
        elif isinstance(stmt, ir.Loop):
            reverse_loop(self, stmt)
        elif isinstance(stmt, ir.With):
            reverse_with(self, stmt)
        elif isinstance(stmt, ir.Try):
            self.attempt(stmt)
        for new in ir.walk(s.block[start:]):
            self.positions.setdefault(new, self.order[stmt])
        s.origin, self.shadows.now = outer, {}

    # -- operations

    def let(self, stmt: ir.Let) -> None:
        if stmt.op is None:
            return
        fn = stmt.op.fn
        if isinstance(fn, Recursion):
            reverse_call(self, stmt)
            return
        if fn is nested_gradient:
            reverse_nested(self, stmt)
            return
        if fn is list.pop:
            popped(self, stmt)
            return
        active = [t for t in stmt.targets if self.activity.active(t)]
        if not active:
            return
        if fn is list or fn is dict:
            list_made(self, stmt)
        elif fn is list.copy:
            check_copied(self, stmt)
            self.add(stmt.op.arguments["x"].name, self.shadows.of(stmt.target), False)
        elif fn is sum and is_sum_of_numbers(self, stmt.op):
            numbers_summed(self, stmt)
        elif fn is operator.concat:
            joined(self, stmt)
        elif fn is operator.getitem:
            item_read(self, stmt)
        elif self.shadows.is_view(stmt):
            self.shadows.give_back(stmt)
        else:
            self.operation(stmt)

    def operation(self, stmt: ir.Let) -> None:
        """An operation of the table."""
        assert stmt.op is not None
        s, square = self.s, self.squares.get(stmt, Square(stmt.op))
        op_ = square.op
        incoming = self.incoming(stmt)
        if incoming is None:
            return
        d, owned = incoming
        names = [p for p in op_.arguments if any(map(self.activity.active, s.leaves(op_.arguments[p])))]
        if not names or op_.fn in NONDIFFERENTIABLE:  # a constant, made to be written into
            return
        d = as_numpys(s, d, stmt.target) if s.careful and len(stmt.targets) == 1 else d
        d = scaled(s, d, square.factors)
        if (found := as_square(self, op_)) is not None:
            op_, names, number = found
            d = multiplied(self, d, number)
        row = TABLE[op_.fn]
        d, entries = self.entries(stmt, op_, names, d)
        fit_items(self, op_, entries)
        if row.kind == "elementwise" and len(names) == 1:
            self.note_fit(stmt, op_.arguments[names[0]], entries.get(names[0]), d)
        elif row.kind != "elementwise" and not self.broadcasts(op_):
            self.note_shapes(op_, entries)
        note_parts(s, op_, entries)
        self.distribute(op_, entries, names, d, owned)

    def entries(self, stmt: ir.Let, op_: ir.Op, names: list[str], d: Value) -> tuple[Value, dict[str, Value]]:
        """The entries of an operation, and the cotangent that they are made of, which is as narrow as it may be."""
        s, row = self.s, TABLE[op_.fn]
        elementwise = row.kind == "elementwise" and len(stmt.targets) == 1 and not op_.boxed
        if self.stays_uniform(op_, d) or (elementwise and self.may_stay_narrow(stmt, op_, names)):
            return d, self.applied(stmt, op_, d, names)
        if elementwise and is_narrower(s, d, stmt.target) and not is_full(s, d, stmt.target):
            mark = len(s.block)
            entries = self.applied(stmt, op_, d, names)
            if all(self.covers(entries.get(p), op_.arguments[p], stmt.target) for p in names):
                return d, entries
            del s.block[mark:]
        if len(stmt.targets) == 1 and isinstance(s.facts[stmt.target], Num):
            d = spread(s, d, stmt.target)
        return d, self.applied(stmt, op_, d, names)

    def applied(self, stmt: ir.Let, op_: ir.Op, d: Value, names: list[str]) -> dict[str, Value]:
        whole = TupleV((d,)) if op_.boxed else d

        def write(whole: Value, arguments: dict[str, Value]) -> dict[str, Value]:
            rule, y = rule_of(self.s, op_, d), self.result(stmt)
            return apply_rule(self.s, rule, op_.fn, y, whole, arguments, names)

        return with_strong_zeros(self.s, op_, whole, write, names)

    def covers(self, entry: Value | None, argument: Value, target: str) -> bool:
        """True if an entry is as long as the result along the axes along which its argument was broadcast."""
        s, want = self.s, self.s.facts[target]
        have, found = s.num(argument), None if entry is None else s.num(entry)
        if not found or not have or not isinstance(want, Num) or None in (found.dims, have.dims, want.dims):
            return False
        lengths = zip_longest(*(reversed(f.dims or ()) for f in (want, found, have)), fillvalue=1)
        return all(fits(s, other, length) or fits(s, own, length) for length, other, own in lengths)

    def note_fit(self, stmt: ir.Let, argument: Value, entry: Value | None, d: Value) -> None:
        """The entry of an operation that keeps the shape of its argument has that shape."""
        s = self.s
        if isinstance(argument, Leaf) and isinstance(entry, Leaf) and s.fits_shape_of(d, stmt.target):
            if s.alike.get(stmt.target) == s.alike.get(argument.name, argument.name):
                s.fits.setdefault(entry.name, argument.name)

    def broadcasts(self, op_: ir.Op) -> bool:
        """True if an operation that is not elementwise may have entries of other lengths than its arguments."""
        if op_.fn not in PRODUCTS:
            return op_.fn in BROADCASTING or op_.fn in process_state.REGISTERED
        facts = [self.s.num(a) for a in op_.arguments.values() if isinstance(a, Leaf)]
        return len(facts) < 2 or not all(f is not None and f.ndim in (1, 2) for f in facts)

    def note_shapes(self, op_: ir.Op, entries: dict[str, Value]) -> None:
        """The entries of an operation that broadcasts nothing have the shapes of its arguments."""
        for p, argument in op_.arguments.items():
            entry, have = entries.get(p), self.s.num(argument)
            found = None if entry is None else self.s.num(entry)
            if isinstance(entry, Leaf) and isinstance(argument, Leaf) and found and have and have.ndim:
                if found.ndim == have.ndim and is_same(found.dtype, have.dtype):
                    self.s.fits.setdefault(entry.name, argument.name)

    def stays_uniform(self, op_: ir.Op, d: Value) -> bool:
        """True if one number is the cotangent of all that a sum takes together."""
        return op_.fn is np.sum and op_.arguments.keys() <= {"a", "axis", "keepdims"} and self.s.num(d) == FLOAT

    def may_stay_narrow(self, stmt: ir.Let, op_: ir.Op, names: list[str]) -> bool:
        """True if no input was broadcast, so that a narrow cotangent stays right."""
        s = self.s
        want = s.facts[stmt.target]
        for p in names:
            for n in s.leaves(op_.arguments[p]):
                have = s.facts[n]
                if not isinstance(have, Num) or not isinstance(want, Num) or not s.same_lengths(have.dims, want.dims):
                    return False
        return True

    def incoming(self, stmt: ir.Let) -> tuple[Value, bool] | None:
        """The cotangent of a statement's result, and whether its memory is ours."""
        if len(stmt.targets) > 1:
            parts = [self.part(t) for t in stmt.targets]
            return None if all(p == Const(None) for p in parts) else (TupleV(tuple(parts)), False)
        if self.has_shadow(stmt.target):
            # Its definition is reached: nobody adds to a shadow of its own any more.
            return self.shadows.of(stmt.target), stmt.target not in self.shadows.given and not self.shadows.is_view(
                stmt
            )
        found = self.take(stmt.target)
        return None if found is None else (found.value, found.owned)

    def part(self, target: str) -> Value:
        """The cotangent of one of several results, in its shape; None where there is none."""
        if self.has_shadow(target):
            return self.shadows.of(target) if self.activity.active(target) else Const(None)
        found = self.take(target)
        return Const(None) if found is None else spread(self.s, found.value, target)

    def result(self, stmt: ir.Let) -> Value:
        assert stmt.op is not None
        if len(stmt.targets) == 1 and not stmt.op.boxed:
            return Leaf(stmt.target)
        return TupleV(tuple(Leaf(t) for t in stmt.targets), stmt.op.cls)

    def distribute(self, op_: ir.Op, entries: dict[str, Value], names: list[str], d: Value, owned: bool) -> None:
        """Give each active input its entry."""
        s = self.s
        given: list[Value] = [e for p in names for e in self.flat(entries.get(p))]
        check_entries(op_.fn, entries, names, s.origin)
        for p in names:
            if entries[p] != ZERO:
                self.give(op_.arguments[p], entries[p], d, owned, given)

    def flat(self, entry: Value | None) -> list[Value]:
        if isinstance(entry, (TupleV, ListV)):
            return [e for item in entry.items for e in self.flat(item)]
        return [] if entry is None else [entry]

    def give(self, argument: Value, entry: Value, d: Value, owned: bool, given: list[Value]) -> None:
        s = self.s
        if isinstance(argument, Leaf):
            self.add(argument.name, entry, self.is_owned(entry, d, owned, given))
        elif isinstance(argument, (TupleV, ListV)):
            for k, item in enumerate(argument.items):
                if any(self.activity.active(n) for n in s.leaves(item)):
                    self.give(item, self.nth(entry, k), d, owned, given)
        elif any(self.activity.active(n) for n in s.leaves(argument)):
            raise NoRule(
                "a value that carries a derivative comes out of an object of unknown class",
                "pass it on in a variable",
                s.origin,
                code="kept-in-object",
            )

    def nth(self, entry: Value, k: int) -> Value:
        if isinstance(entry, (TupleV, ListV)):
            return entry.items[k]
        s = self.s
        return s.let(ir.subscript(s.expr(entry), ir.constant(k)), self.element(entry), may_raise=False)

    def element(self, entry: Value) -> Any:
        facts = self.s.facts_of(entry)
        if isinstance(facts, Listed):
            return self.s.elements_of(facts) or UNKNOWN
        return UNKNOWN

    def is_owned(self, entry: Value, d: Value, owned: bool, given: list[Value]) -> bool:
        """True if nobody else refers to the memory of an entry."""
        facts, of_d = self.s.num(entry), self.s.num(d)
        if facts is None or not isinstance(entry, Leaf) or facts.python or facts.kind == "npscalar":
            return True
        if given.count(entry) > 1:
            return False
        if entry == d:
            return owned and sum(self.touches(g, facts) for g in given) == 1
        return not (of_d is not None and facts.roots & of_d.roots) and not self.is_primal(facts)

    def touches(self, value: Value, facts: Num) -> bool:
        other = self.s.num(value)
        return other is not None and bool(other.roots & facts.roots)

    def is_primal(self, facts: Num) -> bool:
        return bool(facts.roots & self.primal_roots)

    primal_roots: frozenset[int] = frozenset()

    def is_mask(self, part: Value) -> bool:
        return (facts := self.s.num(part)) is not None and facts.dtype is not None and facts.dtype.kind == "b"

    def buffer(self, name: str) -> Leaf:
        """A cotangent that may be changed in place."""
        s = self.s
        old = self.adjoints.get(name)
        if old is None:
            value = zeros(s, name, bound=True)
        elif old.owned and is_full(s, old.value, name) and isinstance(old.value, Leaf):
            return old.value
        elif is_full(s, old.value, name):
            value = copied(s, old.value)
        else:
            value = spread(s, old.value, name, bound=True)
        assert isinstance(value, Leaf)
        name_adjoint(s, value, name)
        self.adjoints[name] = Adjoint(value, True)
        return value

    def attempt(self, stmt: ir.Try) -> None:
        self.block(stmt.final)
        if not stmt.handlers:
            with self.s.within(self.s.lengths_in(stmt.body)):
                self.block(stmt.body)
            return
        self.attempts += 1
        reverse_attempt(self, stmt)
        self.attempts -= 1
