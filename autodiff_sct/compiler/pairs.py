"""Recursive functions with derivatives: the functions that are emitted for a `Recursion`.

- ``name(arguments) -> results``, without derivatives;
- ``name_forward(arguments) -> (*results, state)`` and ``name_backward(state, ...) -> cotangents of the arguments``;
- ``t_name(arguments, tangents) -> (*results, *tangents of the results)``.

The backward function takes, after the state, the written arguments (whose old content it restores), the cotangents of
the results and the shadows of the written arguments, which it changes in place; for every other argument it returns a
cotangent.
A pair is emitted for a set of *wanted* arguments, which holds what the recursive calls inside it want too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import gast

from ..errors import AliasError
from . import ir
from .activity import Activity, activity, operands
from .adjoints import facts_like, helper, spread, zeros
from .emit import Emitter, annotate
from .facts import Facts, Listed, Mapped, Num, Opaque, Pair
from .handover import always_assigned, check_state, first_origin, outside_names, own_copies, unset
from .naming import name_variables
from .regions import Regions, regions, roots_of
from .specialise.recursion import Recursion
from .specialise.state import Specialiser
from .specialise.values import Frame, Leaf, Value
from .stopped import refuse_writes


@dataclass(eq=False)
class Variant:
    """The emitted functions of a recursive function for one set of wanted arguments."""

    kind: str  # "reverse", "tangent" or "plain"
    wanted: frozenset[str] = frozenset()
    name: str = ""
    backward: str = ""
    changed: tuple[int, ...] = ()  # arguments of the backward function that it changes


def is_recursive(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and stmt.op is not None and isinstance(stmt.op.fn, Recursion)


def cloned(block: ir.Block) -> ir.Block:
    """A block whose statements may be changed; expressions are shared."""
    return [cloned_statement(stmt) for stmt in block]


def cloned_statement(stmt: Any) -> Any:
    new = copy.copy(stmt)
    if isinstance(new, ir.If):
        new.then, new.orelse, new.merges = cloned(new.then), cloned(new.orelse), [copy.copy(m) for m in new.merges]
    elif isinstance(new, ir.Loop):
        new.head, new.body, new.carries = cloned(new.head), cloned(new.body), [copy.copy(c) for c in new.carries]
    elif isinstance(new, ir.With):
        new.body = cloned(new.body)
    elif isinstance(new, ir.Try):
        new.body, new.final, new.merges = cloned(new.body), cloned(new.final), [(t, list(n)) for t, n in new.merges]
        new.handlers = [(kind, bound, cloned(b)) for kind, bound, b in new.handlers]
    elif isinstance(new, ir.Let) and new.op is not None:
        new.op = copy.copy(new.op)
    return new


@contextmanager
def apart(s: Specialiser) -> Iterator[None]:
    """Write another function in the middle of one."""
    kept = s.frame, s.origin, s.node, s.block, s.env, s.unbound
    s.frame, s.origin, s.node, s.block, s.env = Frame(0, None, {}, rule=True), None, None, [], dict(s.env)
    try:
        yield
    finally:
        s.frame, s.origin, s.node, s.block, s.env, s.unbound = kept


def carries(facts: Facts) -> bool:
    """Whether a variable may have a cotangent."""
    return facts.differentiable if isinstance(facts, Num) else isinstance(facts, (Listed, Mapped, Pair))


def body_of(s: Specialiser, rec: Recursion) -> tuple[ir.Block, Regions]:
    from .optimise import sweep_dead
    from .unbound import unbound

    block = cloned(rec.block)
    final = ir.Return(ir.tuple_([ir.name(n) for n in [*rec.results, *rec.inputs]]))
    block = sweep_dead(s, [*block, final], set(ir.walk(block)), set())[:-1]
    s.unbound = unbound(block)
    where = regions(block, s.facts, s.elements)
    if frozenset(n for n in rec.inputs if where.is_written(n)) - rec.written:
        raise AliasError(
            f"an argument of the recursive function {rec.name} shares memory with an array that is written",
            "copy it first",
            first_origin(block),
        )
    return block, where


def called_for(rec: Recursion, stmt: ir.Let, active: Callable[[str], bool], s: Specialiser) -> frozenset[str]:
    """The arguments of a call that carry a derivative."""
    assert stmt.op is not None
    return frozenset(
        p for p, v in stmt.op.arguments.items() if any(active(n) for n in s.leaves(v)) and carries(s.facts[p])
    )


def all_wanted(
    s: Specialiser, rec: Recursion, block: ir.Block, where: Regions, wanted: frozenset[str], forward: bool
) -> tuple[frozenset[str], Activity]:
    """The wanted arguments with those that inner calls want of this same function."""
    while True:
        ends = {n for n in rec.results if carries(s.facts[n])} | (rec.written & wanted)
        found = activity(s, block, where, set(wanted), ends)
        active: Callable[[str], bool] = found.varied.__contains__ if forward else found.active
        more = set(wanted) | {p for p in rec.written if active(p)}
        for stmt in ir.walk(block):
            if is_recursive(stmt) and stmt.op.fn is rec:
                more |= called_for(rec, stmt, active, s)
        if more == wanted:
            refuse_writes(s, block, where, found)
            return wanted, found
        wanted = frozenset(more)


def variant_of(
    s: Specialiser,
    rec: Recursion,
    kind: str,
    wanted: frozenset[str],
    emit: Callable[[Specialiser, Recursion, Variant], None],
) -> Variant:
    """The emitted functions for at least these wanted arguments, made where there are none yet."""
    for known in rec.variants:
        if known.kind == kind and known.wanted >= wanted:
            return known
    variant = Variant(kind, wanted)
    with apart(s):
        emit(s, rec, variant)
    return variant


# -- without derivatives


def plain(s: Specialiser, rec: Recursion) -> Variant:
    """The function itself."""
    return variant_of(s, rec, "plain", frozenset(), emit_plain)


def emit_plain(s: Specialiser, rec: Recursion, variant: Variant) -> None:
    variant.name = rec.name
    rec.variants.append(variant)
    block, where = body_of(s, rec)
    settle_calls(s, block)
    final = ir.Return(result_expr([ir.name(n) for n in rec.results]))
    define(s, where, rec.name, {n: s.hints[n] for n in rec.inputs}, [*block, final])


def settle_calls(s: Specialiser, block: ir.Block) -> None:
    """Emit what is called without derivatives."""
    if not s.recursions:
        return
    for stmt in ir.walk(block):
        for name in [n for expr in ir.expressions(stmt) for n in ir.names_in(expr)]:
            rec = s.globals.get(name)
            if isinstance(rec, Recursion):
                plain(s, rec)


def result_expr(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else ir.tuple_(items) if items else ir.constant(None)


def define(s: Specialiser, where: Regions, name: str, arguments: dict[str, str], program: ir.Block) -> None:
    """Print one function from a program whose last statement returns."""
    from .assemble import function
    from .optimise import Nesting

    program = Nesting(s, where, program, 0).block(program)
    given = distinct(s, arguments)
    names = name_variables(s, program, given)
    s.functions.append(function(name, given, {}, Emitter(names, set()).block(program), False))


def distinct(s: Specialiser, arguments: dict[str, str]) -> dict[str, str]:
    from .assemble import unique

    taken = set(s.globals)
    return {variable: unique(hint, taken) for variable, hint in arguments.items()}


# -- reverse mode


def reverse_call(r: Any, stmt: ir.Let) -> None:
    """The reverse of a call: a call of the backward function."""
    s, op = r.s, stmt.op
    assert op is not None
    rec: Recursion = cast(Any, op.fn)
    wanted = called_for(rec, stmt, r.activity.active, s)
    used = any(r.activity.active(t) for t in stmt.targets) or bool(wanted & rec.written)
    if not rec.written and not (wanted and used):
        return
    check_overlap(s, rec, stmt, r)
    variant = variant_of(s, rec, "reverse", wanted if used else frozenset(), emit_reverse)
    seeds = [cotangent(r, t) for t in stmt.targets if carries(s.facts[t])] if rec.results else []
    state = s.fresh("state", Opaque())
    s.named.add(state)
    stmt.targets = (*stmt.targets, state) if rec.results else (state,)
    stmt.expr = ir.call(ir.name(variant.name), *stmt.expr.args)
    r.first[state] = r.order[stmt]
    written = [p for p in rec.inputs if p in rec.written]
    shadows = [shadow_of(r, op.arguments[p]) for p in written if p in variant.wanted]
    arguments = [Leaf(state), *(op.arguments[p] for p in written), *seeds, *shadows]
    expr = ir.call(ir.name(variant.backward), *(s.expr(a) for a in arguments))
    returned = [p for p in rec.inputs if p in variant.wanted and p not in rec.written]
    if not returned:
        s.block.append(ir.Effect(expr, s.origin, "adjoint"))
        s.block[-1].state_reads = held_in_state(rec, stmt, state)
        return
    found = s.let_several(expr, [cotangent_facts(s, p, op.arguments[p]) for p in returned], None, effect=bool(written))
    s.block[-1].state_reads = held_in_state(rec, stmt, state)
    for p, leaf in zip(returned, found):
        s.hints[leaf.name] = f"d_{s.hints[p]}"
        s.named.add(leaf.name)  # a statement of its own, which keeps what it reads
        if p in wanted:
            r.add(op.arguments[p].name, leaf, True)


def held_in_state(rec: Recursion, stmt: ir.Let, state: str) -> list[str]:
    """The caller's variables whose memory the backward function may read through its state."""
    assert stmt.op is not None
    given = [v.name for p, v in stmt.op.arguments.items() if p not in rec.written and isinstance(v, Leaf)]
    return [*given, *(t for t in stmt.targets if t != state)]


