"""Liveness: uses counted, dead statements dropped, and live ranges of variables."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import gast

from .. import ir
from ..ir import ir_targets
from ..ir.function import Function
from .alias import reachable, roots_of


class Liveness:
    """Marks, from effects and results back, the variables that somebody reads."""

    def __init__(
        self, s: Function, program: ir.Block, strict: set[Any], shadows: set[str], rules: bool = False
    ) -> None:
        self.rules = rules
        self.live: set[str] = set()
        self.marked: set[Any] = set()  # statements that stay, what they read being live
        self.s = s
        self.live_roots: set[int] = set()
        self.strict, self.shadows = strict, shadows
        self.program = program
        rest = inside_out(program)
        known: set[str] = set()
        changed = True
        while changed:
            rest = [stmt for stmt in rest if not self.is_settled(stmt)]
            new = self.live - known
            self.live_roots.update(*[reachable(s, s.facts[name]) for name in new])
            known |= new
            changed = bool(new)

    def is_settled(self, stmt: Any) -> bool:
        """Mark what a statement needs; whether there is no more to come."""
        if type(stmt) is ir.Let:
            if kept := self.keeps(stmt):
                self.marked.add(stmt)
                self.live.update(ir.variables_in(stmt.expr))
                if self.rules and stmt.op is not None:
                    self.live.update(stmt.op.beside)
            return kept
        if stmt not in self.marked and self.keeps(stmt):
            self.marked.add(stmt)
            self.live.update(ir.reads(stmt))
        if type(stmt) in ir.SIMPLE:
            return stmt in self.marked
        if isinstance(stmt, ir.If):
            for m in stmt.merges:
                if m.target in self.live:
                    self.live.update(n for n in (m.then, m.orelse) if n)
        elif isinstance(stmt, ir.Try):
            for target, names in stmt.merges:
                if target in self.live:
                    self.live.update(n for n in names if n)
        elif isinstance(stmt, ir.Loop):
            for c in stmt.carries:
                if c.phi in self.live or c.out in self.live:
                    self.live.update(n for n in (c.init, c.next) if n)
        return False

    def keeps(self, stmt: Any) -> bool:
        """True if a statement has to stay."""
        if type(stmt) is ir.Let:
            return not self.live.isdisjoint(stmt.targets) or stmt.effect or (stmt.may_raise and stmt in self.strict)
        if isinstance(stmt, ir.Store):
            if stmt in self.strict or stmt.base not in self.shadows or stmt.base in self.live:
                return True
            return bool(roots_of(self.s.facts[stmt.base]) & self.live_roots)
        if isinstance(stmt, ir.If):
            return self.holds_marked(stmt) or any(m.target in self.live for m in stmt.merges)
        if isinstance(stmt, ir.Loop):
            return (
                self.holds_marked(stmt)
                or stmt.trips in self.live
                or any(c.out in self.live for c in stmt.carries)
                or stmt.kind == "while"
            )
        if isinstance(stmt, ir.With) and stmt not in self.strict:
            return self.holds_marked(stmt)
        return True

    def holds_marked(self, stmt: Any) -> bool:
        """True if something directly inside a statement stays: that is marked before the statement is looked at."""
        return any(not self.marked.isdisjoint(block) for block in ir.bodies(stmt))

    def prune(self, block: ir.Block) -> ir.Block:
        """Drop the dead statements of a block, and inside its statements, in place."""
        kept = [stmt for stmt in block if stmt in self.marked or (type(stmt) is not ir.Let and self.keeps(stmt))]
        for stmt in [stmt for stmt in kept if type(stmt) not in ir.SIMPLE]:
            if isinstance(stmt, ir.If):
                stmt.then[:], stmt.orelse[:] = self.prune(stmt.then), self.prune(stmt.orelse)
                stmt.merges = [m for m in stmt.merges if m.target in self.live]
            elif isinstance(stmt, ir.Loop):
                stmt.head[:], stmt.body[:] = self.prune(stmt.head), self.prune(stmt.body)
                stmt.carries = [c for c in stmt.carries if c.phi in self.live or c.out in self.live]
                if stmt.trips is not None and stmt.trips not in self.live:
                    stmt.trips = None
            elif isinstance(stmt, ir.With):
                stmt.body[:] = self.prune(stmt.body)
            elif isinstance(stmt, ir.Try):
                for inner in ir.bodies(stmt):
                    inner[:] = self.prune(inner)
                stmt.merges = [m for m in stmt.merges if m[0] in self.live]
        return kept


def inside_out(block: ir.Block) -> ir.Block:
    """The statements of a block from the last to the first, control statements before and after those inside them."""
    found = []
    for stmt in reversed(block):
        if type(stmt) not in ir.SIMPLE:
            found.append(stmt)
            for inner in reversed(ir.bodies(stmt)):
                found += inside_out(inner)
        found.append(stmt)
    return found


def sweep_dead(s: Function, program: ir.Block, strict: set[Any], shadows: set[str], rules: bool = False) -> ir.Block:
    """The program without what nobody reads; statements in `strict` may raise and then stay.

    With `rules`, what the rule of a statement reads beside its expression stays, too.
    """
    return Liveness(s, program, strict, shadows, rules).prune(program)


def count_uses(program: ir.Block) -> dict[str, int]:
    """The number of reads of each variable."""
    return Counter(ir.uses_in(program))


def names_read(stmt: Any, known: dict[Any, dict[str, None]]) -> dict[str, None]:
    """The variables that a statement and the blocks inside it read or pass on, in order; `known` are those found."""
    found = known.get(stmt)
    if found is None:
        found = dict.fromkeys(ir.reads(stmt) if type(stmt) in ir.SIMPLE else ir.uses(stmt))
        for body in ir.bodies(stmt):
            for inner in body:
                found.update(names_read(inner, known))
        known[stmt] = found
    return found


def readers_of(block: ir.Block, known: dict[Any, dict[str, None]] | None = None) -> dict[str, list[Any]]:
    """The readers of each variable among the statements of a block, in order; `known` as in `names_read`."""
    readers: dict[str, list[Any]] = {}
    known = {} if known is None else known
    for stmt in block:
        for name in names_read(stmt, known):
            readers.setdefault(name, []).append(stmt)
    return readers


Segment = tuple[float, float]
COLUMNS = 24  # of a name that tells what is computed
REDUCTIONS = {"sum", "prod", "max", "min", "mean", "any", "all"}


@dataclass
class Lives:
    """The live ranges: for each variable, the stretches of the program during which its value is still read."""

    segments: dict[str, list[Segment]] = field(default_factory=lambda: defaultdict(list))
    place: int = 0

    def program(self, block: ir.Block, arguments: list[str]) -> None:
        self.number(block)
        live = self.block(block, {})
        for name in arguments:
            self.segments[name].append((-1, live.get(name, -0.5)))

    def number(self, block: ir.Block) -> None:
        for stmt in block:
            self.place += 1
            stmt.place = self.place
            for inner in ir.bodies(stmt):
                self.place += 1
                self.number(inner)
            self.place += 1
            stmt.end = self.place

    def define(self, name: str, place: float, live: dict[str, float]) -> None:
        self.segments[name].append((place, live.pop(name, place + 0.5)))

    def block(self, block: ir.Block, live: dict[str, float]) -> dict[str, float]:
        """Walk backwards; `live` maps what is read later to where it is read last."""
        for stmt in reversed(block):
            live = self.statement(stmt, live)
        return live

    def statement(self, stmt: Any, live: dict[str, float]) -> dict[str, float]:
        kind = type(stmt)
        if kind is ir.If:
            return self.branches(
                stmt, live, [stmt.then, stmt.orelse], [(m.target, [m.then, m.orelse]) for m in stmt.merges]
            )
        if kind is ir.Try:
            self.attempt(stmt, live)
            return live
        if kind is ir.Loop:
            return self.loop(stmt, live)
        if kind is ir.With:
            live = self.block(stmt.body, live)
        for name in ir_targets(stmt):
            self.define(name, stmt.place, live)
        for name in ir.reads(stmt):
            live.setdefault(name, stmt.place)
        return live

    def branches(
        self, stmt: Any, live: dict[str, float], sides: list[ir.Block], merges: list[tuple[str, list[str | None]]]
    ) -> dict[str, float]:
        for target, _ in merges:
            self.define(target, stmt.end, live)
        result = dict(live)
        before = []
        for k, side in enumerate(sides):
            inner = dict(live)
            last = side[-1].end + 0.25 if side else stmt.place + 0.25 + 0.1 * k
            for _, names in merges:
                if (source := names[k]) is not None:
                    inner.setdefault(source, last)
            inner = self.block(side, inner)
            first = side[0].place - 0.5 if side else stmt.place + 0.1
            before.append((inner, first))
        for inner, first in before:
            for name, end in inner.items():
                if name not in live:
                    self.segments[name].append((first, end))
                    result.setdefault(name, stmt.place + 0.05)
        for name in ir.reads(stmt):
            result.setdefault(name, stmt.place)
        return result

    def attempt(self, stmt: ir.Try, live: dict[str, float]) -> None:
        """Extend the ranges of variables that a handler reads over its block: an exception may come anywhere."""
        live.update(self.block(stmt.final, live))
        for target, _ in stmt.merges:
            self.define(target, stmt.end, live)
        if stmt.took:
            self.define(stmt.took, stmt.place, live)
        handlers = [block for _, _, block in stmt.handlers]
        for inner in chain.from_iterable(map(ir.walk, handlers)):
            for name in ir.reads(inner):
                live.setdefault(name, stmt.end)
        paths = [stmt.body, *handlers]
        for k in reversed(range(len(paths))):
            last = paths[k][-1].end + 0.25 if paths[k] else stmt.end
            for _, names in stmt.merges:
                if (source := names[k]) is not None:
                    live[source] = max(last, live.get(source, last))
            live.update(self.block(paths[k], live))
        for _, bound, _ in stmt.handlers:
            if bound is not None:
                self.define(bound, stmt.place, live)

    def loop(self, stmt: ir.Loop, live: dict[str, float]) -> dict[str, float]:
        for c in stmt.carries:
            self.define(c.out, stmt.end, live)
        if stmt.trips is not None:
            self.define(stmt.trips, stmt.place - 0.2, live)
        inside = dict(live)
        unpacked = ir.variables_in(stmt.items) if stmt.items is not None else ()
        own = dict.fromkeys([*(c.phi for c in stmt.carries), *([stmt.index] if stmt.index else []), *unpacked])
        made = {n for inner in ir.walk([*stmt.head, *stmt.body]) for n in ir_targets(inner)}
        made |= {c.phi for inner in ir.walk(stmt.body) if isinstance(inner, ir.Loop) for c in inner.carries}
        # What a loop leaves as it came from outside, it must find there after its last iteration.
        for name in [*read_in_loop(stmt), *(c.next for c in stmt.carries if c.next is not None)]:
            if name not in own and name not in made:
                inside.setdefault(name, stmt.end - 0.1)
        outer = dict(inside)
        for c in stmt.carries:
            if c.next is not None:
                inside.setdefault(c.next, stmt.end - 0.1)
        if stmt.stop is not None:
            for name in ir.names_in(stmt.stop):
                if ir.is_variable(name):
                    inside.setdefault(name, stmt.end - 0.2)
        inside = self.block(stmt.body, inside)
        if stmt.test is not None:
            tested = stmt.head[-1].end + 0.25 if stmt.head else stmt.place + 0.9
            # Where the test ends the loop, what is carried leaves it as it was at the head.
            for name in [*ir.names_in(stmt.test), *(c.phi for c in stmt.carries)]:
                if ir.is_variable(name):
                    inside.setdefault(name, tested)
        inside = self.block(stmt.head, inside)
        bounds = dict.fromkeys(name for bound in stmt.bounds for name in ir.variables_in(bound))
        # What is carried gets its first value before the bounds are read: of one bound it may go on with the name.
        same = next((c for c in stmt.carries if c.init in bounds), None)
        others = {c.phi for c in stmt.carries if c is not same} if same is not None else set()
        if stmt.index is not None:  # two loops, one in the other, do not count by one name
            within = [x for x in ir.walk(stmt.body) if isinstance(x, ir.Loop) and x.index is not None]
            self.segments[stmt.index] += [(x.place, x.end) for x in within]
        for name in own:
            self.define(name, stmt.place + (0.07 if name in others else 0.1), inside)
        for c in stmt.carries:
            if c.init is not None:
                outer[c.init] = max(outer.get(c.init, -1), stmt.place + 0.05)
        for name in bounds:
            end = stmt.place + (0.09 if same is not None and name == same.init else 0.15)
            outer[name] = max(outer.get(name, -1), end)
        for c in stmt.carries:
            inits = [x.init for x in stmt.carries]
            if c.phi not in inits:
                outer.pop(c.phi, None)
        outer.pop(stmt.index or "", None)  # which may be read after the loop
        return outer


def read_in_loop(stmt: ir.Loop) -> list[str]:
    """The names that every iteration of a loop reads."""
    tests = [name for expr in (stmt.test, stmt.stop) if expr is not None for name in ir.names_in(expr)]
    return [n for inner in [*stmt.head, *stmt.body] for n in ir.reads_inside(inner)] + [
        n for n in tests if ir.is_variable(n)
    ]


def uncounted(s: Function, statements: list[Any]) -> set[str]:
    """The counters of loops that only repeat something: they have no name of the user's, and nobody reads them."""
    found = [x.index for x in statements if isinstance(x, ir.Loop) and x.kind == "range" and x.index is not None]
    counters = {index for index in found if index not in s.named or not s.hints[index].strip("_")}
    return counters - {n for x in statements for n in ir.uses(x)} if counters else set()


def describe(s: Function, expr: Any) -> str | None:
    if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "float" and len(expr.args) == 1:
        expr = expr.args[0]
    operands = [] if not isinstance(expr, gast.Call) else expr.args
    if isinstance(expr, gast.Call) and not operands and isinstance(expr.func, gast.Attribute):
        operands = [expr.func.value] if expr.func.attr in REDUCTIONS else []
    if len(operands) == 1 and isinstance(operands[0], gast.Name):
        callee = expr.func.attr if isinstance(expr.func, gast.Attribute) else getattr(expr.func, "id", "")
        argument = s.hints.get(operands[0].id, operands[0].id)
        text = f"{callee}_{argument}"
        return text if len(text) <= COLUMNS and text.isidentifier() else None
    return None
