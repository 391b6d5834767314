"""Shadows made in the forward sweep, beside the memory that they belong to, and lists of them.

Shadows made in the forward sweep, beside the memory that they belong to.

Where several names come to stand for one array in a way that depends on the run, the shadow cannot be found from the
end of the program: it is made with the array, and each statement that gives the array a name gives its shadow one.

    a = x.copy()                      a = x.copy()
    v = a[1:] if long else a          d_a = np.zeros_like(a)
                                      if long:
                                          v = a[1:]
                                          d_v = d_a[1:]
                                      else:
                                          v, d_v = a, d_a

A list that holds such arrays has a list of their shadows beside it (`beside_lists`).

Lists and dicts of arrays whose shadows are made in the forward sweep: a list of shadows, changed as the list is.

A tuple's shadow is a list, made where the tuple is.  What has a place in it without memory of its own, such as a
number, gets its cotangent from there when the reverse sweep comes to the statement that put it in.
"""

from __future__ import annotations

import operator
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from ....runtime import broadcast
from ... import ir
from ...analysis.alias import MOVES, move, reachable, written_arguments, written_by
from ...domain.facts import NOWHERE, UNKNOWN, Facts, Listed, Mapped, Num, Pair
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays.value_dependent import SPLITS
from ...interp.kernel.specialiser import Specialiser, is_slice
from ...ir.function import Role
from ..value_flow import joins, operands
from .cotangents import helper

if TYPE_CHECKING:
    from .transform import Reverse

STRUCTURAL = {list, list.pop, list.copy, operator.concat}
NESTED = 4  # lists inside each other whose shadows are followed
CHANGES = {"append", "insert", "delete", *MOVES}


def is_structural(stmt: Any) -> bool:
    """True if a statement moves what is in lists, dicts and tuples, and looks at none of it."""
    if isinstance(stmt, ir.Let):
        return stmt.op is not None and stmt.op.fn in STRUCTURAL
    if isinstance(stmt, ir.Store):
        return stmt.op is not None and stmt.op.fn is operator.setitem and stmt.aug is None
    return isinstance(stmt, ir.Effect) and stmt.kind in CHANGES


def elements(s: Specialiser, facts: Any) -> list[Any]:
    """The facts of what is directly in a list or dict."""
    found = s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else None
    return [] if found is None else [found]


