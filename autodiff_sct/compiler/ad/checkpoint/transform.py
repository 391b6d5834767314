"""Loops over segments: the state kept at the start of each, and each run again before it is reversed.

::

    for i in segments(range(n), every=k):         kept_x = []
        x = step(x, i)                            for start in range(0, n, k):
                                                      kept_x.append(x)
                                                      for i in range(start, min(start + k, n)):
                                                          x = step(x, i)
                                                  ...
                                                  for start in reversed(range(0, n, k)):
                                                      stop = min(start + k, n)
                                                      x = kept_x.pop()
                                                      saved_x = []
                                                      for i in range(start, stop):
                                                          saved_x.append(x)
                                                          x = step(x, i)
                                                      for i in range(stop - 1, start - 1, -1):
                                                          d_x = d_step(saved_x.pop(), i, d_x)

`record` has written both sweeps as for any loop.  The steps with what they save become the run again, under names of
their own; the forward sweep keeps them without.  Memory that the loop writes is part of the state: its content is kept,
and put back where it was, so that every name and every view of it sees it as it did then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gast

from ... import ir
from ...analysis.remarks import hand_on, note
from ...domain.facts import INT, Facts, Listed, Num
from ...ir.function import Role
from ...ir.traversal import substitute_own
from ..recursion.function_pairs import cloned
from ..reverse.loops import reversed_bounds
from ..reverse.transform import Reverse
from ..tape.insert import saved_into
from .plan import estimate, steps_again


def pending(node: ir.Loop) -> bool:
    return node.primal is not None and node.primal.every is not None


def saves(loop: ir.Loop) -> bool:
    return any(saved_into(stmt) is not None for stmt in ir.walk(loop.body))


def settled(node: ir.Loop) -> None:
    """Leave a reverse loop as it is from here on."""
    node.primal.every, node.primal, node.rerun, node.state_reads = None, None, None, ()


@dataclass
class Steps:
    """The numbers that a segmented loop counts with: in the forward or in the reverse sweep."""

    bounds: tuple[Any, Any, Any]
    every: Any

    @property
    def step(self) -> int | None:
        """The loop's step, where it is known."""
        node = self.bounds[2]
        sign = -1 if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) else 1
        number = node.operand if sign < 0 else node
        known = isinstance(number, gast.Constant) and isinstance(number.value, int)
        return sign * number.value if known else None

    def starts(self) -> tuple[Any, ...]:
        """The first step of each segment: its index, or its number where the direction is not known."""
        if self.step is None:
            return trimmed((ir.constant(0), ir.call("len", ir.call("range", *self.bounds)), self.every))
        return trimmed((self.bounds[0], self.bounds[1], times(self.every, self.step)))

    def segment(self, start: str) -> tuple[Any, Any]:
        """The begin and the end of a segment."""
        first, last, step = self.bounds
        if self.step is None:
            count = ir.call("len", ir.call("range", *self.bounds))
            end = ir.call("min", ir.binop(ir.name(start), gast.Add, self.every), count)
            return tuple(  # type: ignore[return-value]
                ir.binop(first, gast.Add, ir.binop(k, gast.Mult, step)) for k in (ir.name(start), end)
            )
        end = ir.binop(ir.name(start), gast.Add, times(self.every, abs(self.step)))
        if self.step < 0:
            end = ir.binop(ir.name(start), gast.Sub, times(self.every, abs(self.step)))
        return ir.name(start), ir.call("min" if self.step > 0 else "max", end, last)


def times(every: Any, factor: int) -> Any:
    if isinstance(every, gast.Constant):
        return ir.constant(every.value * factor)
    if factor == -1:
        return gast.UnaryOp(gast.USub(), every)
    return every if factor == 1 else ir.binop(every, gast.Mult, ir.constant(factor))


def trimmed(bounds: tuple[Any, Any, Any]) -> tuple[Any, ...]:
    """The bounds of a range as one would write them."""
    if isinstance(bounds[2], gast.Constant) and bounds[2].value == 1:
        zero = isinstance(bounds[0], gast.Constant) and bounds[0].value == 0
        return bounds[1:2] if zero else bounds[:2]
    return bounds


