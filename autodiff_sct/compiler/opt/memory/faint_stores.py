"""Faint stores: what is written into memory of which no content is read but by other such stores.

::

    A, B = A.copy(), B.copy()
    for t in range(n):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1:-1] = 0.5 * (B[:-2] + B[2:])
    d_A, d_B = np.full_like(A, d_out), np.full_like(B, d_out)
    for t in range(n - 1, -1, -1):           ->      the last five lines, with the arguments' own shapes
        d_t = d_A[1:-1] * 0.5
        d_B[2:] += d_t
        ...

The gradient of a linear program reads no value that the program computes, only shapes.  Its stores stay where they may
raise, unless the reverse sweep raises for the same shapes and subscripts (`meetings`).  Of a store that is dropped from
the straight line of the program, the products of matrices are left that may raise for themselves; of these, later, a
check.  A program that does anything besides computing stays as it is.
"""

from __future__ import annotations

from typing import Any

from ... import ir
from ...ad.tape.required_restores import contents
from ...analysis.alias import Regions, reachable, written_arguments
from ...analysis.effects import is_safe
from ...analysis.meetings import Meetings, Shapes, Unproven
from ...domain.facts import UNKNOWN, Num
from ...ir.function import Function
from ...ir.traversal import substitute_own
from ..scalar.dce import has_effect


def drop_faint_stores(s: Function, where: Regions, forward: ir.Block, reverse: ir.Block, final: ir.Return) -> None:
    """Drop the faint stores of the forward sweep, in place."""
    if any(has_effect(stmt) for stmt in ir.walk(forward)) or not any(isinstance(x, ir.Store) for x in ir.walk(forward)):
        return
    shapes = Shapes(s, [*forward, *reverse])
    faint = Faint(s, where, shapes, forward, [*reverse, final])
    blocks = matched(forward, reverse, Meetings(shapes))
    proved = faint.proved(blocks)
    while faint.stays(proved):
        proved = faint.proved(blocks)
    if proved:
        drop(s, forward, proved)
        for stmt in ir.walk([*forward, *reverse]) if faint.stand_ins else ():
            if not faint.stand_ins.keys().isdisjoint(ir.reads(stmt)):
                substitute_own(stmt, faint.stand_ins)


def matched(forward: ir.Block, reverse: ir.Block, meetings: Meetings) -> list[tuple[ir.Block, Meetings]]:
    """The blocks of the forward sweep with what the blocks do that reverse them."""
    meetings.learn(reverse)
    found = [(forward, meetings)]
    for loop in reverse:
        primal = getattr(loop, "primal", None)
        if isinstance(loop, ir.Loop) and loop.rerun is None and isinstance(primal, ir.Loop) and primal in forward:
            if loop.kind == primal.kind == "range" and loop.stop is primal.stop is None:
                found += matched(primal.body, loop.body, meetings.inside(primal, loop))
    return found


