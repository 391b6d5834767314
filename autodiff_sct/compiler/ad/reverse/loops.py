"""The reverse of control flow: loops backwards, and branches by the side that was taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from ....runtime import broadcast
from ... import ir
from ...analysis.definite_assignment import only_path
from ...domain.facts import FLOAT, INT, UNKNOWN, Facts, Num, Opaque
from ...domain.values import Const, Leaf, Value
from ...interp.kernel.specialiser import Specialiser
from ...ir import defined_in
from ...ir.function import Role
from ..value_flow import joins, operands
from .cotangents import Adjoint, copied, facts_like, fitting, helper, is_number, is_unbound, name_adjoint, spread, zeros

if TYPE_CHECKING:
    from ...interp.kernel.specialiser import Specialiser
    from .transform import Reverse

__all__ = ["FLOAT", "Const", "Num", "reverse_loop"]


def reverse_branch(r: Reverse, stmt: ir.If) -> None:
    s = r.s
    incoming = {m.target: r.take(m.target) for m in stmt.merges if not r.has_shadow(m.target)}
    inner = defined_in(stmt)
    base = dict(r.adjoints)
    blocks: list[ir.Block] = []
    ends: list[dict[str, Adjoint]] = []
    for k, body in enumerate((stmt.then, stmt.orelse)):
        r.adjoints = dict(base)
        block: ir.Block = []
        with s.writing(block, s.lengths_in(body)):
            shared = [(m.then, m.orelse)[k] for m in stmt.merges]
            for m in stmt.merges:
                source, found = (m.then, m.orelse)[k], incoming.get(m.target)
                if found is not None and source is not None:
                    r.pass_on(source, found.value, found.owned and shared.count(source) == 1)
                merge_numbers(r, m.target, source)
            r.block(body)
        blocks.append(block)
        ends.append({n: a for n, a in r.adjoints.items() if n not in inner})
    node = ir.If(stmt.test, blocks[0], blocks[1], [], stmt.origin)
    node.primal = stmt
    r.adjoints = meet(r, node, ends)
    s.block.append(node)


def leave_memory(r: Reverse, shadow: Leaf, source: str) -> None:
    """A number that becomes a name of written memory takes its cotangent out of that name's shadow."""
    if r.activity.active(source):
        found, known = ir.subscript(r.s.expr(shadow), ir.constant(())), r.s.facts[shadow.name]
        number = Num("npscalar", known.dtype, ()) if isinstance(known, Num) else facts_like(r.s, source)
        r.pass_on(source, r.s.let(found, number, may_raise=False), True)


def merge_numbers(r: Reverse, target: str, source: str | None) -> None:
    """The same for what a path leaves behind."""
    if source is not None and r.shadows.wanted(target) and not r.has_shadow(source):
        leave_memory(r, r.shadows.of(target), source)


def meet(r: Reverse, node: ir.If, ends: list[dict[str, Adjoint]]) -> dict[str, Adjoint]:
    """The cotangents after a branch, from those at the ends of its two sides."""
    s = r.s
    result: dict[str, Adjoint] = {}
    for name in dict.fromkeys([*ends[0], *ends[1]]):
        a, b = ends[0].get(name), ends[1].get(name)
        if a is not None and b is not None and a.value == b.value:
            result[name] = Adjoint(a.value, a.owned and b.owned)
            continue
        values = []
        for found, block in ((a, node.then), (b, node.orelse)):
            with s.writing(block):
                value = zeros(s, name) if found is None else spread(s, found.value, name)
                values.append(as_variable(s, value, name))
        target = s.fresh_after(Role.COTANGENT, name, facts_like(s, name))
        if name in s.named:
            s.named.add(target)
        node.merges.append(ir.Merge(target, values[0].name, values[1].name))
        result[name] = Adjoint(Leaf(target), (a is None or a.owned) and (b is None or b.owned))
    return result


def reverse_with(r: Reverse, stmt: ir.With) -> None:
    """NumPy's error state holds in the reverse sweep too; other managers have done their work."""
    s = r.s
    states = [(expr, None) for expr, _ in stmt.items if is_error_state(expr)]
    if not states:
        with s.within(s.lengths_in(stmt.body)):
            r.block(stmt.body)
        return
    block: ir.Block = []
    with s.writing(block, s.lengths_in(stmt.body)):
        r.block(stmt.body)
    node = ir.With(states, block, stmt.origin)  # type: ignore[arg-type]
    node.primal = stmt
    s.block.append(node)


