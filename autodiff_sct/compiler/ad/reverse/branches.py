"""The reverse of branches: the side that was taken, backwards, and what both sides leave made one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from ... import ir
from ...domain.facts import Num
from ...domain.values import Leaf, Value
from ...ir import defined_in
from ...ir.builder import Role, Specialiser
from .cotangents import Adjoint, facts_like, spread, zeros

if TYPE_CHECKING:
    from .transform import Reverse


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
