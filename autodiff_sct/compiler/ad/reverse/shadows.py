"""Shadows: the cotangents of memory that the program writes.

A shadow is made where the reverse sweep of the block begins in which the primal's memory is made; a view's shadow is
the same view of its base's.  Memory that leaves a block through a branch or a loop takes its shadow from outside: the
shadow of the variable that it becomes there.
"""

from __future__ import annotations

import operator
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ....errors import AliasError, Origin
from ....runtime import broadcast, memory
from ... import ir
from ...analysis.alias import FITTING, UNCERTAIN, roots_of
from ...domain.facts import UNKNOWN, Facts, Listed, Mapped, Num, Pair
from ...domain.values import Const, Leaf, Value
from ...interp.arrays import indexing, value_dependent
from ...interp.kernel.specialiser import is_slice
from ...ir.function import Role
from .container_aliasing import (
    ONE_ARRAY,
    end_of,
    is_item_read,
    refuse_changed,
    refuse_one_memory,
    regions_held,
    written_regions,
)
from .cotangents import helper, numpy_call
from .lists import facts_of_item, give_list
from .loops import leave_memory
from .stores import OVERLAPPING, check_number, check_parts, is_settled

if TYPE_CHECKING:
    from .transform import Reverse

READ_ONLY_DIAGONALS = {np.diag, np.diagonal, np.ndarray.diagonal, np.linalg.diagonal}
WHOLE_NUMBERS = "assign whole numbers: `z[k] = z[k].real + 1j * part`"