def check_overlap(s: Specialiser, rec: Recursion, stmt: ir.Let, r: Any) -> None:
    """Arguments that share memory, one of which is written, would have two shadows."""
    from .settle import written_later

    assert stmt.op is not None
    known = [(p, roots_of(s.facts[v.name])) for p, v in stmt.op.arguments.items() if isinstance(v, Leaf)]
    for p, roots in known:
        for other, found in known:
            if p in rec.written and other != p and roots & found:
                raise AliasError(
                    f"two arguments of the recursive function {rec.name} share memory, and one of them is written",
                    "pass a copy of one of them",
                    stmt.origin,
                )
    for k, t in enumerate(stmt.targets):
        own = roots_of(s.facts[t])
        others = [*known, *(("", roots_of(s.facts[u])) for u in stmt.targets[:k])]
        shared = [p for p, roots in others if own & roots]
        if (
            shared
            and r.regions.is_written(t)
            and (rec.written & set(shared) or written_later(r, stmt, r.regions.of(t)))
        ):
            raise AliasError(
                f"what the recursive function {rec.name} returns may be its argument, and is written",
                "return a copy",
                stmt.origin,
            )


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
    from ..runtime import broadcast

    return broadcast.zeros_like


def shadow_of(r: Any, value: Value) -> Value:
    if isinstance(value, Leaf) and r.activity.active(value.name):
        return r.shadows.of(value.name)
    s = r.s
    return s.let(helper(s, zeros_like(), value), Opaque(), may_raise=False)


