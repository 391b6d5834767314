"""Recursive functions in both modes: functions that share a stack in reverse, pairs of results and tangents forward.

Recursive functions in reverse mode: a forward and a backward function that share a stack.

::

    state = ([], [])
    result = power_forward(x, n, state)
    ...
    d_x = power_backward(state, d_out)

The state holds one list for each saved value.  Every activation pushes its own at the end of the block that makes them,
after what the calls in that block pushed, and the backward function pops them where the reverse of that block begins:
so activations interleave as they should.  A call of another recursive function makes a state of its own.

The backward function takes, after the state, the written arguments (whose old content it restores), the cotangents of
the results and the shadows of the written arguments, which it changes in place; for every other argument it returns a
cotangent.
"""

from __future__ import annotations

from typing import Any, cast

import gast

from ....runtime import broadcast, memory
from ... import ir
from ...analysis.alias import reachable, roots_of
from ...analysis.liveness import sweep_dead
from ...domain.facts import Facts, Num, Opaque
from ...domain.values import Const, Leaf, Value
from ...interp.calls.recursive_functions import Recursion
from ...interp.kernel.specialiser import Specialiser
from ...ir.function import Role
from ..reverse.cotangents import facts_like, helper, spread, zeros
from ..tape.insert import record_activation
from ..tape.residuals import check_state, first_origin
from .function_pairs import (
    Definition,
    PairDefinition,
    Variant,
    all_wanted,
    body_of,
    called_for,
    carries,
    check_overlap,
    result_expr,
    variant_of,
)


def reverse_call(r: Any, stmt: ir.Let) -> None:
    """The reverse of a call: a call of the backward function."""
    s, op = r.s, stmt.op
    assert op is not None
    rec: Recursion = cast(Any, op.fn)
    wanted = called_for(stmt, r.activity.active, s)
    used = any(r.activity.active(t) for t in stmt.targets) or bool(wanted & rec.written)
    if not rec.written and not (wanted and used):
        return
    check_overlap(s, rec, stmt, r)
    variant = variant_of(s, rec, "reverse", wanted if used else frozenset(), emit_reverse)
    seeds = [cotangent(r, t) for t in stmt.targets if carries(s.facts[t])] if rec.results else []
    state = state_of(r, variant, stmt)
    stmt.expr = ir.call(ir.name(variant.name), *stmt.expr.args, ir.name(state))
    stmt.effect = True  # it fills the state
    written = [p for p in rec.inputs if p in rec.written]
    shadows = [shadow_of(r, op.arguments[p]) for p in written if p in variant.wanted]
    arguments = [Leaf(state), *(op.arguments[p] for p in written), *seeds, *shadows]
    expr = ir.call(ir.name(variant.backward), *(s.expr(a) for a in arguments))
    returned = [p for p in rec.inputs if p in variant.wanted and p not in rec.written]
    if not returned:
        s.block.append(ir.Effect(expr, s.origin, "adjoint"))
        s.block[-1].state_reads = held_in_state(rec, stmt)
        return
    found = s.let_several(expr, [cotangent_facts(s, op.arguments[p]) for p in returned], None, effect=True)
    s.block[-1].state_reads = held_in_state(rec, stmt)
    for p, leaf in zip(returned, found):
        s.call_after(leaf.name, Role.COTANGENT, p)
        s.named.add(leaf.name)  # a statement of its own, which keeps what it reads
        if p in wanted:
            r.add(op.arguments[p].name, leaf, True)


def state_of(r: Any, variant: Variant, stmt: ir.Let) -> str:
    """The state that a call fills: that of the activation itself, or a new one."""
    if r.variant is variant:
        return str(r.state)
    s = r.s
    state = s.fresh("state", Opaque())
    s.named.add(state)
    made = ir.Let((state,), new_state(variant))
    r.overwritten.before[stmt] = [made]
    r.first[state] = r.order[stmt]
    return state


def new_state(variant: Variant) -> Any:
    if variant.state is None:
        variant.pending.append(ir.tuple_([]))
        return variant.pending[-1]
    return variant.state


def settle_state(variant: Variant, stacks: int) -> None:
    """Let the states of a variant have so many lists; one alone is the state itself."""
    for made in variant.pending:
        made.elts = empty_lists(stacks)
    lists = empty_lists(stacks)
    variant.state = lists[0] if stacks == 1 and not variant.pending else ir.tuple_(lists)


def empty_lists(number: int) -> list[Any]:
    return [gast.List([], gast.Load()) for _ in range(number)]


def held_in_state(rec: Recursion, stmt: ir.Let) -> list[str]:
    """The caller's variables whose memory the backward function may read through its state."""
    assert stmt.op is not None
    given = [v.name for p, v in stmt.op.arguments.items() if p not in rec.written and isinstance(v, Leaf)]
    return [*given, *stmt.targets]


def cotangent(r: Any, name: str) -> Value:
    """The cotangent of one result of a call, in full."""
    s = r.s
    if r.has_shadow(name):
        if r.activity.active(name):
            return r.shadows.of(name)
        return s.let(helper(s, zeros_like(), Leaf(name)), r.shadows.facts(name), may_raise=False)
    found = r.take(name)
    return zeros(s, name) if found is None else spread(s, found.value, name)


def zeros_like() -> Any:
    return broadcast.zeros_like


def shadow_of(r: Any, value: Value) -> Value:
    if isinstance(value, Leaf) and r.activity.active(value.name):
        return r.shadows.of(value.name)
    s = r.s
    return s.let(helper(s, zeros_like(), value), Opaque(), may_raise=False)


