"""Forward mode from request to emitted function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from ...runtime.broadcast import unbroadcast
from .. import ir
from ..ad.activity import activity, refuse_writes
from ..ad.forward.transform import Forward
from ..ad.results import check_output, detached, of_rank_0, output_leaves, own_result, unknown_leaves
from ..ad.reverse.cotangents import copied, helper
from ..analysis.alias import Regions, needs_order, regions_of_program
from ..analysis.definite_assignment import drop_sure, unbound
from ..analysis.liveness import sweep_dead
from ..domain.facts import Num
from ..domain.request import Arguments, Emitted, Request
from ..domain.values import Frame, Leaf, ListV, Obj, TupleV, Value
from ..interp.kernel.escape import refuse_lost_references
from ..interp.kernel.specialiser import Specialiser
from ..interp.world.boundary import own_copy, protect, receive
from ..ir.function import Role
from .assemble import emit
from .pass_manager import Program
from .pipeline import note_effects, refuse_captured, specialise, wanted_inputs, without_dead


def tangent(request: Request) -> Emitted:
    """Emit the tangent function of a request: ``t_f(arguments, outside, tangents)`` returns value and tangent."""
    s, table, result = specialise(request)
    chosen = check_output(s, result, request)
    block = without_dead(s, s.block, result, table, request)
    refuse_lost_references(s, block)
    s.unbound = unbound(block)
    drop_sure(block, s.unbound)
    where = regions_of_program(s, block)
    protect(s, table, where, replace(request, value=True).valued)
    table.ordered = bool(table.written) and needs_order(block, where)
    inputs, _ = wanted_inputs(s, table, request)
    note_effects(s, block, where)
    active = activity(s, block, where, inputs, {*output_leaves(s, chosen), *unknown_leaves(s, chosen)})
    refuse_captured(s, where, active)
    refuse_writes(s, block, where, active)
    initial = s.initial
    s.frame = Frame(0, None, {}, rule=True)
    f = Forward(s, active, where)
    before: ir.Block = []
    tangents = Arguments()
    strict, env = set(ir.walk(block)), s.env
    with s.writing(before):
        for p in request.wrt:
            s.env = dict(initial)
            value = receive(s, tangents, f"t_{p}", request.parameters[p][1])
            pair_leaves(s, f, initial, tangents, table.values[p], value)
    s.roles |= dict.fromkeys(tangents.names, Role.TANGENT)
    protect_tangents(s, where, tangents, f)
    s.env = env
    s.of_blocks[id(block)] = block, s.lengths
    forward = f.block(block)
    tail: ir.Block = []
    with s.writing(tail):
        expr = tangent_of(s, f, chosen)
        value = own_result(s, None, table, s.block, result)
    final = ir.Return(ir.tuple_([s.expr(value), expr]))
    # The tangents' own statements come after the arguments'.
    program = sweep_dead(s, [*before, *forward, *tail, final], strict, set())
    s.unbound = unbound(program)  # with the tangents of what may be unbound
    whole = Program(s, where, request, table, result, program, final=final, seeds=tangents.names, early=set(program))
    return emit(whole, f"t_{request.name}")


def pair_leaves(
    s: Specialiser, f: Any, initial: dict[Any, Value], tangents: Arguments, primal: Value, given: Value
) -> None:
    """Match each variable of an argument with that of its tangent."""
    if isinstance(primal, Leaf) and (not isinstance(given, Leaf) or given.name in tangents.entries):
        f.tangents[primal.name] = f.variable(given, primal.name)
    elif isinstance(primal, TupleV):
        for a, b in zip(primal.items, given.items):
            pair_leaves(s, f, initial, tangents, a, b)
    elif isinstance(primal, Obj):
        for key in [k[1] for k in initial if isinstance(k, tuple) and k[0] == primal.id]:
            pair_leaves(s, f, initial, tangents, initial[(primal.id, key)], s.env[(given.id, key)])


def protect_tangents(s: Specialiser, where: Regions, tangents: Arguments, f: Any) -> None:
    """The tangent of an argument that is written is written too: a copy of it."""
    for primal, leaf in f.tangents.items():
        if leaf.name in tangents.entries:
            entry = tangents.entries[leaf.name]
            entry.expr = own_copy(s, entry.expr, s.facts[primal], where) or entry.expr


def tangent_of(s: Specialiser, f: Any, value: Value) -> Any:
    """The tangent of a result, in its structure and in memory of its own."""
    if isinstance(value, Obj):
        parts = {k: tangent_of(s, f, s.env[(value.id, k)]) for k in s.fields(value)}
        return gast.Dict([ir.constant(k) for k in parts], list(parts.values()))
    if isinstance(value, (TupleV, ListV)):
        items = [tangent_of(s, f, v) for v in value.items]
        if isinstance(value, ListV):
            return gast.List(items, gast.Load())
        return ir.tuple_(items) if value.cls is None else ir.call(s.bind(value.cls.__name__, value.cls), *items)
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        found = f.of(value.name) if f.active(value.name) else f.zero(value.name)
        own = found if not f.active(value.name) else (copied if isinstance(facts, Num) else detached)(s, found)
        if isinstance(facts, Num) and facts.differentiable and (facts.kind is None or facts.dtype is None):
            return helper(s, unbroadcast, own, value)  # only the run tells its kind and its dtype
        return of_rank_0(s, s.expr(own), facts) if isinstance(facts, Num) and facts.differentiable else s.expr(own)
    return ir.constant(0.0)