def is_error_state(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "errstate"


def as_variable(s: Specialiser, value: Value, name: str) -> Leaf:
    if isinstance(value, Leaf):
        return value
    return s.let(s.expr(value), s.facts_of(value), hint=f"d_{s.hints[name]}", may_raise=False, role=Role.COTANGENT)


def reverse_loop(r: Reverse, stmt: ir.Loop) -> None:
    s = r.s
    own = [
        c for c in stmt.carries if (r.activity.active(c.phi) or r.activity.active(c.out)) and not r.has_shadow(c.phi)
    ]
    inner, read = defined_in(stmt), {*read_in(stmt.body), *passed_in(stmt.body)}
    around = outer_operands(r, stmt, inner)
    node = backwards(r, stmt)
    node.primal = stmt
    carried: list[tuple[str, ir.Carry]] = []
    body_adjoints: dict[str, Adjoint] = {}
    for c in own:
        found = r.take(c.out)
        init = zeros(s, c.out) if found is None else spread(s, found.value, c.out)
        carry = begin(r, c.out, as_variable(s, init, c.out))
        if changes_shape(s, c):
            for cotangent, name in ((carry.phi, c.next), (carry.out, c.init)):
                s.fits.pop(cotangent)
                s.facts[cotangent] = shaped_as(s, cotangent, name) if c.phi in read else UNKNOWN
        carried.append((c.phi, carry))
    for n in around:
        start = owned_start(r, n)
        carry = begin(r, n, start)
        carried.append((n, carry))
        body_adjoints[n] = Adjoint(Leaf(carry.phi), True)
    r.shadows.enter_loop(stmt)
    outer = r.adjoints
    r.adjoints = body_adjoints
    with s.writing(node.body, s.lengths_in(stmt.body)):
        r.shadows.prepare_body(stmt)
        for c, (_, carry) in zip(own, carried):
            if c.next is not None:
                r.pass_on(c.next, Leaf(carry.phi), False)
        r.block(stmt.body)
        for n, carry in carried:
            found = r.adjoints.get(n)
            value = end_of_iteration(r, n, found, own, read)
            if n in around and found is not None and not found.owned:
                value = copied(s, value)
            carry.next = as_variable(s, value, n).name
        r.shadows.finish_body()
    r.adjoints = outer
    node.carries = [carry for _, carry in carried]
    s.block.append(node)
    r.shadows.leave_loop(stmt)
    for n, carry in carried[len(own) :]:
        if carry.next != carry.phi:
            r.adjoints[n] = Adjoint(Leaf(carry.out), True)
            continue
        # Nothing was rebound: either nothing was added, or it was added in place.
        node.carries.remove(carry)
        if reads(r, node, carry.phi) and carry.init is not None:
            r.renames[carry.phi] = carry.init
            r.adjoints[n] = Adjoint(Leaf(carry.init), True)
    for c, (_, carry) in zip(own, carried):
        if c.init is not None:
            r.pass_on(c.init, Leaf(carry.out), False)


def reads(r: Reverse, node: ir.Loop, name: str) -> bool:
    """True if a loop's body reads a variable, under its own name or under one that an inner loop gave it."""
    names = {name}
    while more := {old for old, new in r.renames.items() if new in names} - names:
        names |= more
    return any(n in names for n in read_in(node.body))


def read_in(block: ir.Block) -> Iterator[str]:
    """The variables that a block reads, or hands to the loops in it."""
    for stmt in ir.walk(block):
        yield from ir.reads(stmt)
        yield from (c.init for c in getattr(stmt, "carries", []) if c.init is not None)


def passed_in(block: ir.Block) -> Iterator[str]:
    """The variables that become others after the branches of a block."""
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.If):
            yield from (n for m in stmt.merges for n in (m.then, m.orelse) if n is not None)
        elif isinstance(stmt, ir.Try):
            yield from (n for _, names in stmt.merges for n in names if n is not None)


def begin(r: Reverse, name: str, init: Leaf) -> ir.Carry:
    s = r.s
    facts = facts_like(s, name)
    phi, out = (s.fresh_after(Role.COTANGENT, name, facts) for _ in "ab")
    if name in s.named:
        s.named |= {phi, out}
    s.fits |= {phi: name, out: name}
    return ir.Carry(phi, init.name, None, out)