def cotangent_facts(s: Specialiser, value: Value) -> Facts:
    facts = s.facts_of(value)
    if isinstance(facts, Num) and isinstance(value, Leaf):
        own = facts_like(s, value.name)
        return Num(None, own.dtype, own.dims) if own.kind == "npscalar" else own
    return Opaque()


def emit_reverse(s: Specialiser, rec: Recursion, variant: Variant) -> None:
    """Emit the forward and the backward function."""
    from ..results import insert_saves, renamed
    from ..reverse.seeds import refuse_unseen
    from ..reverse.transform import Reverse
    from ..tape.required_restores import settle

    forward, where = body_of(s, rec)
    variant.wanted, active = all_wanted(s, rec, forward, where, variant.wanted, False)
    announce(s, rec, variant)
    r = Reverse(s, active, where)
    r.variant, r.state = variant, s.fresh("state", Opaque())
    r.outputs = set(rec.results)
    r.index(forward)
    r.primal_roots = frozenset(root for n in [*r.first, *rec.inputs] for root in roots_of(s.facts[n]))
    r.kept_regions = {where.find(root) for p in rec.written for root in reachable(where, s.facts[p])}
    seeds: dict[str, str] = {}
    reverse: ir.Block = []
    with s.writing(reverse, s.lengths_in(rec.block)):
        shadows = given_shadows(r, rec, variant)
        sow_results(r, rec, forward, seeds)
        for stmt in reversed(forward):
            r.statement(stmt)
        s.origin = None
        grads = [argument_gradient(r, p) for p in rec.inputs if p in variant.wanted and p not in rec.written]
    final = ir.Return(result_expr(renamed(r, reverse, grads)))
    insert_saves(r, forward)
    strict = set(ir.walk(forward))
    inner = {leaf.name for leaf in r.shadows.table.values() if leaf.name not in shadows}
    # The caller reads the results, and the shadows that it gave.
    ends = [*(ir.Return(ir.tuple_([ir.name(n) for n in names])) for names in (rec.results, shadows)), final]
    kept = set(sweep_dead(s, [*forward, *reverse, *ends], strict, inner))
    reverse[:] = [stmt for stmt in reverse if stmt in kept]
    settle(r, reverse, set())
    refuse_unseen(r, reverse)
    alone = [p for p in rec.inputs if p not in rec.written]  # the others come to the backward function anew
    saved, forward, reverse = record_activation(s, r.generations, alone, forward, reverse)
    program = sweep_dead(s, [*forward, *reverse, *ends], strict, inner)
    early = set(map(id, forward))
    back = [stmt for stmt in program if id(stmt) not in early and stmt not in ends]
    front = [stmt for stmt in program if id(stmt) in early]
    check_state(s, list(saved), [p for p in rec.inputs if p in rec.written], first_origin(front))
    settle_state(variant, len(saved))
    both = front, [*back, final]
    s.functions.append(PairDefinition(where, rec, variant, *both, saved, r.state, seeds | shadows, s.unbound))


def announce(s: Specialiser, rec: Recursion, variant: Variant) -> None:
    """Choose the names, so that the body can call itself."""
    variant.name = s.bind(f"{rec.name}_forward", variant).id
    backward = Variant("backward", variant.wanted)
    written = [p for p in rec.inputs if p in rec.written]
    seeds = sum(carries(s.facts[n]) for n in rec.results)
    first = 1 + len(written) + seeds
    backward.changed = (*range(1 + len(written)), *range(first, first + sum(p in variant.wanted for p in written)))
    variant.backward = s.bind(f"{rec.name}_backward", backward).id
    rec.variants.append(variant)


def given_shadows(r: Any, rec: Recursion, variant: Variant) -> dict[str, str]:
    """The shadows of the arguments: given for those that are written, zeros for lists."""
    s = r.s
    given: dict[str, str] = {}
    for p in rec.inputs:
        if p in rec.written and p in variant.wanted:
            leaf = s.fresh_after(Role.COTANGENT, p, r.shadows.facts(p))
            s.named.add(leaf)
            given[leaf] = s.hints[leaf]
            r.shadows.table[p] = Leaf(leaf)
        elif r.shadows.wanted(p):
            r.shadows.table[p] = r.shadows.fresh(p)
    return given


def sow_results(r: Any, rec: Recursion, forward: ir.Block, seeds: dict[str, str]) -> None:
    """Seed the results with the cotangents that the backward function is given."""
    s = r.s
    r.shadows.open(forward)
    for k, n in enumerate(rec.results):
        facts = s.facts[n]
        if not carries(facts):
            continue
        hint = "d_out" if len(rec.results) == 1 else f"d_out_{k + 1}"
        variable = s.fresh(hint, seed_facts(s, n), Role.SEED)
        s.named.add(variable)
        seeds[variable] = hint
        if not r.activity.active(n):
            continue
        if isinstance(facts, Num):
            r.add(n, Leaf(variable), False)
        else:
            s.block.append(ir.Effect(helper(s, memory.add_items, r.shadows.of(n), Leaf(variable)), None, "adjoint"))


def seed_facts(s: Specialiser, name: str) -> Facts:
    facts = s.facts[name]
    if isinstance(facts, Num):
        own = facts_like(s, name)
        return Num(None, own.dtype, own.dims) if own.kind == "npscalar" else own
    return Opaque()


def argument_gradient(r: Any, parameter: str) -> Any:
    from ..results import leaf_gradient

    s = r.s
    if isinstance(s.facts[parameter], Num):
        return leaf_gradient(r, Leaf(parameter))
    if r.activity.active(parameter):
        return s.expr(r.shadows.of(parameter))
    return helper(s, zeros_like(), Leaf(parameter))


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