def cotangent_facts(s: Specialiser, parameter: str, value: Value) -> Facts:
    facts = s.facts_of(value)
    if isinstance(facts, Num) and isinstance(value, Leaf):
        own = facts_like(s, value.name)
        return Num(None, own.dtype, own.dims) if own.kind == "npscalar" else own
    return Opaque()


def emit_reverse(s: Specialiser, rec: Recursion, variant: Variant) -> None:
    """Emit the forward and the backward function."""
    from .optimise import sweep_dead
    from .pipeline import insert_saves, rename, renaming
    from .record import record
    from .reverse import Reverse
    from .settle import settle

    forward, where = body_of(s, rec)
    variant.wanted, active = all_wanted(s, rec, forward, where, variant.wanted, False)
    announce(s, rec, variant)
    r = Reverse(s, active, where)
    r.outputs = set(rec.results)
    r.index(forward)
    r.primal_roots = frozenset(root for n in [*r.first, *rec.inputs] for root in roots_of(s.facts[n]))
    r.kept_regions = {where.of(p) for p in rec.written}
    seeds: dict[str, str] = {}
    reverse: ir.Block = []
    with s.writing(reverse):
        shadows = given_shadows(r, rec, variant)
        sow_results(r, rec, forward, seeds)
        for stmt in reversed(forward):
            r.statement(stmt)
        s.origin = None
        grads = [argument_gradient(r, p) for p in rec.inputs if p in variant.wanted and p not in rec.written]
    rename(r, reverse, grads)
    mapping = renaming(r)
    final = ir.Return(result_expr([ir.substitute(g, mapping) for g in grads]))
    insert_saves(r, forward)
    strict = set(ir.walk(forward))
    inner = {leaf.name for leaf in r.shadows.table.values() if leaf.name not in shadows}
    ends = [ir.Return(ir.tuple_([ir.name(n) for n in rec.results])), final]
    kept = set(sweep_dead(s, [*forward, *reverse, *ends], strict, inner))
    reverse[:] = [stmt for stmt in reverse if stmt in kept]
    settle(r, reverse, set())
    forward, reverse = record(s, where, forward, reverse)
    program = sweep_dead(s, [*forward, *reverse, *ends], strict, inner)
    early = set(map(id, forward))
    back = [stmt for stmt in program if id(stmt) not in early and stmt not in ends]
    define_pair(s, where, rec, variant, [stmt for stmt in program if id(stmt) in early], [*back, final], seeds, shadows)