def shaped_as(s: Specialiser, cotangent: str, name: str | None) -> Facts:
    """The facts of a carried cotangent that has the shape of a variable, which need not be that after the loop."""
    facts, made = s.facts[cotangent], None if name is None else s.facts[name]
    if not isinstance(facts, Num) or not isinstance(made, Num) or facts.ndim != made.ndim:
        return UNKNOWN
    return replace(facts, dims=made.dims)


def owned_start(r: Reverse, name: str) -> Leaf:
    """The cotangent of a variable from outside the loop, before it: in memory that the loop may add to."""

    s = r.s
    old = r.adjoints.get(name)
    if is_unbound(s, name) and not is_number(s, name):
        return unbound_start(r, name, old)
    if old is None:
        value = zeros(s, name)
    else:
        full = spread(s, old.value, name)
        value = full if old.owned or full != old.value else copied(s, full)
    name_adjoint(s, value, name)
    return as_variable(s, value, name)


def unbound_start(r: Reverse, name: str, old: Adjoint | None) -> Leaf:
    """The same of a variable that some paths leave unbound: the loop may add to a part of it where it is bound."""
    s = r.s
    s.defaulted.add(name)
    expr = (
        helper(s, broadcast.zeros_like, Leaf(name))
        if old is None
        else helper(s, broadcast.spread, old.value, Leaf(name))
    )
    value = fitting(s, s.let(expr, facts_like(s, name), may_raise=False), name)
    name_adjoint(s, value, name)
    return value


def changes_shape(s: Specialiser, c: ir.Carry) -> bool:
    """True if an array may have another shape in each iteration, or be another one or a list before the first."""
    facts, made, first = s.facts[c.out], s.facts[c.next or c.out], s.facts[c.init or c.out]
    if isinstance(facts, Opaque) or (isinstance(facts, Num) and facts.dims is None):
        return first != made
    if not isinstance(facts, Num) or not isinstance(made, Num) or facts.kind != "array":
        return False
    begins_so = not isinstance(first, Num) or s.same_lengths(first.dims, made.dims)
    return not (begins_so and s.same_lengths(facts.dims, made.dims))


def end_of_iteration(r: Reverse, name: str, found: Adjoint | None, own: list[ir.Carry], read: set[str]) -> Value:
    s = r.s
    if found is not None:
        return spread(s, found.value, name)
    carry = next((c for c in own if c.phi == name), None)
    if carry is None or carry.next is None:
        return zeros(s, name)
    # Only the last iteration's value is read: the one before it counts for nothing, however large it was.
    if changes_shape(s, carry):
        return zeros(s, name) if name in read else Const(0.0)
    return zeros(s, carry.next)


def outer_operands(r: Reverse, stmt: ir.Loop, inner: set[str]) -> list[str]:
    """The active variables from outside that a loop's body works on, in order."""
    s = r.s
    names: dict[str, None] = {}
    for inside in ir.walk(stmt.body):
        square = r.squares.get(inside)
        measured = [] if square is None else [n for v in square.op.arguments.values() for n in s.leaves(v)]
        for n in [*operands(s, inside), *measured, *sources(inside)]:
            if n not in inner and r.activity.active(n) and not r.has_shadow(n):
                names[n] = None
    for c in stmt.carries:
        if c.next is not None and c.next not in inner and r.activity.active(c.next) and not r.has_shadow(c.next):
            names[c.next] = None
    return list(names)


def sources(stmt: Any) -> list[str]:
    return [n for _, found in joins(stmt) for n in found]


def backwards(r: Reverse, stmt: ir.Loop) -> ir.Loop:
    """The loop over the same iterations from the last to the first."""
    s = r.s
    if stmt.kind == "range" and stmt.stop is None:
        assert stmt.index is not None
        index = s.fresh_like(stmt.index, INT)
        s.steps[index] = stmt.index
        if stmt.index in s.named:
            s.named.add(index)
        return ir.Loop("range", [], [], index, reversed_bounds(stmt.bounds), origin=stmt.origin)
    if stmt.trips is None:
        stmt.trips = s.fresh("trips", INT)
    if stmt.kind == "range":
        return counted_backwards(r, stmt)
    index = s.fresh("trip", INT)
    return ir.Loop("range", [], [], index, (ir.name(stmt.trips),), origin=stmt.origin)


