"""Recursive functions in forward mode: ``t_name(arguments, tangents) -> (*results, *tangents of the results)``."""

from __future__ import annotations

from typing import Any, cast

from ... import ir
from ...analysis.liveness import sweep_dead
from ...domain.values import Const, Leaf, Value
from ...interp.calls.recursive_functions import Recursion
from ...ir.builder import Role, Specialiser
from .function_pairs import (
    Definition,
    Variant,
    all_wanted,
    body_of,
    called_for,
    carries,
    check_overlap,
    result_expr,
    variant_of,
)


def tangent_call(f: Any, stmt: ir.Let) -> None:
    """A call with tangents."""
    s, op = f.s, stmt.op
    assert op is not None
    rec: Recursion = cast(Any, op.fn)
    wanted = called_for(stmt, f.active, s)
    if not wanted:
        s.block.append(stmt)
        return
    check_overlap(s, rec, stmt, f)
    variant = variant_of(s, rec, "tangent", wanted, emit_tangent)
    given = [given_tangent(f, op.arguments[p]) for p in rec.inputs if p in variant.wanted]
    stmt.expr = ir.call(ir.name(variant.name), *stmt.expr.args, *(s.expr(t) for t in given))
    targets = [t for t in stmt.targets if carries(s.facts[t])] if rec.results else []
    fresh = []
    for t in targets:
        fresh.append(s.fresh_after(Role.TANGENT, t, f.facts(t)))
        if t in s.named:
            s.named.add(fresh[-1])
        if f.active(t):
            f.tangents[t] = Leaf(fresh[-1])
    stmt.targets = (*stmt.targets, *fresh)
    s.block.append(stmt)


def given_tangent(f: Any, value: Value) -> Value:
    if isinstance(value, Leaf) and f.active(value.name):
        return f.of(value.name)
    if isinstance(value, Leaf):
        return f.zero(value.name)
    return Const(0.0)


def emit_tangent(s: Specialiser, rec: Recursion, variant: Variant) -> None:
    """Emit the function with tangents."""
    from ..forward.transform import Forward

    block, where = body_of(s, rec)
    variant.wanted, active = all_wanted(s, rec, block, where, variant.wanted, True)
    variant.name = s.bind(f"t_{rec.name}", variant).id
    rec.variants.append(variant)
    f = Forward(s, active, where)
    f.handled = s.handles  # it may be called inside `try`
    arguments = {n: s.hints[n] for n in rec.inputs}
    for p in [p for p in rec.inputs if p in variant.wanted]:
        leaf = s.fresh_after(Role.TANGENT, p, f.facts(p))
        s.named.add(leaf)
        arguments[leaf] = s.hints[leaf]
        f.tangents[p] = Leaf(leaf)
    strict = set(ir.walk(block))  # of what the user wrote alone: entries of rules that nobody reads may raise
    forward = f.block(block)
    with s.writing(forward):
        tangents = [f.of(n) if f.active(n) else f.zero(n) for n in rec.results if carries(s.facts[n])]
    final = ir.Return(result_expr([*(ir.name(n) for n in rec.results), *(s.expr(t) for t in tangents)]))
    program = sweep_dead(s, [*forward, final], strict, set())
    s.functions.append(Definition(where, variant.name, arguments, program))
