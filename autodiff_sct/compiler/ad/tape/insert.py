"""Recording: what the reverse sweep reads of the forward sweep.

In straight-line code a variable just stays alive.  Inside a loop it has one value for each iteration: the loop's own
index comes back by itself, cheap things (a view, an index, a length) are computed again, and only what is left is
saved, in one list for each variable, pushed where it is made and popped where the reverse of that block first needs it.
A value that only one side of a branch needs is saved on that side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from ... import ir
from ...analysis.definite_assignment import only_path
from ...analysis.liveness import names_read
from ...analysis.ownership import Generations
from ...analysis.remarks import explain_kept, note, places, readers
from ...domain import pass_registry
from ...domain.facts import INT, Listed, Num
from ...interp.kernel.specialiser import Specialiser
from ...ir import ir_targets
from ...ir.function import Role
from ...ir.traversal import read_instead, replaced, substitute_in
from .availability import AtHand, is_arithmetic
from .recompute import common_sources, lasting, twins


@dataclass
class Home:
    """The definition of a variable: its block, whether that is run many times, and its statement."""

    block: ir.Block
    repeated: bool
    stmt: Any


@dataclass
class Record:
    s: Specialiser
    memory: Generations
    interleaved: bool = False  # whether other activations of the same function save in the same lists
    plans: bool = field(default_factory=lambda: pass_registry.on("plan_tape"))  # whether costs decide what is saved
    computed: frozenset[str] = frozenset()  # functions of `math` that the forward sweep computes, and better saves
    homes: dict[str, Home] = field(default_factory=dict)
    saved: dict[str, str] = field(default_factory=dict)  # variable -> the list that keeps its values
    pushes: dict[int, list[tuple[str, Any]]] = field(default_factory=dict)
    lists: ir.Block = field(default_factory=list)
    wanted: dict[int, set[str]] = field(default_factory=dict)  # what the reverse of a block surely has of it
    readers: dict[str, list[Any]] = field(default_factory=dict)  # statements that read a variable, for explanations
    carried: set[str] = field(default_factory=set)  # what the next iteration of a reverse loop reads as well
    twins: dict[str, str] = field(default_factory=dict)  # numbers read again from a place -> the one read there first

    read: dict[Any, dict[str, None]] = field(default_factory=dict)  # what `names_read` has told
    needed: dict[Any, dict[str, None]] = field(default_factory=dict)  # what `needs` has told
    lasting: dict[str, Any] = field(default_factory=dict)  # numbers that stay in an array, each with its item there

    def locate(self, block: ir.Block, repeated: bool, around: ir.Block | None = None) -> None:
        """Note where each variable of the forward sweep is defined; `around` is reversed with the block as one."""
        around = block if around is None else around
        if repeated and self.plans:
            self.twins |= twins(self.s, self.memory.where, block)
        for stmt in block:
            for target in ir_targets(stmt):
                if not (isinstance(stmt, ir.Loop) and target == stmt.index):
                    self.homes.setdefault(target, Home(around, repeated, stmt))
            if isinstance(stmt, ir.Loop):
                for c in stmt.carries:
                    self.homes[c.phi] = Home(stmt.body, True, stmt)
                if stmt.index is not None:
                    self.homes[stmt.index] = Home(stmt.body, True, stmt)
                for inner in stmt.head:
                    for target in ir_targets(inner):
                        self.homes[target] = Home(stmt.body, True, stmt)
                self.locate(stmt.body, True)
            else:
                through = passed_through(stmt)
                for inner_block in ir.bodies(stmt):
                    self.locate(inner_block, repeated, around if inner_block in through else None)

    # -- the reverse sweep

    def block(
        self, reverse: ir.Block, forward: ir.Block, names: dict[str, str], carried: Sequence[str] = ()
    ) -> ir.Block:
        """The reverse block with the variables of its forward block made available.

        They are added to `names`, those from outside; `carried` are those that the next iteration reads.
        """
        self.carried.update(carried)
        read = Counter(n for stmt in reverse for n in self.needs(stmt) if self.is_local(n, forward))
        sides = {n for stmt in reverse if isinstance(stmt, ir.If) for n in self.needs(stmt) if read[n] == 1}
        self.wanted[id(forward)] = read.keys() - sides | set(carried)
        if self.plans:
            common_sources(self, forward)
        result: ir.Block = []
        if self.interleaved:  # the calls in the block pop from the same lists
            for stmt in reverse:
                self.prepare(stmt, reverse, forward, names, result)
        result += self.part(reverse, forward, names)
        for name in [n for n in carried if n not in names]:
            self.provide(name, forward, names, result)
        return result

    def part(self, reverse: ir.Block, forward: ir.Block, names: dict[str, str]) -> ir.Block:
        """A part of the reverse of a block; what it makes available is added to `names`."""
        result: ir.Block = []
        for stmt in reverse:
            self.prepare(stmt, reverse, forward, names, result)
            result.append(self.rewrite(stmt, forward, names))
        return result

    def prepare(self, stmt: Any, reverse: ir.Block, forward: ir.Block, names: dict[str, str], result: ir.Block) -> None:
        """Make what a statement of the reverse sweep needs available."""
        for name in self.missing(stmt, forward, names):
            if name not in names and not self.sinks(name, stmt, reverse, forward):
                self.provide(name, forward, names, result)

    def missing(self, stmt: Any, forward: ir.Block, names: dict[str, str]) -> list[str]:
        """The variables of the forward block, made anew in each iteration, that a statement needs."""
        return [n for n in self.needs(stmt) if n not in names and self.is_local(n, forward)]

    def needs(self, stmt: Any) -> dict[str, None]:
        """The arrays in which numbers stay that a statement of the reverse sweep reads, and what it reads.

        What has been rewritten is not asked for again but for what it does not read.
        """
        if stmt not in self.needed:
            found = names_read(stmt, self.read)
            holders = [self.lasting[n].value.id if n in self.lasting else self.list_around(n) for n in found]
            self.needed[stmt] = dict.fromkeys(n for n in holders if n is not None) | found
        return self.needed[stmt]

    def list_around(self, name: str) -> str | None:
        """The list of which a variable of an inner block is an item, if a block around that can take it again."""
        stmt = self.homes[name].stmt if name in self.homes else None
        if not isinstance(stmt, ir.Let) or stmt.effect or not isinstance(stmt.expr, gast.Subscript):
            return None
        holder = getattr(stmt.expr.value, "id", "")
        home = self.homes.get(holder)
        if home is None or not home.repeated or home.block is self.homes[name].block:
            return None
        again = isinstance(self.s.facts[holder], Listed) and AtHand(self, home.block, {}).is_cheap(holder)
        return holder if again else None

    def is_local(self, name: str, forward: ir.Block) -> bool:
        home = self.homes.get(name)
        return home is not None and home.repeated and home.block is forward

    def sinks(self, name: str, stmt: Any, reverse: ir.Block, forward: ir.Block) -> bool:
        """True if only the sides of one branch need a variable, so that they keep it themselves."""
        if not isinstance(stmt, ir.If) or name in {*ir.reads(stmt), *self.carried}:
            return False
        if AtHand(self, forward, {}).is_cheap(name):
            return False
        users = [other for other in reverse if name in self.needs(other)]
        primal = getattr(stmt, "primal", None)
        home = self.homes[name]
        if (
            users != [stmt]
            or primal is None
            or primal not in forward  # nobody needs what it computes
            or home.stmt is primal
            or any(name in (m.then, m.orelse) for m in stmt.merges)
        ):
            return False
        if forward.index(primal) < (forward.index(home.stmt) if home.stmt in forward else -1):
            return False
        for side in (primal.then, primal.orelse):
            self.homes_in[(name, id(side))] = True
        return True

    homes_in: dict[tuple[str, int], bool] = field(default_factory=dict)

    def provide(self, name: str, forward: ir.Block, names: dict[str, str], result: ir.Block) -> None:
        """Make a variable available from here on: by computing it again, or from where it was saved."""
        home = self.homes[name]
        counted = isinstance(home.stmt, ir.Loop) and home.stmt.kind != "iter"
        if counted and name == home.stmt.index and home.block is forward:
            raise AssertionError("a loop's index is provided with its loop")
        again = self.recomputed(name, forward, names, result)
        fresh = self.s.fresh_like(name)
        self.s.steps[fresh] = self.s.step_of(name)
        if name in self.s.named:
            self.s.named.add(fresh)
        if again is not None:
            result.append(ir.Let((fresh,), again))
            result[-1].repeats = None if AtHand(self, forward, names).stays(name) else home.stmt
            if name in self.s.named:
                note(self.s, result[-1], f"computed again, not saved: {self.s.hints[name]}")
        else:
            result.append(ir.Let((fresh,), ir.call(ir.attribute(ir.name(self.list_of(name)), "pop")), effect=True))
            self.pushes.setdefault(id(forward), []).append((name, home))
        names[name] = fresh

    def list_of(self, name: str) -> str:
        if name not in self.saved:
            role = Role.TAKEN if self.is_condition(name) else Role.SAVED
            facts = Listed(frozenset([self.s.root(("saved", name))]))
            self.s.put_element(facts, self.s.facts[name])
            list_name = self.s.fresh_after(role, name, facts)
            self.s.named.add(list_name)
            if not self.interleaved:
                self.s.saved.add(list_name)
            self.saved[name] = list_name
            made = ir.Let((list_name,), gast.List([], gast.Load()))
            made.saves = True
            self.lists.append(made)
        return self.saved[name]

    def is_condition(self, name: str) -> bool:
        facts = self.s.facts[name]
        return isinstance(facts, Num) and facts.dims == () and facts.dtype is not None and facts.dtype.kind == "b"

    def is_item_of(self, name: str, array: str) -> bool:
        """True if a variable is a number that is read from an array."""
        stmt, facts = self.homes[name].stmt, self.s.facts[name]
        number = isinstance(facts, Num) and facts.dims == ()
        return number and isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Subscript) and array in ir.reads(stmt)

    def is_pass(self, stmt: Any) -> bool:
        """True if a statement makes an array in one pass, of memory that nobody writes."""
        if not isinstance(stmt, ir.Let) or not is_arithmetic(stmt.expr) or stmt.in_place or not self.plans:
            return False
        facts = self.s.facts[stmt.target]
        if not isinstance(facts, Num) or facts.kind != "array" or facts.dtype is None or facts.dtype.kind not in "fc":
            return False
        return all(self.memory.stays(n, stmt) for n in (stmt.target, *ir.reads(stmt)))

    def recomputed(self, name: str, forward: ir.Block, names: dict[str, str], result: ir.Block) -> Any | None:
        home, there = self.homes[name], AtHand(self, forward, names)
        if not isinstance(home.stmt, ir.Let) or not there.is_cheap(name):
            return None
        expr = self.lasting[name] if there.stays(name) else home.stmt.expr
        mapping = {n: ir.name(new) for n, new in names.items()}
        for name in ir.variables_in(expr):
            operand = self.first(name)
            if operand not in names and self.is_local(operand, forward):
                self.provide(operand, forward, names, result)
            mapping[name] = ir.name(names.get(operand, operand))
        return ir.substitute(expr, mapping)

    def first(self, name: str) -> str:
        """The number that was read before from the same place."""
        return self.twins.get(name, name)

    def rewrite(self, stmt: Any, forward: ir.Block, names: dict[str, str]) -> Any:
        """A statement of the reverse sweep with the variables that stand for the forward sweep's."""
        mapping = {n: ir.name(names[n]) for n in ir.reads(stmt) if n in names}
        primal = getattr(stmt, "primal", None)
        if isinstance(stmt, ir.If):
            sides = (primal.then, primal.orelse) if isinstance(primal, ir.If) else (forward, forward)
            path = getattr(stmt, "path", None)
            if path is not None:
                attempt, k = path
                paths = [attempt.body, *(b for _, _, b in attempt.handlers)]
                sides = (paths[k], paths[k + 1] if k + 2 == len(paths) else forward)
            stmt.test = replaced(stmt.test, mapping)
            stmt.then, then = self.sunk(stmt.then, sides[0], names, [m.then for m in stmt.merges])
            stmt.orelse, orelse = self.sunk(stmt.orelse, sides[1], names, [m.orelse for m in stmt.merges])
            stmt.merges = [ir.Merge(m.target, *sources) for m, *sources in zip(stmt.merges, then, orelse)]
        elif isinstance(stmt, ir.Loop):
            self.rewrite_loop(stmt, primal, names, mapping)
        elif isinstance(stmt, ir.With):
            stmt.items = [(replaced(expr, mapping), n) for expr, n in stmt.items]
            stmt.body = self.part(stmt.body, forward, names)
        else:
            substitute_in(stmt, mapping)
        return stmt

    def sunk(
        self, reverse: ir.Block, forward: ir.Block, names: dict[str, str], leaving: list[str | None]
    ) -> tuple[ir.Block, list[str | None]]:
        """A side of a branch that keeps variables from before the branch itself, and what leaves the side."""
        moved = {n: self.homes[n] for n, side in self.homes_in if side == id(forward) and n not in names}
        for name, old in moved.items():
            self.homes[name] = Home(forward, old.repeated, None)  # not made here: saved where the side begins
        inner = dict(names)
        made = [n for n in leaving if n is not None and n not in names and self.is_local(n, forward)]
        result = self.block(reverse, forward, inner, made)
        self.homes |= moved
        return result, [self.renamed(n, inner) for n in leaving]

    def rewrite_loop(
        self, stmt: ir.Loop, primal: ir.Loop | None, names: dict[str, str], mapping: dict[str, Any]
    ) -> None:
        stmt.bounds = tuple(replaced(b, mapping) for b in stmt.bounds)
        for c in stmt.carries:
            c.init = self.renamed(c.init, names)
        inner = dict(names)
        if primal is not None and primal.index is not None and stmt.index is not None and primal.kind == "range":
            inner[primal.index] = stmt.index
        if stmt.rerun is not None:
            stmt.rerun.names = {n: names.get(new, new) for n, new in stmt.rerun.names.items()}
        forward = primal.body if primal is not None else stmt.body
        carried = [c.next for c in stmt.carries if c.next is not None and self.is_local(c.next, forward)]
        stmt.body = self.block(stmt.body, forward, inner, carried)
        for c in stmt.carries:
            c.next = self.renamed(c.next, inner)

    def renamed(self, name: str | None, names: dict[str, str]) -> str | None:
        return names.get(name, name) if name is not None else None

    # -- the forward sweep

    def push(self, block: ir.Block) -> None:
        """Put the saving statements where the saved values are made."""
        for stmt in block:
            for inner in ir.bodies(stmt):
                self.push(inner)
        for stmt in [x for x in block if isinstance(x, ir.Try) and x.handlers]:
            self.cut_off(stmt, block)
        for name, home in self.pushes.get(id(block), []):
            node = ir.Effect(ir.call(ir.attribute(ir.name(self.saved[name]), "append"), ir.name(name)), kind="save")
            note(self.s, node, f"saved: {places(self.readers.get(name, ()))} reads it")
            if self.interleaved:  # after what the calls in the block save
                block.append(node)
            else:
                insert_after(block, home.stmt, node)

    def cut_off(self, stmt: ir.Try, block: ir.Block) -> None:
        """Drop in the handlers the values saved by a block that an exception cut off."""
        inside = self.saved.values() if self.interleaved else (saved_into(inner) for inner in ir.walk(stmt.body))
        lists = dict.fromkeys(inside)
        for saved in [n for n in lists if n is not None]:
            mark = self.s.fresh(f"mark_{self.s.hints[saved]}", INT)
            self.s.named.add(mark)
            length = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(saved))
            block.insert(block.index(stmt), ir.Let((mark,), length, effect=True))
            for _, _, handler in stmt.handlers:
                rest = gast.Subscript(ir.name(saved), gast.Slice(ir.name(mark), None, None), gast.Del())
                handler.insert(0, ir.Effect(gast.Delete([rest]), kind="save"))


