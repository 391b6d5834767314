"""Assembly of both sweeps into a loaded function, and of the functions that are emitted beside it."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from typing import Any

import gast

from ...core import thresholds
from .. import ir
from ..ad.recursion.function_pairs import PairDefinition, Variant, apart, body_of, distinct, result_expr, variant_of
from ..ad.tape.residuals import always_assigned, kept_state, own_copies, unset, unset_state
from ..analysis.alias import Regions
from ..analysis.definite_assignment import unbound
from ..codegen.emit import FORWARD, REVERSE, Emitter, annotate, defaults, line_map, mark_sweep
from ..codegen.load import load_parts
from ..codegen.out_of_ssa import name_variables, targets, with_checks
from ..domain.assumptions import Assumption, size_of
from ..domain.dependencies import Guard, KindGuard
from ..domain.facts import Num
from ..domain.identifiers import identifier, is_identifier, unique
from ..domain.request import Arguments, Emitted, Request, observe
from ..domain.values import External, Value
from ..interp.calls.recursive_functions import Recursion
from ..interp.kernel.specialiser import Specialiser
from ..numba import natively
from ..opt.loops.unboxing.driver import may_run_again
from ..opt.scalar.forward_substitution import Nesting
from ..text.unparse import printed
from .argument_binding import seed_spec, wrap_spec
from .pass_manager import Program
from .pass_order import EXPRESSIONS, FLOATS, MEMORY, PRINTING, PYTHON, STATEMENTS, SWEEPS


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


CALLED = frozenset(
    "abs bool complex dict enumerate float int isinstance len list max min range reversed slice sum tuple zip".split()
)


def emit(p: Program, name: str) -> Emitted:
    """Optimise, name, print and load a program whose last statement returns."""
    s, where, request, table, seeds = p.s, p.where, p.request, p.table, p.seeds
    for phase in (MEMORY, SWEEPS, EXPRESSIONS, FLOATS, STATEMENTS):
        p.run(phase)
    front, back = p.forward, p.reverse
    if request.split:
        given = {*table.names, *(e.name for e in s.externals.values()), *always_assigned(front)}
        back[:0] = own_copies(s, back, set(), given)
        callers = [n for n in table.entries if not where.is_written(n)]  # the others have been copied on entry
        kept = kept_state(s, where, [*callers, *table.handed], front, back, seeds)
    program = p.both
    define_functions(s)
    settle_calls(s, program)
    observe(request, "optimise", s, program)
    externals = used_externals(s, program, request)
    arguments = parameters(s, table, externals, seeds, builtins_in(program))
    names = name_variables(s, program, arguments)
    p.emitter = emitter = Emitter(s, names)
    p.run(PRINTING)
    body, p.tail = emitter.block(front), emitter.block(back)
    mark_sweep(body, FORWARD)
    mark_sweep(p.tail, REVERSE)
    start = defaults(s, emitter, list(arguments.values()))
    none = targets(start)
    if request.split:
        none |= targets(unset_state(s, front, back, list(arguments), names, body))
    p.body = [*start, *with_checks(emitter, body, none)]
    p.run(PYTHON)
    if request.split:
        p.body[:0] = unset_state(s, front, back, list(arguments), names, p.body)
        return emit_pair(s, request, table, names, arguments, seeds, p.body, p.tail, kept, p.value, externals)
    function_name = unique(name, set(s.globals) | set(arguments.values()))
    main = function(function_name, arguments, seeds, [*p.body, *p.tail], default_seed(s, request, seeds))
    text = printed(gast.Module([main, *s.functions], []))
    hint = f"adjoint of {getattr(request.fn, '__module__', '')}.{request.name}"
    parts = ((function_name, hint, text.text),)
    loaded = load_parts(parts, dict(s.globals))
    lines = loaded.__autodiff_lines__ = line_map(text.statements)  # type: ignore[attr-defined]
    loaded.__autodiff_origins__ = {line: x.origin for line, x in lines.items() if x.origin is not None}  # type: ignore[attr-defined]
    whole = emitted(s, request, table, parts, loaded, externals, p.value, count_of(p.final))
    whole.lists, whole.again = s.relies, not s.careful and may_run_again(s, program)
    if request.backend == "numpy":
        return whole
    return natively(request.backend, whole, hint, s, where, front, back, arguments, seeds, externals, function_name)


def count_of(final: ir.Return) -> int:
    """The number of gradients that a program returns one by one."""
    return len(final.value.elts) if isinstance(final.value, gast.Tuple) and not final.single else 1


def parameters(
    s: Specialiser, table: Arguments, externals: list[External], seeds: dict[str, str], called: set[str]
) -> dict[str, str]:
    """The parameters of the emitted function by variable: the user's, what is read from outside, and the seeds.

    The user's have their own names, but for those of builtins that emitted code calls, and for keywords of a call that
    are no identifiers.  What is found under a key of a dict is called after the key, which may be any text.
    """
    own = {v: n for v, n in table.names.items() if is_identifier(n) and n not in called}
    used = {*own.values(), *seeds.values(), *s.globals}
    named = {v: n for v, n in table.names.items() if v not in own} | {e.name: s.hints[e.name] for e in externals}
    for variable, text in named.items():
        plain = identifier(text)
        own[variable] = unique(f"{plain}_" if plain in called else plain, used)
    return {v: own[v] for v in [*table.names, *(e.name for e in externals)]} | seeds


def builtins_in(program: ir.Block) -> set[str]:
    """The builtins that a program names, or may be given when it is printed."""
    nodes = (n for stmt in ir.walk(program) for expr in ir.expressions(stmt) for n in ir.nodes_in(expr))
    return {n.id for n in nodes if type(n) is gast.Name and hasattr(builtins, n.id)} | CALLED


def emitted(
    s: Specialiser,
    request: Request,
    table: Arguments,
    parts: tuple[tuple[str, str, str], ...],
    loaded: Any,
    externals: list[External],
    result: Value,
    count: int,
) -> Emitted:
    """A loaded function with what its caller has to know."""
    tensors = any(isinstance(f, Num) and f.tensor for f in s.facts.values())
    text = "\n\n".join(text for _, _, text in parts)
    assumed = assumed_of(s, externals)
    return Emitted(
        text, loaded, externals, s.guards, dict(s.globals), table.written, table.changed, table.rebound, table.ordered,
        wrap_spec(s, result) if tensors else None, tensors, count, seed_spec(s, differentiated(request, result)),
        s.effects, parts, s.world, s.level, outside=table.outside, published=table.published,
        singular=s.singular, spectral=s.spectral, assumed=assumed,
    )  # fmt: skip


def assumed_of(s: Specialiser, externals: list[External]) -> tuple[Assumption, ...]:
    """The assumptions of a program on the sizes of its arguments and of what it is given from outside.

    What is outside and not given to it after all has to keep its size.
    """
    numbers, needed = {}, s.sizes.outside()
    given = {external.name: k for k, external in enumerate(externals, s.sizes.count)}
    for number, external in enumerate(s.externals.values(), s.sizes.count):
        if external.name in given:
            numbers[number] = given[external.name]
        elif number in needed:
            size = partial(size_read, external.read)
            s.guards.append(Guard(size, size()))
    return tuple(s.sizes.assumed(numbers))


def size_read(read: Callable[[], Any]) -> Any:
    """The size of what is read outside."""
    return size_of(read())


def differentiated(request: Request, result: Value) -> Value:
    """The part of a result that is differentiated."""
    return result.items[0] if request.has_aux else result


def emit_pair(
    s: Specialiser,
    request: Request,
    table: Arguments,
    names: dict[str, str],
    arguments: dict[str, str],
    seeds: dict[str, str],
    body: list[Any],
    tail: list[Any],
    kept: dict[str, Any],
    result: Value,
    externals: list[External],
) -> Emitted:
    """A forward function that returns the value and what its backward function reads."""
    state = {names[n]: ir.substitute(expr, {n: ir.name(names[n])}) for n, expr in kept.items()}
    parameters = [gast.Name(n, gast.Param(), None, None) for n in [*state, *seeds.values()]]
    value = body.pop().value
    forward_arguments = {k: v for k, v in arguments.items() if k not in seeds}
    forward_name, backward_name = (unique(f"{request.name}_{part}", set(s.globals)) for part in ("forward", "backward"))
    final = gast.Return(ir.tuple_([value, ir.tuple_([*state.values()])]))
    tree = function(forward_name, forward_arguments, {}, [*body, final], False)
    text = printed(gast.Module([tree, *s.functions], [])).text
    spec = gast.arguments(parameters, [], None, [], [], None, [])
    back_text = printed(gast.Module([gast.FunctionDef(backward_name, spec, tail, [], None, None, [])], [])).text
    hint = f"{getattr(request.fn, '__module__', '')}.{request.name}"
    parts = ((forward_name, f"forward of {hint}", text), (backward_name, f"backward of {hint}", back_text))
    loaded = load_parts(parts, dict(s.globals))
    count = len(request.wrt) + len(request.weights)
    return emitted(s, request, table, parts, loaded, externals, result, count)


def used_externals(s: Specialiser, program: ir.Block, request: Request) -> list[External]:
    """The outside values that the emitted function reads; the kind of every other one that was looked at is guarded."""
    read = {n for stmt in program for n in ir.reads_inside(stmt)}
    result = []
    for external in s.externals.values():
        if external.name in read or any(external.key is w for w in request.weights):
            result.append(external)
        else:
            s.guards.append(KindGuard(external.read))
    return result


def default_seed(s: Specialiser, request: Request, seeds: dict[str, str]) -> bool:
    return not request.seeded and not any(s.is_tangent(variable) for variable in seeds)
