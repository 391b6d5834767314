"""Small arrays of known lengths as numbers.

An array of three numbers that is only read and written place by place needs no memory: each place becomes a variable
of its own.

    k = np.empty(2)                  k_0 = x * y
    k[0] = x * y                     k_1 = x - y
    k[1] = x - y                     z = k_0 + k_1
    z = k[0] + k[1]

Where such an array gets a second name (an assignment, what a loop carries, what a branch merges), its numbers are
copied.  That is the same as long as nobody writes through one of the names while the other is still read: `Uses.sound`
looks for that, and arrays of which it is not sure stay in memory.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import gast

from ... import ir
from ...frontend.builders import assign
from ..kinds import BOOL, FLOAT32, INT64
from ..lowering.tape import named, row_of
from ..state import State
from .index_functions import dtype_name

Place = tuple[int, ...]


@dataclass
class Edge:
    """One array given a second name: which, at what place in the program, inside which loops."""

    source: str
    target: str
    at: int
    loops: tuple[int, ...]


@dataclass
class Uses:
    """The uses of the small arrays of a program."""

    state: State
    shapes: dict[str, Place] = field(default_factory=dict)
    home: dict[str, tuple[int, ...]] = field(default_factory=dict)  # variable -> the loops around its definition
    made: set[str] = field(default_factory=set)  # made by np.empty or np.zeros
    edges: list[Edge] = field(default_factory=list)
    renamed: list[Edge] = field(default_factory=list)  # those that assignments make
    stores: dict[str, list[int]] = field(default_factory=dict)
    reads: dict[str, list[int]] = field(default_factory=dict)
    barred: set[str] = field(default_factory=set)
    count: int = 0

    def block(self, block: ir.Block, loops: tuple[int, ...]) -> None:
        for stmt in block:
            self.count += 1
            self.statement(stmt, loops)

    def statement(self, stmt: Any, loops: tuple[int, ...]) -> None:
        if isinstance(stmt, ir.Let) and self.definition(stmt, loops):
            return
        for expr in ir.expressions(stmt):
            self.read(expr)
        if isinstance(stmt, ir.Store):
            self.store(stmt)
        elif isinstance(stmt, ir.If):
            self.branches(stmt, loops)
        elif isinstance(stmt, ir.Loop):
            self.loop(stmt, loops)

    def definition(self, stmt: ir.Let, loops: tuple[int, ...]) -> bool:
        """True if a statement makes an array or gives one another name."""
        target = stmt.targets[0]
        if self.small(target) is None:
            return False
        self.home[target] = loops
        if is_new(stmt.expr):
            self.made.add(target)
            return True
        if isinstance(stmt.expr, gast.Name):
            self.edge(stmt.expr.id, target, loops)
            self.renamed.append(self.edges[-1])
            return True
        self.barred.add(target)
        return False

    def small(self, variable: str) -> Place | None:
        """The shape of a small array of known lengths."""
        if variable not in self.shapes:
            shape = row_of(self.state.values.get(variable))
            if not shape:
                return None
            self.shapes[variable] = shape
        return self.shapes[variable]

    def edge(self, source: str, target: str, loops: tuple[int, ...]) -> None:
        self.edges.append(Edge(source, target, self.count, loops))

    def read(self, expr: Any) -> None:
        """Note what an expression reads; an array that is more than read place by place stays in memory."""
        for name, shape in placed(self, expr):
            if shape is None:
                self.barred.add(name)
            self.reads.setdefault(name, []).append(self.count)

    def store(self, stmt: ir.Store) -> None:
        if place_of(stmt.index, self.small(stmt.base)) is None:
            self.barred.add(stmt.base)
        self.stores.setdefault(stmt.base, []).append(self.count)

    def branches(self, stmt: ir.If, loops: tuple[int, ...]) -> None:
        self.block(stmt.then, loops)
        self.block(stmt.orelse, loops)
        for m in stmt.merges:
            if self.small(m.target) is not None:
                self.home[m.target] = loops
            for source in (m.then, m.orelse):
                self.edge(str(source), m.target, loops)
        self.count += 1

    def loop(self, stmt: ir.Loop, loops: tuple[int, ...]) -> None:
        inner = (*loops, self.count)
        for c in stmt.carries:
            self.home[c.phi], self.home[c.out] = inner, loops
            self.edge(str(c.init), c.phi, loops)
        self.block(stmt.head, inner)
        self.block(stmt.body, inner)
        self.count += 1
        for c in stmt.carries:
            self.edge(str(c.next), c.phi, inner)
        self.count += 1
        for c in stmt.carries:
            self.edge(c.phi, c.out, loops)

    def chosen(self) -> set[str]:
        """The arrays that become numbers."""
        found = {name for name in self.home if self.small(name) is not None} - self.barred
        while True:
            bad = {n for n in found if not self.sound(n, found)}
            if not bad:
                return found
            found -= bad

    def sound(self, name: str, found: set[str]) -> bool:
        """True if an array may become numbers, if the others do."""
        out = [e for e in self.edges if e.source == name]
        into = [e for e in self.edges if e.target == name]
        if any(e.target not in found for e in out):
            return False
        if any(e.source not in found and not self.constant(e.source) for e in into):
            return False
        stores = self.stores.get(name, [])
        if not stores:
            return True
        # Nobody gets another name before the last store, nor is read under an older name after the first.
        return all(self.ends(name, e) and e.at > max(stores) for e in out) and all(map(self.dead, self.older(name)))

    def older(self, name: str) -> list[Edge]:
        """The edges by which an array came to its name."""
        found: list[Edge] = []
        waiting = {name}
        while waiting:
            new = [e for e in self.edges if e.target in waiting and e not in found]
            found += new
            waiting = {e.source for e in new}
        return found

    def constant(self, variable: str) -> bool:
        """True if an array in memory is never written: so it is with all that comes from outside."""
        return variable in self.state.given and self.small(variable) is not None

    def ends(self, name: str, edge: Edge) -> bool:
        """True if no loop comes back from behind an edge to where a variable, not made anew, is used."""
        home = self.home.get(name)
        return home is not None and home[: len(edge.loops)] == edge.loops

    def dead(self, edge: Edge) -> bool:
        """True if an array is not used any more under its old name."""
        used = [*self.reads.get(edge.source, []), *self.stores.get(edge.source, [])]
        used += [e.at for e in self.edges if e.source == edge.source and e is not edge]
        return self.ends(edge.source, edge) and all(at < edge.at for at in used)


def filled_at_once(uses: Uses, block: ir.Block) -> set[str]:
    """The arrays whose places are all assigned right after the array is made."""
    found = set()
    for k, stmt in enumerate(block):
        shape = uses.small(stmt.targets[0]) if isinstance(stmt, ir.Let) and is_new(stmt.expr) else None
        if shape is not None:
            name, count = stmt.targets[0], math.prod(shape)
            stores = [s for s in block[k + 1 : k + 1 + count] if isinstance(s, ir.Store) and s.base == name]
            reads = [n for s in stores for e in ir.expressions(s) for n in ir.names_in(e)]
            places = {place_of(s.index, shape) for s in stores if s.aug is None}
            if len(places) == count and name not in reads:
                found.add(name)
    return found


def is_new(expr: Any) -> bool:
    return (
        isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr in ("empty", "zeros")
    )


def place_of(index: Any, shape: Place | None) -> Place | None:
    """The place that an index of literals names."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    if shape is None or len(parts) != len(shape):
        return None
    if not all(isinstance(p, gast.Constant) and type(p.value) is int for p in parts):
        return None
    place = tuple(p.value for p in parts)
    return place if all(0 <= k < n for k, n in zip(place, shape)) else None


