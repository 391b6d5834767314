"""Functions that are emitted beside the derivative: those that call themselves, and large ones."""

from __future__ import annotations

from typing import Any

import gast

from ...core import thresholds
from .. import ir
from ..ad.recursion.function_pairs import PairDefinition, Variant, apart, body_of, distinct, result_expr, variant_of
from ..ad.tape.residuals import unset
from ..analysis.alias import Regions
from ..analysis.definite_assignment import unbound
from ..codegen.emit import FORWARD, REVERSE, Emitter, annotate, defaults, mark_sweep
from ..codegen.out_of_ssa import name_variables, targets, with_checks
from ..interp.calls.recursive_functions import Recursion
from ..ir.builder import Specialiser
from ..opt.scalar.forward_substitution import Nesting


def define_functions(s: Specialiser) -> None:
    """Print the functions that differentiation has left to be emitted."""
    pending, s.functions = s.functions, []
    for each in pending:
        with apart(s):
            if isinstance(each, PairDefinition):
                define_pair(s, each)
            else:
                settle_calls(s, each.program)
                define(s, each.where, each.name, each.arguments, each.program)


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


def define(s: Specialiser, where: Regions, name: str, arguments: dict[str, str], program: ir.Block) -> None:
    """Print one function from a program whose last statement returns."""
    s.unbound = unbound(program)  # with the tangents of what may be unbound
    program = Nesting(s, where, program, 0).block(program)
    given = distinct(s, arguments)
    emitter = Emitter(s, name_variables(s, program, given))
    body = emitter.block(program)
    start = defaults(s, emitter, list(given.values()))
    body = with_checks(emitter, body, targets(start))
    s.functions.append(function(name, given, {}, [*start, *body], False))


def define_pair(s: Specialiser, pair: PairDefinition) -> None:
    """Print a forward and a backward function."""
    rec, variant, saved, state, given = pair.rec, pair.variant, pair.saved, pair.state, pair.given
    s.unbound = pair.unbound
    settle_calls(s, pair.front)
    front = [*pair.front, ir.Return(result_expr([ir.name(n) for n in rec.results]))]
    nesting = Nesting(s, pair.where, [*front, *pair.back], 0)
    front = nesting.block(front)
    nesting.limit = thresholds.OPERATIONS_NESTED
    back = nesting.block(pair.back)
    lists = list(saved.values())
    handed = lists[0] if isinstance(variant.state, gast.List) else state
    arguments = distinct(s, {n: s.hints[n] for n in [*rec.inputs, handed]} | given)
    made = [ir.Let((n,), gast.List([], gast.Load())) for n in lists if n != handed]
    names = name_variables(s, [*made, *front, *back], arguments)
    names[state] = names[handed]
    stacks = unpacked([names[stmt.target] for stmt in made], names[state])
    none = unset(front, rec.inputs, [n for n in saved if n in s.unbound], names)
    parameters = {n: arguments[n] for n in [*rec.inputs, handed]}
    emitter = Emitter(s, names)
    printed = emitter.block(front)
    mark_sweep(printed, FORWARD)
    none += defaults(s, emitter, [*parameters.values(), *targets(none)])
    body = [*stacks, *none, *with_checks(emitter, printed, targets(none))]
    s.functions.append(function(variant.name, parameters, {}, body, False))
    tail = Emitter(s, names).block(back)
    mark_sweep(tail, REVERSE)
    annotate(tail)
    written = [p for p in rec.inputs if p in rec.written]
    parameters = {n: arguments[n] for n in [handed, *written, *given]}
    s.functions.append(function(variant.backward, parameters, {}, [*stacks, *tail], False))


def unpacked(names: list[str], state: str) -> list[Any]:
    """``saved_x, saved_y = state``."""
    if not names:
        return []
    target = gast.Tuple([gast.Name(n, gast.Store(), None, None) for n in names], gast.Store())
    return [gast.Assign([target], ir.name(state), None)]


def function(name: str, arguments: dict[str, str], seeds: dict[str, str], body: list[Any], default: bool) -> Any:
    """The definition of a function; with `default`, its seeds are ones unless they are given."""
    parameters = [gast.Name(text, gast.Param(), None, None) for text in arguments.values()]
    defaults = [ir.constant(1.0)] * len(seeds) if default else []
    spec = gast.arguments(parameters, [], None, [], [], None, defaults)
    return gast.FunctionDef(name, spec, body, [], None, None, [])