def announce(s: Specialiser, rec: Recursion, variant: Variant) -> None:
    """Choose the names, so that the body can call itself."""
    variant.name = s.bind(f"{rec.name}_forward", variant).id
    backward = Variant("backward", variant.wanted)
    written = [p for p in rec.inputs if p in rec.written]
    seeds = sum(carries(s.facts[n]) for n in rec.results)
    first = 1 + len(written) + seeds
    backward.changed = (*range(1, 1 + len(written)), *range(first, first + sum(p in variant.wanted for p in written)))
    variant.backward = s.bind(f"{rec.name}_backward", backward).id
    rec.variants.append(variant)


def given_shadows(r: Any, rec: Recursion, variant: Variant) -> dict[str, str]:
    """The shadows of the arguments: given for those that are written, zeros for lists."""
    s = r.s
    given: dict[str, str] = {}
    for p in rec.inputs:
        if p in rec.written and p in variant.wanted:
            leaf = s.fresh(f"d_{s.hints[p]}", r.shadows.facts(p))
            s.named.add(leaf)
            given[leaf] = f"d_{s.hints[p]}"
            r.shadows.table[p] = Leaf(leaf)
        elif r.shadows.wanted(p):
            r.shadows.table[p] = r.shadows.fresh(p)
    return given


def sow_results(r: Any, rec: Recursion, forward: ir.Block, seeds: dict[str, str]) -> None:
    """Seed the results with the cotangents that the backward function is given."""
    from ..runtime import memory

    s = r.s
    r.shadows.open(forward)
    for k, n in enumerate(rec.results):
        facts = s.facts[n]
        if not carries(facts):
            continue
        hint = "d_out" if len(rec.results) == 1 else f"d_out_{k + 1}"
        variable = s.fresh(hint, seed_facts(s, n))
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
    from .arguments import leaf_gradient

    s = r.s
    if isinstance(s.facts[parameter], Num):
        return leaf_gradient(r, Leaf(parameter))
    if r.activity.active(parameter):
        return s.expr(r.shadows.of(parameter))
    return helper(s, zeros_like(), Leaf(parameter))


def define_pair(
    s: Specialiser,
    where: Regions,
    rec: Recursion,
    variant: Variant,
    front: ir.Block,
    back: ir.Block,
    seeds: dict[str, str],
    shadows: dict[str, str],
) -> None:
    """Print both functions."""
    from .assemble import function
    from .optimise import REVERSE_DEPTH, Nesting

    settle_calls(s, front)
    nesting = Nesting(s, where, [*front, *back], 0)
    front = nesting.block(front)
    nesting.limit = REVERSE_DEPTH
    back = nesting.block(back)
    written = [p for p in rec.inputs if p in rec.written]
    back[:0] = own_copies(s, back, {*written, *seeds, *shadows}, {*rec.inputs, *always_assigned(front)})
    outer = [n for n in outside_names(back) if n not in {*written, *seeds, *shadows}]
    check_state(s, outer, written, first_origin(front))
    arguments = distinct(s, {n: s.hints[n] for n in rec.inputs} | seeds | shadows)
    ends = ir.Return(ir.tuple_([ir.name(n) for n in rec.results]))
    names = name_variables(s, [*front, ends, *back], arguments)
    state = list(dict.fromkeys(names[n] for n in outer))
    values = [ir.name(names[n]) for n in rec.results]
    body = [*unset(front, rec.inputs, outer, names), *Emitter(names, set()).block(front)]
    body.append(
        gast.Return(
            ir.tuple_([*values, ir.tuple_([ir.name(n) for n in state])])
            if values
            else ir.tuple_([ir.name(n) for n in state])
        )
    )
    s.functions.append(function(variant.name, {n: arguments[n] for n in rec.inputs}, {}, body, False))
    given = "state" if "state" not in names.values() else "kept_state"
    tail = Emitter(names, set()).block(back)
    annotate(tail)
    taken: list[Any] = []
    if state:
        target = gast.Tuple([gast.Name(n, gast.Store(), None, None) for n in state], gast.Store())
        taken = [gast.Assign([target], ir.name(given), None)]
    parameters = {given: given} | {n: arguments[n] for n in [*written, *seeds, *shadows]}
    s.functions.append(function(variant.backward, parameters, {}, [*taken, *tail], False))


__all__ = ["is_recursive", "operands", "plain", "reverse_call", "settle_calls"]