def counted_backwards(r: Reverse, stmt: ir.Loop) -> ir.Loop:
    """A range that may have ended early: only the iterations that ran."""
    s = r.s
    assert stmt.index is not None and stmt.trips is not None
    index, trips = s.fresh_like(stmt.index, INT), ir.name(stmt.trips)
    if len(stmt.bounds) == 1 or stmt.index not in read_in(stmt.body):
        return ir.Loop("range", [], [], index, reversed_bounds((trips,)), origin=stmt.origin)
    start, step = stmt.bounds[0], stmt.bounds[2:]
    if step and is_minus_one(step[0]):
        stop = minus(start, -1)
        return ir.Loop("range", [], [], index, (ir.binop(stop, gast.Sub, trips), stop), origin=stmt.origin)
    steps = ir.binop(trips, gast.Mult, step[0]) if step else trips
    first = isinstance(start, gast.Constant)
    stop = ir.binop(steps, gast.Add, start) if first else ir.binop(start, gast.Add, steps)
    return ir.Loop("range", [], [], index, reversed_bounds((start, stop, *step)), origin=stmt.origin)


def minus(expr: Any, number: int) -> Any:
    if isinstance(expr, gast.Constant) and isinstance(expr.value, int):
        return ir.constant(expr.value - number)
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.operand, gast.Constant):
        return ir.constant(-expr.operand.value - number)
    if (
        isinstance(expr, gast.BinOp)
        and isinstance(expr.right, gast.Constant)
        and isinstance(expr.op, (gast.Add, gast.Sub))
    ):
        offset = expr.right.value * (1 if isinstance(expr.op, gast.Add) else -1) - number
        if offset == 0:
            return expr.left
        return ir.binop(expr.left, gast.Add if offset > 0 else gast.Sub, ir.constant(abs(offset)))
    return ir.binop(expr, gast.Sub if number > 0 else gast.Add, ir.constant(abs(number)))


def reversed_bounds(bounds: tuple[Any, ...]) -> tuple[Any, ...]:
    """``range(n)`` backwards is ``range(n - 1, -1, -1)``."""
    step = bounds[2] if len(bounds) == 3 else ir.constant(1)
    start, stop = (ir.constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    if isinstance(step, gast.Constant) and step.value == 1:
        return (minus(stop, 1), minus(start, 1), ir.constant(-1))
    if is_minus_one(step):
        up = (minus(stop, -1), minus(start, -1))
        return (up[1],) if isinstance(up[0], gast.Constant) and up[0].value == 0 else up
    return (ir.call(gast.Name("range", gast.Load(), None, None), *bounds),)  # printed as reversed(range(...))


def is_minus_one(step: Any) -> bool:
    return isinstance(step, gast.UnaryOp) and isinstance(step.operand, gast.Constant) and bool(step.operand.value == 1)


def reverse_attempt(r: Reverse, stmt: ir.Try) -> None:
    """The path that was taken, backwards; that of which all others raise is no branch, but part of what is around."""
    s = r.s
    incoming = {target: r.take(target) for target, _ in stmt.merges if not r.has_shadow(target)}
    paths = [stmt.body, *(block for _, _, block in stmt.handlers)]
    inner = defined_in(stmt)

    def write(k: int) -> None:
        for target, names in stmt.merges:
            found, source = incoming.get(target), names[k]
            if found is not None and source is not None:
                r.pass_on(source, found.value, False)
            merge_numbers(r, target, names[k])
        with s.within(s.lengths_in(paths[k])):
            r.block(paths[k])

    def choose(k: int) -> None:
        if k == len(paths) - 1:
            write(k)
            return
        base = dict(r.adjoints)
        blocks: list[ir.Block] = [[], []]
        ends = []
        for side, work in enumerate((lambda: write(k), lambda: choose(k + 1))):
            r.adjoints = dict(base)
            with s.writing(blocks[side]):
                work()
            ends.append({n: a for n, a in r.adjoints.items() if n not in inner})
        test = gast.Compare(ir.name(stmt.took), [gast.Eq()], [ir.constant(k)])
        node = ir.If(test, blocks[0], blocks[1], [], stmt.origin)
        node.path = (stmt, k)
        r.adjoints = meet(r, node, ends)
        s.block.append(node)

    alone = only_path(stmt)
    if alone is None:
        choose(0)
    else:
        write(alone)