class Faint:
    """Marks, from results and effects back, the memory whose content somebody reads."""

    def __init__(self, s: Function, where: Regions, shapes: Shapes, forward: ir.Block, rest: ir.Block) -> None:
        self.s, self.where, self.shapes = s, where, shapes
        self.live: set[str] = set()
        self.regions: set[int] = set()  # whose content is read
        self.roots: set[Any] = set()  # statements that stay
        self.stand_ins: dict[str, Any] = {}  # variable of which only the shape is read -> an argument of that shape
        self.statements: ir.Block = []
        self.collect(forward, False)
        self.rest = [*ir.walk(rest)]
        self.given: dict[Any, str] = {}  # shape and dtype -> argument
        read = [name for stmt in [*self.statements, *self.rest] for name in ir.reads(stmt)]
        for name in filter(shapes.is_given, dict.fromkeys([*shapes.lets, *read])):
            self.regions |= self.regions_of(name)
            if (like := self.like(name)) is not None:
                self.given.setdefault(like, name)
        for stmt in self.rest:
            self.mark_all(stmt)
        self.settle()

    def like(self, name: str) -> Any:
        """The shape and the dtype of an array; None where they are not known."""
        dims, facts = self.shapes.of_name(name), self.s.facts.get(name)
        return (dims, facts.dtype) if isinstance(facts, Num) and dims and None not in dims else None

    def collect(self, block: ir.Block, guarded: bool) -> None:
        """List the statements of the forward sweep; what is in `try` and `with` stays."""
        for stmt in block:
            self.statements.append(stmt)
            if guarded:
                self.roots.add(stmt)
            for inner in ir.bodies(stmt):
                self.collect(inner, guarded or isinstance(stmt, (ir.Try, ir.With)))

    def regions_of(self, name: str) -> set[int]:
        facts = self.s.facts.get(name)
        return set() if facts is None else {self.where.find(root) for root in reachable(self.s, facts)}

    def mark(self, expr: Any) -> None:
        for name, _ in contents(expr):
            self.mark_name(name)

    def mark_name(self, name: str | None) -> None:
        if name is not None and ir.is_variable(name) and name not in self.live:
            self.live.add(name)
            self.regions |= self.regions_of(name)

    def mark_all(self, stmt: Any) -> None:
        for expr in ir.expressions(stmt):
            self.mark(expr)
        if isinstance(stmt, ir.Store):
            self.mark_name(stmt.base)
        elif type(stmt) not in ir.SIMPLE:
            for name in ir.uses(stmt):
                self.mark_name(name)

    def settle(self) -> None:
        """Mark until nothing is new."""
        count = -1
        while count != (count := len(self.live) + len(self.regions)):
            for stmt in self.statements:
                self.statement(stmt)

    def statement(self, stmt: Any) -> None:
        if isinstance(stmt, ir.Let):
            held = stmt.effect or stmt.in_place or len(stmt.targets) > 1 or stmt in self.roots
            if held or stmt.target in self.live or written_arguments(stmt) or not is_safe(self.s, stmt):
                self.mark_all(stmt)
        elif not (isinstance(stmt, ir.Store) and self.is_faint(stmt)):
            self.mark_all(stmt)

    def is_faint(self, stmt: ir.Store) -> bool:
        facts = self.s.facts[stmt.base]
        plain = isinstance(facts, Num) and facts.kind == "array" and not facts.tensor and bool(facts.roots)
        return plain and stmt not in self.roots and self.regions.isdisjoint(self.regions_of(stmt.base))

    def proved(self, pairs: list[tuple[ir.Block, Meetings]]) -> dict[Any, list[Any]]:
        """The faint stores that raise nothing which the reverse sweep does not, with the products that they leave."""
        found: dict[Any, list[Any]] = {}
        for k, (block, meetings) in enumerate(pairs):
            for stmt in block:
                if isinstance(stmt, ir.Store) and self.is_faint(stmt):
                    products: list[Any] = []
                    try:
                        meetings.proved_store(stmt, products if k == 0 else None)
                    except Unproven:
                        continue
                    found[stmt] = products
        return found

    def stays(self, proved: dict[Any, list[Any]]) -> bool:
        """Mark what is not proved, and what is computed for its shape; whether there is any."""
        left = [x for x in self.statements if isinstance(x, ir.Store) and self.is_faint(x) and x not in proved]
        self.roots.update(left or self.shown())
        self.settle()
        return bool(left or self.shown())

    def shown(self) -> list[Any]:
        """The statements that compute what is read for its shape only, and has no stand-in."""
        made = {x.target: x for x in self.statements if isinstance(x, ir.Let) and x not in self.roots}
        kept = [x for x in self.statements if type(x) not in ir.SIMPLE or isinstance(x, ir.Effect)]
        pending = [name for x in [*self.rest, *kept] for name in ir.reads(x)]
        seen, found = set(self.live), []
        self.stand_ins = {}
        while pending:
            name = pending.pop()
            if name in seen or name not in made:
                continue
            seen.add(name)
            like = self.like(name)
            if like in self.given:
                self.stand_ins[name] = ir.name(self.given[like])
            elif is_number(self.s, name):  # a length, say
                pending += ir.reads(made[name])
            else:
                found.append(made[name])
        return found


def is_number(s: Function, name: str) -> bool:
    return getattr(s.facts.get(name), "dims", None) == ()


def drop(s: Function, block: ir.Block, proved: dict[Any, list[Any]]) -> None:
    """Drop stores; products that may raise stay, without a reader."""
    kept: ir.Block = []
    for stmt in block:
        for inner in ir.bodies(stmt):
            drop(s, inner, proved)
        if stmt in proved:
            kept += [ir.Let((s.fresh("t", UNKNOWN),), e, None, stmt.origin, may_raise=True) for e in proved[stmt]]
        else:
            kept.append(stmt)
    block[:] = kept