class Lists:
    """The part of `Beside` for lists, dicts and tuples."""

    def __init__(self, beside: Beside) -> None:
        self.b: Beside = weakref.proxy(beside)  # no cycle, as in `Shadows`
        self.s, self.shadows = beside.s, beside.shadows

    def is_container(self, name: str) -> bool:
        return isinstance(self.s.facts[name], (Listed, Mapped, Pair)) and self.b.has_shadow(name)

    def takes(self, stmt: Any) -> bool:
        """True if a statement makes, changes or reads a container of shadows."""
        if isinstance(stmt, ir.Let):
            moves = is_structural(stmt) or stmt.op is not None and stmt.op.fn is operator.getitem
            read = stmt.op.arguments.get("x") if stmt.op is not None and moves else None
            return (
                any(map(self.is_container, stmt.targets[:1])) or isinstance(read, Leaf) and self.is_container(read.name)
            )
        base = written_by(stmt)
        return base is not None and self.is_container(base)

    def before(self, stmt: Any, block: ir.Block) -> None:
        """A function of a whole list adds to the shadows that are in it now."""
        if is_structural(stmt) or not isinstance(stmt, ir.Let) or stmt.op is None or stmt.op.fn is operator.getitem:
            return
        if any(self.is_container(name) for name in written_arguments(stmt).values()):
            self.b.followed = False
        for name in dict.fromkeys(operands(self.s, stmt)):
            if self.is_container(name) and self.b.of(name) is not None and self.b.r.regions.is_written(name):
                with self.s.writing(block):
                    copy = ir.call("list" if isinstance(self.s.facts[name], Listed) else "dict", self.of(name))
                    leaf = self.s.let(copy, self.b.facts(name), may_raise=False)
                self.shadows.call(leaf, name)
                self.shadows.then.setdefault(stmt, {})[name] = leaf

    def of(self, name: str) -> Any:
        return ir.name(self.b.of(name) or name)

    # -- statements

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Let):
            self.let(stmt)
        elif isinstance(stmt, ir.Store):
            self.store(stmt)
        elif stmt.kind in ("append", "insert"):
            base, value, *index = stmt.operands
            put = ir.attribute(self.of(base.name), stmt.kind)
            self.change(ir.call(put, *map(self.s.expr, index), self.placed(stmt, value)))
        elif stmt.kind == "delete":
            self.change(ir.call(ir.attribute(self.of(stmt.operands[0].name), "pop"), self.s.expr(stmt.operands[1])))
        elif stmt.kind in MOVES:
            base, *operands = stmt.operands
            self.change(move(self.s, stmt.kind, Leaf(self.of(base.name).id), *operands))
        else:
            self.b.followed = False
        if not isinstance(stmt, ir.Let) or stmt.op is None or stmt.op.fn is not operator.getitem:
            self.shadows.moved.setdefault(stmt, [])

    def change(self, expr: Any) -> None:
        self.s.block.append(ir.Effect(expr, self.s.where()))

    def let(self, stmt: ir.Let) -> None:
        fn = None if stmt.op is None else stmt.op.fn
        if fn is operator.getitem:
            self.read(stmt)
        elif fn is list and stmt.op is not None:
            self.display(stmt, stmt.op.arguments["items"].items)
        elif fn is dict and stmt.op is not None and not stmt.op.arguments:
            self.made(stmt, gast.Dict([], []))
        elif fn is list.pop:
            self.same(stmt, effect=True)
        elif fn is list.copy or fn is operator.concat or fn in SPLITS:
            self.same(stmt)
        elif stmt.op is None:
            self.made(stmt, helper(self.s, zeros_like(), Leaf(stmt.target)))
            self.keep_order(stmt.target)
        else:
            self.b.followed = False

    def keep_order(self, name: str) -> None:
        """Keep the shadows of what a list or dict holds in the places where the program finds it."""
        if self.is_changed(self.s.facts[name]):
            shadow = self.shadows.of(name)
            copy = self.same_shadows(ir.name(shadow.name), self.s.facts[name])
            if copy is None:
                self.b.followed = False
                return
            hint = f"{self.s.hints[shadow.name]}_given"
            self.shadows.ordered[name] = self.s.let(copy, self.b.facts(name), hint=hint, role=Role.COTANGENT)

    def same_shadows(self, expr: Any, facts: Any, depth: int = 0) -> Any:
        """A list or dict of what is in another, with such lists in it; None where it holds more than arrays."""
        inside = self.s.elements_of(facts)
        if isinstance(inside, Num) and self.b.r.regions.find(min(inside.roots, default=-1)) in self.b.chosen:
            return ir.call("list" if isinstance(facts, Listed) else "dict", expr)
        if not isinstance(inside, Listed) or not isinstance(facts, Listed) or depth > NESTED:
            return None
        row = self.same_shadows(ir.name("row"), inside, depth + 1)
        return row and gast.ListComp(row, [gast.comprehension(gast.Name("row", gast.Store(), None, None), expr, [], 0)])

    def is_changed(self, facts: Any, around: frozenset[int] = NOWHERE) -> bool:
        """True if the program changes a list or dict, or one that is in it, so that its shadow ends as another."""
        if isinstance(facts, Pair):
            return any(self.is_changed(item, around) for item in facts.items)
        if not isinstance(facts, (Listed, Mapped)) or facts.roots & around:
            return False
        regions = self.b.r.regions
        written = any(regions.find(root) in regions.written for root in facts.roots)
        return written or self.is_changed(self.s.elements_of(facts), around | facts.roots)

    def display(self, stmt: ir.Let, items: tuple[Value, ...]) -> None:
        self.made(stmt, gast.List([self.placed(stmt, v) for v in items], gast.Load()))
        if isinstance(self.s.facts[stmt.target], Pair):
            self.note_given(stmt, items, self.shadows.of(stmt.target).name)

    def made(self, stmt: ir.Let, expr: Any) -> None:
        self.b.set(stmt.target, self.s.let(expr, UNKNOWN, may_raise=False))

    def same(self, stmt: ir.Let, effect: bool = False) -> None:
        """The same operation on shadows."""
        assert stmt.op is not None
        names = [n for n in operands(self.s, stmt) if self.b.has_shadow(n)]
        copies = stmt.op.fn is list.copy and isinstance(stmt.expr, gast.Call)
        of_items = ir.call("list", *stmt.expr.args) if copies and stmt.expr.args else stmt.expr  # it may be `tuple`
        expr = ir.substitute(of_items, {n: self.of(n) for n in names})
        if effect and names and not self.b.has_shadow(stmt.target):
            self.change(expr)
            return
        if not self.b.has_shadow(stmt.target) or not names:
            self.b.followed = False
            return
        self.b.set(stmt.target, self.s.let(expr, UNKNOWN, effect=effect, may_raise=False))

    def read(self, stmt: ir.Let) -> None:
        """An item: its shadow is an item of the shadow, and so is that of a part of a list."""
        assert stmt.op is not None
        base = stmt.op.arguments["x"]
        if not self.b.has_shadow(stmt.target):
            self.read_tuple(stmt, base.name)
            return
        self.same(stmt)
        made = self.s.block[-1]
        if isinstance(made, ir.Let) and self.b.followed and not self.b.r.regions.is_written(base.name):
            index = stmt.op.arguments.get("index", Const(None))
            made.op = ir.Op(operator.getitem, {"x": self.shadows.of(base.name), "index": index})
        if is_slice(stmt.op.arguments.get("index", Const(None))):
            self.shadows.moved.setdefault(stmt, [])

    def read_tuple(self, stmt: ir.Let, base: str) -> None:
        """A tuple of numbers from a container that changes: its shadow may be in another place, or gone, at the end."""
        numbers = isinstance(self.s.facts[stmt.target], Pair) and self.b.r.activity.active(stmt.target)
        if numbers and self.b.r.regions.is_written(base):
            taken = ir.substitute(stmt.expr, {base: self.of(base)})
            shadow = self.s.let(taken, Listed(self.b.list_root), hint="d_item", may_raise=False, role=Role.COTANGENT)
            self.shadows.table[stmt.target] = shadow
            self.shadows.beside.add(stmt.target)

    def store(self, stmt: ir.Store) -> None:
        assert stmt.op is not None
        value = stmt.op.arguments["value"]
        if stmt.aug is not None:
            self.b.followed = False
            return
        shadow = self.b.of(stmt.base)
        if is_slice(stmt.op.arguments["index"]):
            placed = self.of(value.name)
        else:
            placed = self.placed(stmt, value)
        if shadow is not None:
            target = gast.Subscript(ir.name(shadow), stmt.index, gast.Store())
            self.change(gast.Assign([target], placed, None))

    # -- what is put into a container

    def placed(self, stmt: Any, value: Value) -> Any:
        """The shadow of something that is put into a container."""
        if isinstance(value, Leaf) and self.b.has_shadow(value.name):
            return self.of(value.name)
        if isinstance(value, TupleV):
            return self.tuple_(stmt, value)
        if isinstance(stmt, ir.Let) and isinstance(self.s.facts[stmt.target], Pair):
            return self.slot(value)
        self.b.followed = False
        return ir.constant(0.0)

    def tuple_(self, stmt: Any, value: TupleV) -> Any:
        parts = [
            self.of(v.name)
            if isinstance(v, Leaf) and self.b.has_shadow(v.name)
            else self.tuple_(stmt, v)
            if isinstance(v, TupleV)
            else self.slot(v)
            for v in value.items
        ]
        leaf = self.s.let(
            gast.List(parts, gast.Load()), Listed(self.b.list_root), hint="d_item", may_raise=False, role=Role.COTANGENT
        )
        self.note_given(stmt, value.items, leaf.name)
        return ir.name(leaf.name)

    def note_given(self, stmt: Any, items: tuple[Value, ...], shadow: str) -> None:
        """Note the values that the reverse sweep gives what their places in a container's shadow hold."""
        self.shadows.moved.setdefault(stmt, []).extend(
            (v.name, shadow, k)
            for k, v in enumerate(items)
            if isinstance(v, Leaf) and self.b.r.activity.active(v.name) and not self.b.has_shadow(v.name)
        )

    def slot(self, value: Value) -> Any:
        """Zeros for what has no memory of its own here."""
        if isinstance(value, (TupleV, ListV)):
            return gast.List([self.slot(v) for v in value.items], gast.Load())
        if isinstance(value, Leaf) and isinstance(f := self.s.facts[value.name], Num) and not f.python:
            return helper(self.s, zeros_like(), value)
        return ir.constant(0.0)