def all_bounds(loop: ir.Loop) -> tuple[Any, Any, Any]:
    first = ir.constant(0) if len(loop.bounds) == 1 else loop.bounds[0]
    last = loop.bounds[0] if len(loop.bounds) == 1 else loop.bounds[1]
    return first, last, loop.bounds[2] if len(loop.bounds) == 3 else ir.constant(1)


class Segments:
    """Writes one loop over segments."""

    def __init__(self, r: Reverse, forward: ir.Block, reverse: ir.Block, node: ir.Loop) -> None:
        self.r, self.s = r, r.s
        self.forward, self.reverse, self.node, self.loop = forward, reverse, node, node.primal
        there = {n: ir.name(new) for n, new in node.rerun.names.items()}
        first, last, step = all_bounds(self.loop)
        self.front = Steps((first, last, step), self.loop.every)
        backs = [ir.substitute(e, there) for e in (first, last, step, self.loop.every)]
        self.back = Steps((backs[0], backs[1], backs[2]), backs[3])
        self.keeping: ir.Block = []  # at the start of a segment in the forward sweep
        self.restoring: ir.Block = []  # and in the reverse sweep
        self.start, self.start_again, self.stop_again = (self.counter(hint) for hint in ("start", "start", "stop"))
        around = [x for x in ir.walk(reverse) if isinstance(x, ir.Loop) and x.again and self.loop in ir.walk(x.body)]
        # Where the lists are made: before the whole, or before the run again that this loop is in.
        self.home = (holder(reverse, around[-1]), around[-1]) if around else (forward, None)

    def counter(self, hint: str) -> str:
        name = self.s.fresh(hint, INT)
        self.s.named.add(name)
        return name

    def write(self) -> None:
        again = self.run_again()
        lists = self.own_lists(again)
        replace_by(holder(self.home[0], self.loop), self.loop, self.in_segments())
        replace_by(holder(self.reverse, self.node), self.node, self.reversed_segments(again, lists))

    # -- the run again

    def run_again(self) -> ir.Loop:
        """The loop's steps with what they save, under names of their own, from the state that was kept."""
        loop, again = self.loop, cloned([self.loop])[0]
        twins = dict(zip(ir.inside(loop), ir.inside(again)))
        for old, new in twins.items():
            hand_on(self.s, old, new)
        draws = steps_again(self.r, again, list(self.node.rerun.state))
        carried = [(c, c.phi) for c in again.carries]
        mapping = self.node.rerun.names | self.own_names(again)
        drawn = [(stmt, stmt.targets) for stmt in draws]
        rename(again, mapping)
        without_saves(loop.body)
        loop.every, again.every, again.again = None, None, True
        for c, phi in carried:
            self.keep_variable(c, phi)
        for name in self.node.rerun.state:
            self.keep_content(name, self.node.rerun.names[name])
        for stmt, targets in drawn:
            self.keep_draw(again, stmt, targets)
        if (made := self.r.budgets.get(loop)) is not None:
            estimate(self.r, made, loop, again, [phi for _, phi in carried], self.node.rerun.state)
        self.follow(twins, mapping)
        return again

    def own_names(self, again: ir.Loop) -> dict[str, str]:
        """A new name for each variable of the run again."""
        s = self.s
        inner = sorted(ir.defined([again]), key=lambda n: int(n.rsplit(".", 1)[1]))
        mapping = {n: s.fresh_like(n) for n in inner}
        for old, new in mapping.items():
            for known in (s.named, s.unbound, s.defaulted):
                if old in known:
                    known.add(new)
        return mapping

    def follow(self, twins: dict[Any, Any], mapping: dict[str, str]) -> None:
        """Let the reverse of inner loops over segments belong to these loops as they are run again."""
        for inner in [x for x in ir.walk(self.node.body) if isinstance(x, ir.Loop) and pending(x)]:
            if not saves(twins[inner.primal]):
                settled(inner)
                continue
            inner.primal.every, inner.primal = None, twins[inner.primal]
            old = inner.rerun
            state = tuple(mapping.get(n, n) for n in old.state)
            inner.rerun = ir.Rerun({mapping.get(n, n): new for n, new in old.names.items()}, state, old.stale)

    # -- the state

    def kept(self, hint: str, facts: Facts) -> str:
        """A new list of what is kept at the start of each segment."""
        name = self.list_of(f"kept_{hint}", facts, Role.STATE)
        made = ir.Let((name,), gast.List([], gast.Load()))
        made.saves = True
        block, first = self.home
        block.insert(block.index(first) if first is not None else 0, made)
        return name

    def list_of(self, hint: str, facts: Facts, role: Role | None = None) -> str:
        s = self.s
        listed = Listed(frozenset([s.root(("kept", s.counter))]))
        s.put_element(listed, facts)
        name = s.fresh(hint, listed, role)
        s.named.add(name)
        s.saved.add(name)
        return name

    def keep(self, name: str, expr: Any) -> Any:
        """Keep what an expression stands for, and return what gives it back."""
        self.keeping.append(ir.Effect(method(name, "append", expr), kind="save"))
        note(self.s, self.keeping[-1], "kept: the state at the start of a segment")
        return method(name, "pop")

    def keep_variable(self, c: ir.Carry, phi: str) -> None:
        """Keep what the loop carries, and let the run again begin with it."""
        s = self.s
        c.init = s.fresh_like(phi)
        s.named.add(c.init)
        if phi in s.unbound:
            s.unbound |= {c.init}
            s.defaulted |= {phi, c.init}
        own = self.kept(s.hints[phi], s.facts[phi])
        self.restoring.append(ir.Let((c.init,), self.keep(own, ir.name(phi)), effect=True))
        region = self.r.regions.of(phi)
        if region is not None and region in self.node.rerun.stale:
            self.keep_content(phi, c.init)

    def keep_content(self, name: str, there: str) -> None:
        """Keep what memory holds, and put it back there."""
        s = self.s
        facts = s.facts[name]
        if isinstance(facts, Num):
            own = self.kept(s.hints[name], replace(facts, roots=frozenset([s.root(("kept content", s.counter))])))
            index: Any = ir.constant(Ellipsis)
        else:
            own = self.kept(s.hints[name], facts)
            index = gast.Slice(None, None, None)
        self.restoring.append(ir.Store(there, index, self.keep(own, method(name, "copy"))))

    def keep_draw(self, again: ir.Loop, stmt: ir.Let, targets: tuple[str, ...]) -> None:
        """Keep what came of an effect in each step of a segment, and read it where the steps are run again."""
        s, loop = self.s, self.loop
        first = next(x for x in loop.body if isinstance(x, ir.Let) and x.targets == targets)
        position, place_again = loop.body.index(first) + 1, again.body.index(stmt)
        number: Any = ir.binop(ir.name(again.index or ""), gast.Sub, self.back.segment(self.start_again)[0])
        if self.back.step != 1:
            number = ir.binop(number, gast.FloorDiv, self.back.bounds[2])
        again.body.remove(stmt)
        for old, new in zip(targets, stmt.targets):
            facts = s.facts[old]
            drawn, drawn_again = (self.list_of(f"drawn_{s.hints[old]}", facts) for _ in "ab")
            kept = self.kept(f"drawn_{s.hints[old]}", s.facts[drawn])
            self.keeping.append(ir.Let((drawn,), gast.List([], gast.Load())))
            self.restoring.append(ir.Let((drawn_again,), self.keep(kept, ir.name(drawn)), effect=True))
            written = isinstance(facts, Num) and facts.kind == "array" and self.r.regions.is_written(old)
            own = method(old, "copy") if written else ir.name(old)
            loop.body.insert(position, ir.Effect(method(drawn, "append", own), kind="save"))
            item: Any = ir.subscript(ir.name(drawn_again), number)
            item = ir.call(ir.attribute(item, "copy")) if written else item
            again.body.insert(place_again, ir.Let((new,), item))

    # -- both sweeps

    def in_segments(self) -> ir.Loop:
        """The loop of the forward sweep inside a loop over segments."""
        loop = self.loop
        outer = ir.Loop("range", [], [], self.start, self.front.starts(), origin=loop.origin)
        outer.carries = self.nested_carries(loop.carries)
        loop.bounds = trimmed((*self.front.segment(self.start), self.front.bounds[2]))
        renamed = {c.phi: o.phi for c, o in zip(loop.carries, outer.carries)}
        for stmt in self.keeping:
            substitute_own(stmt, {n: ir.name(new) for n, new in renamed.items()})
        outer.body = [*self.keeping, loop]
        return outer

    def reversed_segments(self, again: ir.Loop, lists: ir.Block) -> ir.Loop:
        """The loop of the reverse sweep inside a loop over segments, each of which is run again before."""
        node, back = self.node, self.back
        outer = ir.Loop("range", [], [], self.start_again, reversed_bounds(back.starts()), origin=node.origin)
        outer.carries = self.nested_carries(node.carries)
        first, stop = back.segment(self.start_again)
        again.bounds = trimmed((first, ir.name(self.stop_again), back.bounds[2]))
        node.bounds = reversed_bounds((first, ir.name(self.stop_again), back.bounds[2]))
        node.primal, node.rerun, node.state_reads = None, None, ()
        note(self.s, again, "the segment again from its start, now with what its reverse reads")
        outer.body = [ir.Let((self.stop_again,), stop), *self.restoring, *lists, again, node]
        return outer

    def nested_carries(self, carries: list[ir.Carry]) -> list[ir.Carry]:
        """The carries of a loop around a loop, which these now go through."""
        s = self.s
        result = []
        for c in carries:
            phi, out = (s.fresh_like(c.phi) for _ in "ab")
            for known in (s.named, s.unbound, s.defaulted):
                if c.phi in known:
                    known.update((phi, out))
            if c.phi in s.fits:
                s.fits |= {phi: s.fits[c.phi], out: s.fits[c.phi]}
            result.append(ir.Carry(phi, c.init, out, c.out))
            c.init, c.out = phi, out
        return result

    def own_lists(self, again: ir.Loop) -> ir.Block:
        """The lists that a segment's steps save into, made for each segment."""
        names = {saved_into(stmt) for stmt in ir.walk(again.body)}
        own = []
        for sweep in (self.forward, self.reverse):
            for stmt in [x for x in ir.walk(sweep) if isinstance(x, ir.Let) and x.saves and x.target in names]:
                holder(sweep, stmt).remove(stmt)
                own.append(stmt)
        return own