def placed(uses: Uses, expr: Any) -> list[tuple[str, Place | None]]:
    """The small arrays in an expression, with the place that is read; None where it is something else."""
    if isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name):
        place = place_of(expr.slice, uses.small(expr.value.id))
        if place is not None:
            return [(expr.value.id, place)]
    if length_in(uses, expr) is not None:
        return []
    if isinstance(expr, gast.Name):
        return [(expr.id, None)] if uses.small(expr.id) is not None else []
    return [found for inner in ir.children(expr) for found in placed(uses, inner)]


def length_in(uses: Uses, expr: Any) -> int | None:
    """The length that ``len(a)`` or ``a.shape[k]`` of a small array is."""
    if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len" and isinstance(expr.args[0], gast.Name):
        shape = uses.small(expr.args[0].id)
        return None if shape is None else shape[0]
    if isinstance(expr, gast.Subscript) and getattr(expr.value, "attr", "") == "shape":
        base = expr.value.value
        shape = uses.small(base.id) if isinstance(base, gast.Name) else None
        if shape is not None and isinstance(expr.slice, gast.Constant):
            return shape[expr.slice.value]
    return None


def in_registers(state: State, first: ir.Block, second: ir.Block) -> None:
    """Replace the small arrays of a program by numbers."""
    uses = Uses(state)
    *_, last = second
    uses.block(first, ())
    uses.block(second[:-1], ())
    returned = arrays_in(last.value)
    uses.barred |= {n for n, place in placed(uses, last.value) if place is None and n not in returned}
    for name in returned:
        uses.reads.setdefault(name, []).append(uses.count + 1)
    chosen = uses.chosen()
    if chosen:
        mine = [e for e in reversed(uses.renamed) if {e.source, e.target} <= chosen and e.source in uses.made]
        writer = Writer(state, uses, chosen, same={e.source: e.target for e in mine if uses.dead(e)})
        first[:] = writer.block(first)
        second[:] = [*writer.block(second[:-1]), *writer.result(last)]