def zeros_like() -> Any:
    return broadcast.zeros_like


def reverse_moved(r: Reverse, stmt: Any) -> None:
    """The reverse of a statement that changed containers of shadows: numbers that it put into them get their share."""
    s = r.s
    if written_by(stmt) is not None:
        r.overwritten.restore(stmt)
    for name, shadow, k in r.shadows.moved[stmt]:
        d = s.let(ir.subscript(ir.name(shadow), ir.constant(k)), UNKNOWN, may_raise=False)
        r.add(name, d, False)


BESIDE = ("shadows beside their arrays", "lists of these")  # the places of their memory


class Beside:
    """Writes the shadows of some regions into the forward sweep; `followed` is False where one of them cannot be."""

    def __init__(self, r: Reverse, chosen: frozenset[int]) -> None:
        self.r = r
        self.s: Specialiser = r.s
        self.shadows = r.shadows
        self.root, self.list_root = (frozenset([r.s.root(site)]) for site in BESIDE)
        r.s.put_element(Listed(self.list_root), replace(UNKNOWN, roots=self.root | self.list_root))
        self.leaving: set[str] = set()  # variables that get another name here, or a place in a list
        self.chosen = self.closure(set(chosen))
        self.followed = all(self.is_known(n) for n in r.s.facts if self.is_chosen(n))
        self.lists = Lists(self)

    def closure(self, chosen: set[int]) -> set[int]:
        """The regions with the lists that lead to them, and with what these lead to."""
        regions, before = self.r.regions, -1
        while len(chosen) != before:
            before = len(chosen)
            for root, element in list(self.s.elements.items()):
                held = {regions.find(other) for other in reachable(self.s, element)}
                if held & chosen or regions.find(root) in chosen:
                    chosen |= {regions.find(root)} | (held & regions.written)
        return chosen

    def is_chosen(self, name: str) -> bool:
        facts = self.s.facts[name]
        if isinstance(facts, Pair):
            return any(self.r.regions.find(root) in self.chosen for root in reachable(self.s, facts))
        return self.r.regions.of(name) in self.chosen

    def is_known(self, name: str) -> bool:
        """True if a variable surely is an array of floats, or a container of arrays only."""
        facts = self.s.facts[name]
        if isinstance(facts, Num):
            return facts.kind == "array" and facts.differentiable
        return all(
            not isinstance(item, Num) or self.r.regions.find(min(item.roots, default=-1)) in self.chosen
            for item in elements(self.s, facts)
        )

    def has_shadow(self, name: str | None) -> bool:
        return name is not None and self.is_chosen(name) and self.r.activity.active(name)

    def facts(self, name: str) -> Facts:
        facts = self.shadows.facts(name)
        if isinstance(facts, (Listed, Mapped)):
            return replace(facts, roots=self.list_root)
        return replace(facts, roots=self.root) if isinstance(facts, Num) else facts

    def set(self, name: str, shadow: Leaf) -> None:
        self.s.facts[shadow.name] = self.facts(name)
        if name in self.s.unbound:
            self.s.unbound.add(shadow.name)
        self.shadows.call(shadow, name)
        self.shadows.table[name] = shadow
        self.shadows.beside.add(name)

    def of(self, name: str | None) -> str | None:
        if name is None:
            return None
        if name not in self.shadows.table:
            self.followed = False
            return None
        return self.shadows.table[name].name

    def joined(self, name: str) -> str:
        """The shadow of a variable that a branch or a loop leaves behind."""
        shadow = self.s.fresh_after(Role.COTANGENT, name, self.facts(name))
        self.s.named.add(shadow)
        self.set(name, Leaf(shadow))
        return shadow

    def find_leaving(self, block: ir.Block) -> None:
        """Note which views need their shadows here; all others take theirs in the reverse sweep."""
        statements = list(ir.walk(block))
        for stmt in statements:
            self.leaving |= {n for target, names in joins(stmt) if self.has_shadow(target) for n in names}
            if is_structural(stmt):
                self.leaving.update(operands(self.s, stmt))
        for stmt in reversed(statements):
            if isinstance(stmt, ir.Let) and stmt.op is not None and self.leaving.intersection(stmt.targets):
                self.leaving.update(stmt.op.shares)

    # -- statements

    def block(self, block: ir.Block) -> None:
        result: ir.Block = []
        for stmt in block:
            self.lists.before(stmt, result)
            result.append(stmt)
            with self.s.writing(result, self.s.lengths_in(block)):
                self.statement(stmt)
        block[:] = result

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Loop):
            self.loop(stmt)
            return
        for inner in ir.bodies(stmt):
            self.block(inner)
        if self.lists.takes(stmt):
            self.lists.statement(stmt)
        elif isinstance(stmt, ir.Let):
            self.let(stmt)
        elif isinstance(stmt, ir.If):
            for m in [m for m in stmt.merges if self.has_shadow(m.target)]:
                names = self.of(m.then), self.of(m.orelse)
                stmt.merges.append(ir.Merge(self.joined(m.target), *names))
        elif isinstance(stmt, ir.Try):
            for target, sources in [m for m in stmt.merges if self.has_shadow(m[0])]:
                shadows = [self.of(n) for n in sources]
                stmt.merges.append((self.joined(target), shadows))

    def let(self, stmt: ir.Let) -> None:
        targets = [t for t in stmt.targets if self.has_shadow(t)]
        if not targets:
            return
        if not self.shadows.is_view(stmt):
            for target in targets:
                self.set(target, self.shadows.fresh(target))
        elif not self.leaving.intersection(targets):
            return
        elif stmt.op is None or not stmt.op.shares or self.of(stmt.op.shares[0]) is None:
            self.followed = False
        elif len(stmt.targets) > 1:
            self.shadows.several_views(stmt)
            for target in targets:
                self.set(target, self.shadows.table[target])
        else:
            self.view(stmt)

    def view(self, stmt: ir.Let) -> None:
        """The same view of the shadow, as cheap to take again as the view itself."""
        s = self.s
        self.set(stmt.target, self.shadows.view(stmt, stmt.target))
        made = s.block[-1]
        assert isinstance(made, ir.Let) and stmt.op is not None
        if stmt not in self.shadows.uncertain:
            base = stmt.op.shares[0]
            shadow = self.shadows.of(base)
            arguments = {p: shadow if v == Leaf(base) else v for p, v in stmt.op.arguments.items()}
            made.op = ir.Op(stmt.op.fn, arguments, shares=(shadow.name,))

    def loop(self, stmt: ir.Loop) -> None:
        carries = [c for c in stmt.carries if self.has_shadow(c.phi)]
        inits = [self.of(c.init) for c in carries]
        added = [ir.Carry(self.joined(c.phi), init, None, self.joined(c.out)) for c, init in zip(carries, inits)]
        for inner in ir.bodies(stmt):
            self.block(inner)
        for c, carry in zip(carries, added):
            carry.next = self.of(c.next)
        stmt.carries += added


def beside(r: Reverse, block: ir.Block, chosen: frozenset[int]) -> bool:
    """Make the shadows of the chosen regions in the forward sweep; whether all of them could be."""
    if not chosen:
        return True
    pass_ = Beside(r, chosen)
    if pass_.followed:
        pass_.find_leaving(block)
        pass_.block(block)
    return pass_.followed