class Shadows:
    def __init__(self, reverse: Reverse) -> None:
        self.r: Reverse = weakref.proxy(reverse)  # no cycle, so that all goes when the compilation has ended
        self.table: dict[str, Leaf] = {}
        self.beside: set[str] = set()  # variables whose shadows the forward sweep has made
        self.moved: dict[Any, list[tuple[str, str, int]]] = {}  # what changes containers of these; numbers put in
        self.then: dict[Any, dict[str, Leaf]] = {}  # the shadow of a list as it is at a statement
        self.now: dict[str, Leaf] = {}
        self.ordered: dict[str, Leaf] = {}  # the shadows of what an argument held, in the order that it came in
        self.given: dict[str, Leaf] = {}
        self.pending: dict[str, ir.Let] = {}  # items of lists, whose shadows are not looked up yet
        self.item_sources: dict[str, list[tuple[ir.Let, Leaf]]] = {}
        self.uncertain: set[Any] = set()  # views that may be copies
        self.loops: list[list[tuple[ir.Carry, ir.Carry]]] = []

    def of(self, name: str) -> Leaf:
        """The shadow of a variable."""
        found = self.now.get(name) or self.table.get(name)
        if found is None:
            raise self.lost(
                name,
                f"the memory of {self.r.s.in_words(name)} is reached in a way that cannot be followed",
                "copy the array before writing into it",
                self.r.s.origin,
            )
        return found

    def lost(self, name: str, reason: str, remedy: str, origin: Origin | None) -> AliasError:
        """The error of a variable whose shadow cannot be found from the end of the program."""
        error = AliasError(reason, remedy, origin)
        region = self.r.regions.of(name)
        error.regions = frozenset() if region is None else frozenset([region])
        return error

    # -- making

    def open(self, block: ir.Block) -> None:
        """Make the shadows of what a block defines, in the order of the forward sweep."""
        for stmt in block:
            if isinstance(stmt, ir.Let):
                if len(stmt.targets) > 1 and self.wanted(stmt.target) and self.is_view(stmt):
                    self.several_views(stmt)
                    continue
                for target in stmt.targets:
                    if self.wanted(target):
                        self.make(stmt, target)
            elif isinstance(stmt, ir.If):
                for m in stmt.merges:
                    if self.wanted(m.target):
                        self.merge(stmt, m)
            elif isinstance(stmt, ir.Loop):
                for c in stmt.carries:
                    if self.wanted(c.phi) or self.wanted(c.out):
                        self.table[c.out] = self.given.get(c.out) or self.fresh_for(c.out, [c.init, c.next])
            elif isinstance(stmt, ir.Try):
                for target, names in stmt.merges:
                    if self.wanted(target):
                        self.merge_paths(stmt, target, names)

    def wanted(self, name: str) -> bool:
        return self.r.activity.active(name) and self.r.has_shadow(name) and name not in self.beside

    def fresh(self, name: str) -> Leaf:
        """A shadow of zeros."""
        s = self.r.s
        facts = s.facts[name]
        if name in s.unbound:
            s.defaulted.add(name)
            leaf = s.let(helper(s, broadcast.zeros_like, Leaf(name)), self.facts(name), may_raise=False)
        elif isinstance(facts, Num) and facts.kind == "array" and facts.dtype is not None and facts.dtype.kind in "fc":
            leaf = s.let(numpy_call(s, "zeros_like", ir.name(name)), self.facts(name), may_raise=False)
        else:
            leaf = s.let(helper(s, broadcast.zeros_like, Leaf(name)), self.facts(name), may_raise=False)
        return self.call(leaf, name)

    def facts(self, name: str) -> Facts:
        s = self.r.s
        facts = s.facts[name]
        root = frozenset([s.root(("shadow", name))])
        if isinstance(facts, Num):
            return replace(facts, roots=root)
        if isinstance(facts, (Listed, Mapped)):
            listed = replace(facts, roots=root)
            element = s.elements_of(facts)
            s.put_element(listed, facts_of_item(element))
            return listed
        if isinstance(facts, Pair):  # a tuple's shadow is a list
            for f in facts.items:
                s.put_element(Listed(root), facts_of_item(f))
            return Listed(root)
        return UNKNOWN

    def call(self, leaf: Leaf, name: str) -> Leaf:
        s = self.r.s
        if leaf.name not in s.named:
            s.call_after(leaf.name, Role.COTANGENT, name)
            if name in s.named:
                s.named.add(leaf.name)
        return leaf

    def refuse_written_pieces(self, stmt: ir.Let, target: str) -> None:
        """The parts of a split array, in a list of run-time length, are views: they may not be written."""
        facts = self.r.s.facts[target]
        element = self.r.s.elements_of(facts) if isinstance(facts, Listed) else None
        if stmt.op is None or stmt.op.fn not in value_dependent.SPLITS or not isinstance(element, Num):
            return
        if any(self.r.regions.find(root) in self.r.regions.written for root in element.roots):
            raise AliasError(
                "an array is split into views, and one of them or the array is written", "copy it first", stmt.origin
            )

    def make(self, stmt: ir.Let, target: str) -> None:
        self.refuse_written_pieces(stmt, target)
        if target in self.given:
            if self.is_view(stmt):
                raise self.lost(
                    target,
                    f"a view of an array that is written leaves its block as {self.r.s.in_words(target)}",
                    "copy it (`.copy()`)",
                    stmt.origin,
                )
            self.table[target] = self.given[target]
        elif self.is_view(stmt):
            base = self.base_of(stmt)
            if is_item_read(self.r, stmt) or (base is not None and base.name in self.pending):
                self.pending[target] = stmt
            else:
                self.table[target] = self.view(stmt, target)
        elif stmt.op is not None and stmt.op.fn is list:
            self.table[target] = self.list_of_shadows(stmt, target)
        else:
            self.table[target] = self.fresh(target)

    def meet_items(self, stmt: Any) -> None:
        """Look up the shadows of items of lists that a statement, or one reversed after it, may use."""
        start = self.r.order[stmt]
        for target in [t for t in self.pending if self.r.last.get(t, -1) >= start]:
            if target in self.pending:
                self.look_up(target, end_of(self.r, stmt))

    def look_up(self, target: str, end: int) -> None:
        stmt = self.pending.pop(target)
        base = self.base_of(stmt)
        assert base is not None
        if base.name in self.pending:
            self.look_up(base.name, end)
        bases = self.item_bases(stmt)
        for made, container in bases:
            refuse_changed(self.r, made, container, end)
        self.item_sources[target] = [(stmt, base), *self.item_sources.get(base.name, [])]
        self.table[target] = self.view(stmt, target)

    def item_bases(self, stmt: ir.Let) -> list[tuple[ir.Let, Leaf]]:
        """The containers that an item was read out of, from the inside out."""
        base = self.base_of(stmt)
        assert base is not None
        own = [(stmt, base)] if is_item_read(self.r, stmt) else []
        return [*own, *self.item_sources.get(base.name, [])]

    def list_of_shadows(self, stmt: ir.Let, target: str) -> Leaf:
        """A list of arrays that are written holds their shadows, so that both ways to them lead to one."""
        s, r = self.r.s, self.r
        assert stmt.op is not None
        items = stmt.op.arguments["items"].items
        flat = [v for v in items if isinstance(v, Leaf)]
        if items and len(flat) == len(items) and any(self.wanted(v.name) for v in flat):
            if self.is_resized(target) or not all(v.name in self.table for v in flat):
                return self.fresh(target)  # as values, which `check_put` lets pass
            shadows = [s.expr(self.of(v.name)) for v in flat]
            r.shared_lists.add(target)
            facts = self.facts(target)
            assert isinstance(facts, Listed)
            for v in flat:
                facts = replace(facts, roots=facts.roots | roots_of(s.facts[self.of(v.name).name]))
            return self.call(s.let(gast.List(shadows, gast.Load()), facts, may_raise=False), target)
        return self.fresh(target)

    def is_resized(self, name: str) -> bool:
        return self.r.regions.is_written(name)

    def base_of(self, stmt: ir.Let) -> Leaf | None:
        """The operand whose memory a statement's result shares."""
        if stmt.op is None:
            return None
        s = self.r.s
        facts = s.facts[stmt.target]
        base = stmt.op.arguments.get("x") if stmt.op.fn is operator.getitem else None
        if isinstance(base, Leaf) and isinstance(s.facts[base.name], (Listed, Mapped, Pair)):
            return base if self.r.has_shadow(stmt.target) else None
        return Leaf(stmt.op.shares[0]) if stmt.op.shares and roots_of(facts) else None

    def is_view(self, stmt: ir.Let) -> bool:
        if (
            not self.r.has_shadow(stmt.target)
            or isinstance(self.r.s.facts[stmt.target], Listed)
            and self.is_slice(stmt)
        ):
            return False
        return self.base_of(stmt) is not None and not is_settled(self.r, stmt)

    def is_slice(self, stmt: ir.Let) -> bool:
        return stmt.op is not None and stmt.op.fn is operator.getitem and is_slice(stmt.op.arguments.get("index"))

    def view(self, stmt: ir.Let, target: str) -> Leaf:
        s = self.r.s
        base = self.base_of(stmt)
        assert base is not None and stmt.op is not None
        check_number(s, stmt)
        shadow = self.of(base.name)
        expr = ir.substitute(stmt.expr, {base.name: ir.name(shadow.name)})
        known = s.facts[target]
        by_dtype = isinstance(known, Num) and known.dtype is None and stmt.op.fn is np.conjugate
        if isinstance(known, Num) and (stmt.op.fn in UNCERTAIN | FITTING or known.dims is None or by_dtype):
            maybe_scalar = stmt.op.fn is operator.getitem and not self.cuts_only(stmt.op.arguments.get("index"))
            if (
                by_dtype
                or (known.dims is None and known.kind != "array")
                and (maybe_scalar or stmt.op.fn not in UNCERTAIN and stmt.op.fn is not operator.getitem)
            ):
                raise AliasError(
                    "whether this is a view of an array that is written is known only at run time",
                    "copy it (`.copy()`)",
                    stmt.origin,
                )
            if isinstance(s.facts[base.name], Num):  # an item of a list is what the list holds
                expr = ir.call(
                    s.bind("same_view", memory.same_view), expr, s.expr(shadow), ir.name(target), s.expr(base)
                )
                self.uncertain.add(stmt)
        if stmt.op.fn in READ_ONLY_DIAGONALS:
            expr = ir.call(s.bind("writable", memory.writable), expr)
        elif stmt.op.fn in OVERLAPPING:
            raise AliasError(
                "a view of an array that is written has no view of its adjoint that adds up",
                WHOLE_NUMBERS if stmt.op.fn is np.imag else "copy the array before taking the view",
                stmt.origin,
            )
        found = self.facts(target)
        if isinstance(found, (Num, Listed, Mapped)) and roots_of(s.facts[shadow.name]):
            found = replace(
                found,
                roots=roots_of(s.facts[shadow.name]) | (roots_of(found) if not isinstance(found, Num) else frozenset()),
            )
        return self.call(s.let(expr, found, may_raise=False), target)

    def give_back(self, stmt: ir.Let) -> None:
        """Return the cotangent of a variable that turned out to be a copy to its source."""
        base = self.base_of(stmt)
        if base is not None and stmt.op is not None and stmt in self.uncertain:
            more = [order for order in [stmt.op.arguments.get("order")] if order == Const("F")]
            call = helper(self.r.s, memory.give_back, self.of(base.name), self.of(stmt.target), *more)
            self.r.s.block.append(ir.Effect(call, self.r.s.origin, "adjoint"))

    def cuts_only(self, index: Value | None) -> bool:
        """True if an index surely gives a view, not an element."""
        s = self.r.s
        parts = indexing.parts_of(index)
        basic = all(indexing.is_basic(s, p) for p in parts)
        return basic and any(not (isinstance(f := s.facts_of(p), Num) and f.dims == ()) for p in parts)

    def several_views(self, stmt: ir.Let) -> None:
        """The parts of an array that was split are parts of its shadow."""
        s = self.r.s
        check_parts(stmt)
        base = self.base_of(stmt)
        assert base is not None
        shadow = self.of(base.name)
        root = roots_of(s.facts[shadow.name])
        facts = [replace(f, roots=root) if isinstance(f := s.facts[t], Num) else f for t in stmt.targets]
        expr = ir.substitute(stmt.expr, {base.name: ir.name(shadow.name)})
        for target, leaf in zip(stmt.targets, s.let_several(expr, facts, None)):
            self.table[target] = self.call(leaf, target)

    # -- branches

    def merge(self, stmt: ir.If, m: ir.Merge) -> None:
        """The shadow of what a branch leaves behind."""
        s = self.r.s
        sides = [(m.then, stmt.then), (m.orelse, stmt.orelse)]
        inner = [source is None or source in ir.defined(block) for source, block in sides]
        given = self.given.get(m.target)
        if all(inner):
            shadow = given or self.fresh_for(m.target, [m.then, m.orelse])
        else:
            blocks: list[ir.Block] = [[], []]
            names = []
            for (source, _), block, is_inner in zip(sides, blocks, inner):
                with s.writing(block):
                    names.append(self.of_side(m.target, source, is_inner).name)
            target = s.fresh_after(Role.COTANGENT, m.target, self.facts_of_several(m.target, names))
            s.named.add(target)
            node = ir.If(stmt.test, blocks[0], blocks[1], [ir.Merge(target, names[0], names[1])], stmt.origin)
            node.primal = stmt
            s.block.append(node)
            shadow = Leaf(target)
        self.table[m.target] = shadow
        if given is not None and not all(inner):
            self.join(stmt, m.target, given)
        for (source, _), is_inner in zip(sides, inner):
            if source is not None and is_inner and self.r.has_shadow(source):
                if source in self.given:
                    raise self.lost(source, "one array gets two names in a branch", "copy it", stmt.origin)
                self.given[source] = shadow

    def facts_of_several(self, target: str, shadows: list[str]) -> Any:
        """The facts of a shadow that is one of several: what is written into it is written into that."""
        facts: Any = self.facts(target)
        roots = roots_of(facts).union(*(roots_of(self.r.s.facts[n]) for n in shadows))
        return replace(facts, roots=roots) if isinstance(facts, (Num, Listed, Mapped)) else facts

    def of_side(self, target: str, source: str | None, is_inner: bool) -> Leaf:
        """The shadow of `target` on a path where it is `source`: the source's own, where that comes from outside."""
        if source is not None and not is_inner and self.r.has_shadow(source):
            return self.of(source)
        return self.fresh_for(target, [source])

    def fresh_for(self, target: str, sources: list[str | None]) -> Leaf:
        """A shadow of zeros for what is one of `sources`; a number among them has an array without axes for shadow."""
        if all(source is None or self.r.has_shadow(source) for source in sources):
            return self.fresh(target)
        s = self.r.s
        zeros = numpy_call(s, "array", helper(s, broadcast.zeros_like, Leaf(target)))
        return self.call(s.let(zeros, self.facts(target), may_raise=False), target)

    def merge_paths(self, stmt: ir.Try, target: str, names: list[str | None]) -> None:
        """The shadow of what a ``try`` leaves behind."""
        blocks = [stmt.body, *(block for _, _, block in stmt.handlers)]
        inner = [source is None or source in ir.defined(block) for source, block in zip(names, blocks)]
        given = self.given.get(target)
        shadow = (given or self.fresh_for(target, names)) if all(inner) else self.of_path(stmt, target, names, inner, 0)
        self.table[target] = shadow
        if given is not None and not all(inner):
            self.join(stmt, target, given)
        for source, is_inner in zip(names, inner):
            if source is not None and is_inner and self.r.has_shadow(source):
                if source in self.given:
                    raise self.lost(source, "one array gets two names in a `try`", "copy it", stmt.origin)
                self.given[source] = shadow

    def of_path(self, stmt: ir.Try, target: str, names: list[str | None], inner: list[bool], k: int) -> Leaf:
        """The shadow on the path that was taken, from path `k` on."""
        s, source = self.r.s, names[k]
        if k == len(names) - 1:
            return self.of_side(target, source, inner[k])
        blocks: list[ir.Block] = [[], []]
        with s.writing(blocks[0]):
            here = self.of_side(target, source, inner[k])
        with s.writing(blocks[1]):
            rest = self.of_path(stmt, target, names, inner, k + 1)
        out = s.fresh_after(Role.COTANGENT, target, self.facts_of_several(target, [here.name, rest.name]))
        s.named.add(out)
        test = gast.Compare(ir.name(stmt.took), [gast.Eq()], [ir.constant(k)])
        node = ir.If(test, blocks[0], blocks[1], [ir.Merge(out, here.name, rest.name)], stmt.origin)
        node.path = (stmt, k)
        s.block.append(node)
        return Leaf(out)

    # -- loops

    def enter_loop(self, stmt: ir.Loop) -> None:
        s = self.r.s
        pairs = []
        for c in stmt.carries:
            if self.wanted(c.phi) or self.wanted(c.out):
                self.check_moved(stmt, c)
                facts = self.facts(c.out)
                phi, out = (s.fresh_after(Role.COTANGENT, c.out, facts) for _ in "ab")
                s.named |= {phi, out}
                pairs.append((c, ir.Carry(phi, self.of(c.out).name, None, out)))
        refuse_one_memory(self.r, stmt, [c for c, _ in pairs])
        self.loops.append(pairs)

    def check_moved(self, stmt: ir.Loop, c: ir.Carry) -> None:
        """Memory that is carried around a loop must have no other name: its shadow moves with it."""
        r = self.r
        region = r.regions.of(c.phi)
        inside, outs, before = ir.defined([stmt]), {x.out for x in stmt.carries}, r.defined_before(stmt)
        for name in r.uses_after(stmt):
            if name in inside or name in outs or name not in before:
                continue
            if r.regions.of(name) == region or region in regions_held(r, name):
                raise self.lost(
                    c.phi,
                    f"the array {r.s.in_words(c.phi)} is replaced in a loop and written, "
                    f"and has another name ({r.s.in_words(name)})",
                    "copy it before the loop (`x = x.copy()`)",
                    stmt.origin,
                )

    def prepare_body(self, stmt: ir.Loop) -> None:
        pairs = self.loops[-1]
        by_next: dict[str, ir.Carry] = {}
        for c, carry in pairs:
            if c.next is None:
                continue
            if c.next in by_next:
                raise self.lost(c.next, ONE_ARRAY, "copy it", stmt.origin)
            by_next[c.next] = carry
        for c, _ in pairs:
            if c.phi in by_next:
                self.table[c.phi] = Leaf(by_next[c.phi].phi)
            else:
                # Before its first assignment a name has no memory: what is carried on from there counts for nothing.
                like = c.phi if c.init is not None or c.next is None else c.next
                self.table[c.phi] = self.fresh_for(like, [c.init, c.next])
        phis = {c.phi for c, _ in pairs}
        inner = ir.defined(stmt.body)
        for name, carry in by_next.items():
            if name in phis:
                continue
            if not self.r.has_shadow(name):
                leave_memory(self.r, Leaf(carry.phi), name)
                continue
            if name not in inner:
                raise self.lost(
                    name,
                    f"{self.r.s.in_words(name)} comes from outside the loop and is written in it under another name",
                    "copy it (`.copy()`)",
                    stmt.origin,
                )
            self.given[name] = Leaf(carry.phi)

    def finish_body(self) -> None:
        for c, carry in self.loops[-1]:
            carry.next = self.table[c.phi].name

    def leave_loop(self, stmt: ir.Loop) -> None:
        node = self.r.s.block[-1]
        for c, carry in self.loops.pop():
            node.carries.append(carry)
            if c.init is not None and not self.r.has_shadow(c.init):
                leave_memory(self.r, Leaf(carry.out), c.init)
            if c.init is not None and self.wanted(c.init):
                self.hand_on(stmt, c.init, Leaf(carry.out))

    def join(self, stmt: Any, target: str, given: Leaf) -> None:
        """Add the cotangent of what a branch leaves to its shadow; what is written has one for all of its names."""
        if written_regions(self.r, target):
            reason = f"{self.r.s.in_words(target)} is one of several arrays, depending on the path, and is written"
            raise self.lost(target, reason, "copy it on both paths", stmt.origin)
        self.hand_on(stmt, target, given)

    def hand_on(self, stmt: Any, name: str, cotangent: Leaf) -> None:
        """Add the cotangent of what a variable has become after a statement to its shadow."""
        facts, shadow = self.r.s.facts[name], self.of(name)
        if isinstance(facts, Num):
            for leaf in (shadow, cotangent):
                self.r.s.fits.setdefault(leaf.name, name)
            self.r.store(shadow, Const(Ellipsis), cotangent, gast.Add)
        elif isinstance(facts, Listed):
            give_list(self.r, stmt, name, cotangent)
        else:
            self.r.add_items(name, shadow, cotangent)