def arrays_in(value: Any) -> set[str]:
    """The names that a returned value holds as they are."""
    parts = value.elts if isinstance(value, gast.Tuple) else [value]
    inner = [arrays_in(part) for part in parts if isinstance(part, gast.Tuple)]
    return {part.id for part in parts if isinstance(part, gast.Name)}.union(*inner)


@dataclass
class Writer:
    """A program with its small arrays as numbers."""

    state: State
    uses: Uses
    chosen: set[str]
    names: dict[str, dict[Place, str]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)  # arrays that share the variables of another
    filled: set[str] = field(default_factory=set)  # those of which each place is assigned right after they are made

    def places(self, variable: str) -> dict[Place, str]:
        """The variables of an array, by place."""
        while variable in self.same:
            variable = self.same[variable]
        if variable not in self.names:
            hint = named(self.state, self.state.s.hints[variable] + "_")
            places = list(itertools.product(*map(range, self.uses.shapes[variable])))
            self.names[variable] = {p: hint + "_".join(map(str, p)) for p in places}
            self.state.reserved |= set(self.names[variable].values())
        return self.names[variable]

    def block(self, block: ir.Block) -> ir.Block:
        self.filled |= filled_at_once(self.uses, block)
        return [new for stmt in block for new in self.statement(stmt)]

    def statement(self, stmt: Any) -> ir.Block:
        if isinstance(stmt, ir.Let) and stmt.targets[0] in self.chosen:
            if is_new(stmt.expr):
                return [] if stmt.targets[0] in self.filled else self.zeros(stmt)
            return self.copy([(stmt.expr.id, stmt.targets[0])], stmt.origin)
        if isinstance(stmt, ir.Store) and stmt.base in self.chosen:
            return [self.stored(stmt)]
        self.rewrite(stmt)
        if isinstance(stmt, ir.If):
            return self.branches(stmt)
        return self.loop(stmt) if isinstance(stmt, ir.Loop) else [stmt]

    def rewrite(self, stmt: Any) -> None:
        """Replace what a statement itself reads."""
        if isinstance(stmt, (ir.Let, ir.Effect)):
            stmt.expr = self.expression(stmt.expr)
        elif isinstance(stmt, ir.Store):
            stmt.index, stmt.value = self.expression(stmt.index), self.expression(stmt.value)
        elif isinstance(stmt, ir.If):
            stmt.test = self.expression(stmt.test)
        elif isinstance(stmt, ir.Loop):
            stmt.bounds = tuple(map(self.expression, stmt.bounds))
            stmt.test = None if stmt.test is None else self.expression(stmt.test)
            stmt.stop = None if stmt.stop is None else self.expression(stmt.stop)

    def expression(self, expr: Any) -> Any:
        if isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name) and expr.value.id in self.chosen:
            return ir.name(self.places(expr.value.id)[place_of(expr.slice, self.uses.small(expr.value.id))])  # type: ignore[index]
        length = length_in(self.uses, expr)
        if length is not None and set(ir.names_in(expr)) & self.chosen:
            return ir.constant(length)
        if not isinstance(expr, gast.AST) or isinstance(expr, gast.Name):
            return expr
        changed = {}
        for part in ir.PARTS.get(type(expr), ()):
            old = getattr(expr, part, None)
            if isinstance(old, list):
                changed[part] = [self.expression(item) for item in old]
            elif isinstance(old, gast.AST):
                changed[part] = self.expression(old)
        return type(expr)(**{key: changed.get(key, getattr(expr, key, None)) for key in expr._fields})

    def zeros(self, stmt: ir.Let) -> ir.Block:
        dtype = self.state.values[stmt.targets[0]].dtype
        value = {BOOL: ir.constant(False), INT64: ir.constant(0)}.get(dtype, ir.constant(0.0))
        value = ir.call("np.float32", value) if dtype == FLOAT32 else value
        return [ir.Effect(assign(n, value), stmt.origin) for n in self.places(stmt.targets[0]).values()]

    def stored(self, stmt: ir.Store) -> ir.Effect:
        place = place_of(stmt.index, self.uses.small(stmt.base))
        name, value = self.places(stmt.base)[place], self.expression(stmt.value)  # type: ignore[index]
        if stmt.aug is None:
            return ir.Effect(assign(name, value), stmt.origin)
        return ir.Effect(gast.AugAssign(gast.Name(name, gast.Store(), None, None), stmt.aug(), value), stmt.origin)

    def copy(self, pairs: list[tuple[str, str]], origin: Any = None) -> ir.Block:
        """Give arrays the numbers of others, all at once."""
        targets, values = [], []
        for source, target in pairs:
            for place, name in self.places(target).items():
                value = self.item(source, place)
                if not (isinstance(value, gast.Name) and value.id == name):
                    targets.append(gast.Name(name, gast.Store(), None, None))
                    values.append(value)
        if len(targets) < 2:
            return [ir.Effect(gast.Assign([t], v, None), origin) for t, v in zip(targets, values)]
        return [ir.Effect(gast.Assign([gast.Tuple(targets, gast.Store())], ir.tuple_(values), None), origin)]

    def item(self, source: str, place: Place) -> Any:
        if source in self.chosen:
            return ir.name(self.places(source)[place])
        parts = [ir.constant(k) for k in place]
        return ir.subscript(ir.name(source), parts[0] if len(parts) == 1 else ir.tuple_(parts))

    def branches(self, stmt: ir.If) -> ir.Block:
        mine = [m for m in stmt.merges if m.target in self.chosen]
        stmt.merges = [m for m in stmt.merges if m.target not in self.chosen]
        stmt.then = [*self.block(stmt.then), *self.copy([(str(m.then), m.target) for m in mine])]
        stmt.orelse = [*self.block(stmt.orelse), *self.copy([(str(m.orelse), m.target) for m in mine])]
        return [stmt]

    def loop(self, stmt: ir.Loop) -> ir.Block:
        mine = [c for c in stmt.carries if c.phi in self.chosen]
        stmt.carries = [c for c in stmt.carries if c.phi not in self.chosen]
        self.same |= {c.out: c.phi for c in mine}
        start = self.copy([(str(c.init), c.phi) for c in mine])
        stmt.head = self.block(stmt.head)
        stmt.body = [*self.block(stmt.body), *self.copy([(str(c.next), c.phi) for c in mine])]
        return [*start, stmt]

    def result(self, stmt: ir.Return) -> ir.Block:
        """The return: what leaves is put into memory."""
        made: ir.Block = []
        mapping = {}
        for name in sorted(arrays_in(stmt.value) & self.chosen):
            value = self.state.values[name]
            memory = self.state.s.fresh_like(name)
            self.state.define(memory, self.state.kinds.get(name))
            shape = ir.constant(self.uses.shapes[name] if value.ndim > 1 else self.uses.shapes[name][0])
            made.append(ir.Let((memory,), ir.call("np.empty", shape, dtype_name(value.dtype)), None, stmt.origin))
            for place in self.places(name):
                index = ir.constant(place if len(place) > 1 else place[0])
                made.append(ir.Store(memory, index, self.item(name, place), None, stmt.origin))
            mapping[name] = ir.name(memory)
        stmt.value = self.expression(ir.substitute(stmt.value, mapping))
        return [*made, stmt]