def passed_through(stmt: Any) -> list[ir.Block]:
    """The blocks of a statement that run with what is around it, and are reversed with that."""
    if isinstance(stmt, ir.With):
        return [stmt.body]
    if not isinstance(stmt, ir.Try):
        return []
    alone = only_path(stmt)
    return [stmt.final] if alone is None else [ir.bodies(stmt)[alone], stmt.final]


def insert_after(block: ir.Block, stmt: Any, node: Any) -> None:
    """Insert a statement after another one of a block, or at its beginning where that is none of it."""
    inside = [inner for outer in block for inner in passed_through(outer) if stmt in ir.walk(inner)]
    if stmt in block or not inside:
        block.insert(block.index(stmt) + 1 if stmt in block else 0, node)
    else:
        insert_after(inside[0], stmt, node)


def saved_into(stmt: Any) -> str | None:
    """The list into which a statement saves."""
    if isinstance(stmt, ir.Effect) and stmt.kind == "save" and isinstance(stmt.expr, gast.Call):
        return str(stmt.expr.func.value.id)
    return None


def record(
    s: Specialiser, memory: Generations, forward: ir.Block, reverse: ir.Block, computed: frozenset[str]
) -> tuple[ir.Block, ir.Block]:
    """Both sweeps with what has to be kept between them; `computed` are saved sooner than computed again."""
    table = Record(s, memory, computed=computed, readers=readers(s, reverse))
    if table.plans:
        table.lasting = lasting(s, memory, forward, reverse)
    table.locate(forward, False)
    for stmt in ir.walk(reverse) if table.twins else []:
        read_instead(stmt, table.twins)
    explain_kept(s, forward, table.readers)
    reverse = table.block(reverse, forward, {})
    table.push(forward)
    return [*table.lists, *forward], reverse


def record_activation(
    s: Specialiser, memory: Generations, inputs: list[str], forward: ir.Block, reverse: ir.Block
) -> tuple[dict[str, str], ir.Block, ir.Block]:
    """The lists by the variables that are saved in them, and both sweeps of a function that calls itself.

    The activations of the function share the lists; `inputs` are the arguments that are saved like other variables.
    """
    table = Record(s, memory, interleaved=True, readers=readers(s, reverse))
    table.homes = {n: Home(forward, True, None) for n in inputs}
    table.locate(forward, True)
    reverse = table.block(reverse, forward, {})
    table.push(forward)
    return table.saved, forward, reverse