def method(name: str, attr: str, *args: Any) -> Any:
    return ir.call(ir.attribute(ir.name(name), attr), *args)


def without_saves(block: ir.Block) -> None:
    block[:] = [stmt for stmt in block if saved_into(stmt) is None]
    for stmt in block:
        for inner in ir.bodies(stmt):
            without_saves(inner)


def block_of(block: ir.Block, stmt: Any) -> ir.Block | None:
    """The block that holds a statement, this one or one inside it."""
    if stmt in block:
        return block
    found = (block_of(inner, stmt) for outer in block for inner in ir.bodies(outer))
    return next((inner for inner in found if inner is not None), None)


def holder(block: ir.Block, stmt: Any) -> ir.Block:
    found = block_of(block, stmt)
    assert found is not None
    return found


def replace_by(block: ir.Block, old: Any, new: Any) -> None:
    block[block.index(old)] = new


def rename(loop: ir.Loop, mapping: dict[str, str]) -> None:
    """Give the variables of a loop other names; it stands for no line of the user's any more."""
    exprs = {old: ir.name(new) for old, new in mapping.items()}

    def new(name: str | None) -> str | None:
        return None if name is None else mapping.get(name, name)

    for stmt in ir.inside(loop):
        substitute_own(stmt, exprs)
        stmt.origin = None
        if isinstance(stmt, ir.Let):
            stmt.targets = tuple(mapping.get(t, t) for t in stmt.targets)
        elif isinstance(stmt, ir.If):
            stmt.merges = [ir.Merge(mapping.get(m.target, m.target), new(m.then), new(m.orelse)) for m in stmt.merges]
        elif isinstance(stmt, ir.Loop):
            rename_loop(stmt, mapping, new)
            stmt.every = ir.substitute(stmt.every, exprs)
        elif isinstance(stmt, ir.With):
            stmt.items = [(expr, new(bound)) for expr, bound in stmt.items]


def rename_loop(stmt: ir.Loop, mapping: dict[str, str], new: Any) -> None:
    stmt.index, stmt.trips = new(stmt.index), new(stmt.trips)
    for c in stmt.carries:
        c.phi, c.init, c.next, c.out = mapping[c.phi], new(c.init), new(c.next), mapping[c.out]


__all__ = ["Segments", "method", "pending", "replace_by", "saves", "settled"]
