"""From both sweeps to a loaded function: temporaries nested, variables named, text printed and compiled."""

from __future__ import annotations

import builtins
from typing import Any

import gast

from .. import thresholds
from ..native import natively
from . import ir, passes
from .algebra.contractions import contract, contract_forward
from .algebra.differences import turn_differences
from .algebra.factor_cotangents import factor_cotangents
from .algebra.invariants import before_loops
from .algebra.inverses import is_plain, share_inverses
from .algebra.methods import with_methods
from .algebra.number_functions import call_once
from .algebra.pairs import pair_products
from .algebra.powers import decides, small_powers, squares_of_numbers
from .algebra.rank_one import rank_one
from .algebra.selections import one_selection
from .algebra.signs import absorb_signs
from .algebra.spelling import spell
from .algebra.summed_products import summed_products
from .algebra.tensor_products import tensor_products
from .algebra.variances import variances
from .arguments import Arguments
from .buffers.at_once import put_at_once
from .buffers.computed_into import compute_into
from .buffers.dead_stores import drop_dead_stores
from .buffers.first_touch import touch_first
from .buffers.full_first import full_first
from .buffers.gathered_parts import gather_parts
from .buffers.gathering import gather_products
from .buffers.item_assignments import assign_items
from .buffers.item_sums import add_at_once
from .buffers.list_parts import list_parts
from .buffers.list_sums import sum_lists
from .buffers.overwrite import overwrite
from .buffers.parts import collect_parts
from .buffers.plain_sums import add_plainly
from .buffers.reuse import overwrite_own, reuse
from .buffers.rows import plan_rows, write_rows
from .buffers.selected import select_quickly
from .buffers.sinking import sink
from .buffers.strips import in_strips
from .buffers.taken_items import leave_taken
from .buffers.ties import ask_for_ties
from .buffers.zeroing import zero_last
from .emitted import Emitted
from .facts import Num
from .items.carried_lists import carry_lists
from .items.items import may_run_again, on_lists
from .items.kept_lists import keep_lists
from .items.of_numbers import of_numbers
from .items.plain_floats import plain_floats
from .items.saved_lists import save_lists
from .names import identifier, is_identifier, unique
from .optimise import Nesting, count_uses
from .peephole import without_synonyms
from .phrasing.bounds import count_up, fold_bounds, inline_lengths
from .phrasing.chains import chain
from .phrasing.computed_there import compute_there
from .phrasing.counts import name_counts, write_counts
from .phrasing.deferral import defer
from .phrasing.iterate import iterate
from .phrasing.joining import join_branches
from .phrasing.last_index import read_last
from .phrasing.last_sums import last_sums
from .phrasing.merged import read_merged
from .phrasing.named_lengths import name_lengths
from .phrasing.one_path import one_path
from .phrasing.opposites import opposites
from .phrasing.phrased import phrased
from .phrasing.repeating import repeat
from .phrasing.saved_shapes import save_shapes
from .phrasing.together import count_saved, drop_unread_lists, save_together
from .phrasing.unnamed import without_names
from .phrasing.unpacked import rearrange
from .phrasing.unread import drop_unread, execute_unread
from .phrasing.where_taken import reverse_where_taken
from .record.handover import always_assigned, kept_state, own_copies, unset_state
from .recursion.pairs import settle_calls
from .regions import Regions
from .request import Request, observe
from .specialise.state import Specialiser
from .specialise.values import External, Value
from .text.emit import Emitter, defaults
from .text.load import load_parts
from .text.naming import name_variables
from .text.readings import targets, with_checks
from .text.unparse import printed
from .world import KindGuard
from .wrapping import seed_spec, wrap_spec

CALLED = frozenset(
    "abs bool complex dict enumerate float int isinstance len list max min range reversed slice sum tuple zip".split()
)


def emit(
    s: Specialiser,
    where: Regions,
    request: Request,
    table: Arguments,
    program: ir.Block,
    early: set[int],
    final: ir.Return,
    seeds: dict[str, str],
    result: Value,
    name: str,
) -> Emitted:
    """Name, print and load a program whose last statement returns."""
    outside = [*table.entries, *(e.name for e in s.externals.values())]
    front, back = polished(s, where, outside, program, early, request)
    front, back, lists = touched_up(s, where, request, table, list(seeds), front, back)
    if request.split:
        given = {*table.names, *(e.name for e in s.externals.values()), *always_assigned(front)}
        back[:0] = own_copies(s, back, set(), given)
        callers = [n for n in table.entries if not where.is_written(n)]  # the others have been copied on entry
        kept = kept_state(s, where, [*callers, *table.handed], front, back, seeds)
    program = [*front, *back]
    settle_calls(s, program)
    observe(request, "optimise", s, program)
    externals = used_externals(s, program, request)
    arguments = parameters(s, table, externals, seeds, builtins_in(program))
    names = name_variables(s, program, arguments)
    emitter = Emitter(s, names)
    if request.backend == "numpy" and passes.on("return_at_once"):
        emitter.last_sums = last_sums(s, back)
    if passes.on("read_next"):
        emitter.note_uses(program, count_uses(program))
    body, tail = emitter.block(front), emitter.block(back)
    start = defaults(s, emitter, list(arguments.values()))
    none = targets(start)
    if request.split:
        none |= targets(unset_state(s, front, back, list(arguments), names, body))
    body, tail = phrased(s, [*start, *with_checks(emitter, body, none)], tail, not request.split)
    if request.split:
        body[:0] = unset_state(s, front, back, list(arguments), names, body)
        return emit_pair(s, request, table, names, arguments, seeds, body, tail, kept, result, externals)
    function_name = unique(name, set(s.globals) | set(arguments.values()))
    main = function(function_name, arguments, seeds, [*body, *tail], default_seed(request, seeds))
    text = printed(gast.Module([main, *s.functions], []))
    hint = f"adjoint of {getattr(request.fn, '__module__', '')}.{request.name}"
    parts = ((function_name, hint, text.text),)
    loaded = load_parts(parts, dict(s.globals))
    loaded.__autodiff_origins__ = {  # type: ignore[attr-defined]
        line: node.origin for line, node in text.statements.items() if getattr(node, "origin", None) is not None
    }
    several = isinstance(final.value, gast.Tuple) and not final.single
    count = len(final.value.elts) if several else 1
    whole = emitted(s, request, table, parts, loaded, externals, result, count)
    whole.lists, whole.again = lists, not s.careful and may_run_again(s, program)
    if request.backend == "numpy":
        return whole
    return natively(request.backend, whole, hint, s, where, front, back, arguments, seeds, externals, function_name)


def touched_up(
    s: Specialiser,
    where: Regions,
    request: Request,
    table: Arguments,
    seeds: list[str],
    front: ir.Block,
    back: ir.Block,
) -> tuple[ir.Block, ir.Block, bool]:
    """Both sweeps as loops and statements are written by hand, and whether arrays are lists in them."""
    both, first = [*front, *back], back[0] if back else None
    if not runs_alone(request):
        s.exact = {*ir.defined(front), *table.entries, *(e.name for e in s.externals.values())}
    again = request.lists and may_run_again(s, both)
    lists = again and on_floats(s, request, both)
    lists = lists or s.relies
    if request.backend == "numpy" and passes.on("small_powers"):
        squares_of_numbers(s, back)
    if lists:
        place = len(both) if first is None else both.index(first)
        front, back = both[:place], both[place:]
    if not request.split and passes.on("name_lengths"):
        name_lengths(s, front, back)
    write_rows(s, front, back)
    if request.backend == "numpy" and request.capture is None and not request.split and passes.on("save_together"):
        save_together(s, front, back)
    if request.backend == "numpy" and passes.on("rearrange"):
        rearrange(s, front, back)
    if passes.on("counts"):
        name_counts(s, back)
    if request.backend == "numpy" and passes.on("iterate"):
        iterate(s, front, back)
    if not request.split and passes.on("drop_unread"):
        drop_unread(s, front, back)
    if request.backend == "numpy" and passes.on("before_loops"):
        lists = before_loops(s, front, back, again) or lists
    if runs_alone(request) and passes.on("in_strips"):
        outside = [*table.entries, *(e.name for e in s.externals.values())]
        front, back = in_strips(s, front, back, outside, seeds) or (front, back)
    if request.backend == "numpy" and passes.on("without_names"):
        without_names(s, front, back)
    if request.backend == "numpy" and passes.on("add_plainly"):
        add_plainly(s, back)
    if request.backend == "numpy" and request.capture is None and passes.on("ask_for_ties"):
        ask_for_ties(s, back)
    if request.backend == "numpy" and request.capture is None and passes.on("select_quickly"):
        select_quickly(s, back)
    if passes.on("chain"):
        chain([*front, *back])
    if passes.on("opposites"):
        opposites(s, front)
        opposites(s, back)
    if request.backend == "numpy" and not request.split and passes.on("read_last"):
        read_last([*front, *back])
    if request.backend == "numpy" and passes.on("count_up"):
        count_up(s, [*front, *back])
    if request.backend == "numpy" and passes.on("compute_into"):
        compute_into(s, front, back)
    if request.backend == "numpy" and passes.on("execute_unread"):
        execute_unread(s, front, back, passes.on("shape_checks") and request.capture is None)
    return front, back, lists


def on_floats(s: Specialiser, request: Request, program: ir.Block) -> bool:
    """Let loops compute with Python floats where that is as good, and tell whether any does."""
    functions = passes.on("of_numbers") and of_numbers(s, program, runs_alone(request))
    lists = passes.on("items") and on_lists(s, program)
    if lists and passes.on("save_lists"):
        save_lists(s, program)
    if lists and passes.on("carry_lists") and carry_lists(s, program, program):
        on_lists(s, program)  # with these, what is around the loops may gain
    if lists and passes.on("keep_lists"):
        keep_lists(s, program)
    if (functions or lists) and passes.on("plain_floats"):
        plain_floats(s, program)
    return functions or lists


def runs_alone(request: Request) -> bool:
    """Whether nothing but gradients leaves a program: its value is not asked for, nor is it differentiated again."""
    plain = request.backend == "numpy" and request.capture is None
    return plain and not (request.split or request.value or request.seeded or request.has_aux)


def polished(
    s: Specialiser, where: Regions, outside: list[str], program: ir.Block, early: set[int], request: Request
) -> tuple[ir.Block, ir.Block]:
    """Both sweeps as one would write them: what is in `early`, and the rest; `outside` are the arguments."""
    undecided = not any(decides(stmt) for stmt in ir.walk(program))
    front, back = in_place(s, where, program, early, request)
    buffers = request.backend == "numpy"  # where memory costs time
    reordered = buffers and runs_alone(request) and all(is_plain(stmt) for stmt in ir.walk(front))
    if buffers and passes.on("small_powers"):
        small_powers(s, [*(ir.walk(front) if reordered and undecided else ()), *ir.adjoint_walk(back)])
    if not request.split:
        as_one_function(s, where, outside, front, back, buffers and request.capture is None)
    if buffers and not request.split and passes.on("compute_there"):
        compute_there(s, front, back)
    if passes.on("counts"):
        write_counts(s, [*front, *back])
    reuse(s, [*front, *back])  # once every statement has its place
    return as_expressions(s, where, front, back, request, reordered)


def in_place(
    s: Specialiser, where: Regions, program: ir.Block, early: set[int], request: Request
) -> tuple[ir.Block, ir.Block]:
    """Both sweeps, each statement of the reverse sweep where it is best computed."""
    buffers = request.backend == "numpy"
    front = [stmt for stmt in program if id(stmt) in early]
    back = [stmt for stmt in program if id(stmt) not in early]
    if passes.on("call_once"):
        call_once(s, front, back)
    if buffers and passes.on("read_merged"):
        read_merged(s, back)
    if buffers and passes.on("share_inverses"):
        share_inverses(s, back)
    if buffers and request.capture is None and passes.on("factor_cotangents"):
        factor_cotangents(s, back)
    if buffers and passes.on("one_selection"):
        one_selection(s, program, back)
    if buffers and passes.on("full_first"):
        full_first(s, back)
    if buffers and passes.on("gather_products"):
        gather_products(s, back)
    if buffers and request.capture is None and not request.split and passes.on("gather_parts"):
        gather_parts(s, back)
    if buffers and passes.on("rank_one"):
        rank_one(s, back)
    if passes.on("where_taken"):
        reverse_where_taken(s, program, back)
    if passes.on("sink"):
        sink(s, back)
    if passes.on("zero_last"):
        zero_last(s, back)
    without_synonyms(s, back)
    if buffers and passes.on("put_at_once"):
        put_at_once(s, back)
    if passes.on("drop_dead_stores"):
        drop_dead_stores(s, back)
    if passes.on("leave_taken"):
        leave_taken(s, [*front, *back], back)
    program = [*front, *back]
    if passes.on("collect_parts"):
        collect_parts(s, program)
    if passes.on("inline_lengths"):
        program = inline_lengths(s, where, program, not request.split)
    if buffers and passes.on("defer"):
        defer(s, program, early)
    return [stmt for stmt in program if id(stmt) in early], [stmt for stmt in program if id(stmt) not in early]


def as_expressions(
    s: Specialiser, where: Regions, front: ir.Block, back: ir.Block, request: Request, reordered: bool
) -> tuple[ir.Block, ir.Block]:
    """Both sweeps with temporaries nested into expressions, and what that brings together spelt as one would.

    `reordered` says that the last digits of what the forward sweep computes do not matter.
    """
    buffers = request.backend == "numpy"
    nesting = Nesting(s, where, [*front, *back], 0)
    front = nesting.block(front)
    nesting.limit = thresholds.OPERATIONS_NESTED
    back = nesting.block(back)
    if passes.on("spell"):
        spell(s, back)
    if buffers and passes.on("with_methods"):
        with_methods(s, front)
    if buffers and passes.on("summed_products"):
        summed_products(s, back)
    if buffers and passes.on("contract"):
        contract(s, back)
        if reordered:
            contract_forward(s, front)
    if buffers and passes.on("tensor_products"):
        tensor_products(s, back)
    if reordered and passes.on("variances"):
        variances(s, where, front)
    if buffers:
        back = in_buffers(s, where, front, back, request.capture is None, reordered)
    if buffers and passes.on("pair_products"):
        pair_products(s, front if reordered else [], back)
    if buffers and not request.split and passes.on("save_shapes"):
        save_shapes(s, front, back)
    fold_bounds([*front, *back])
    return front, back


def in_buffers(
    s: Specialiser, where: Regions, front: ir.Block, back: ir.Block, alone: bool, reordered: bool
) -> ir.Block:
    """The reverse sweep with fewer passes over memory; fused loops of native programs have none of these buffers.

    `alone` says that it is not differentiated again, for which values are better than memory; `reordered` as above.
    """
    if passes.on("touch_first"):
        touch_first(s, [*front, *back], back)
        back = Nesting(s, where, [*front, *back], thresholds.OPERATIONS_NESTED).block(back)
    if passes.on("list_parts"):
        list_parts(s, back)
    if passes.on("sum_lists"):
        sum_lists(s, back)
    if passes.on("assign_items"):
        assign_items(s, [*front, *back], back)
    if passes.on("add_at_once"):
        add_at_once(s, back)
    if passes.on("absorb_signs"):
        absorb_signs(s, front, back)
        if passes.on("sink"):
            sink(s, back)  # what read the negatives reads less
    if passes.on("turn_differences"):
        turn_differences(s, back)
    if passes.on("overwrite"):
        overwrite(s, [*front, *back], back, alone)
    if alone:
        overwrite_own(s, [*front, *back], front, reordered)
    return back


def as_one_function(
    s: Specialiser, where: Regions, outside: list[str], front: ir.Block, back: ir.Block, tuples: bool
) -> None:
    """Use that one sweep sees what the other has, in place; `tuples` where lists may hold them, or be rows.

    They hide what shares memory, so a program that is differentiated again has none.
    """
    if passes.on("one_path"):
        one_path(s, [*front, *back])
    if passes.on("join_branches"):
        join_branches(s, where, front, back)
    if passes.on("repeat"):
        repeat(s, where, front, back)
    if tuples and passes.on("in_rows"):
        plan_rows(s, outside, front, back)
    if tuples and passes.on("save_together"):
        count_saved(s, front, back)
        drop_unread_lists(s, front, back)


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
    return Emitted(
        text, loaded, externals, s.guards, dict(s.globals), table.written, table.changed, table.rebound, table.ordered,
        wrap_spec(s, result) if tensors else None, tensors, count, seed_spec(s, differentiated(request, result)),
        s.effects, parts, s.world, s.level, outside=table.outside, published=table.published,
        singular=s.singular, spectral=s.spectral,
    )  # fmt: skip


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
    """What the emitted function reads from outside; the kind of everything else that was looked at is guarded."""
    read = {n for stmt in program for n in ir.reads_inside(stmt)}
    result = []
    for external in s.externals.values():
        if external.name in read or any(external.key is w for w in request.weights):
            result.append(external)
        else:
            s.guards.append(KindGuard(external.read))
    return result


def default_seed(request: Request, seeds: dict[str, str]) -> bool:
    return not request.seeded and not any(name.startswith("t_") for name in seeds.values())


def function(name: str, arguments: dict[str, str], seeds: dict[str, str], body: list[Any], default: bool) -> Any:
    parameters = [gast.Name(text, gast.Param(), None, None) for text in arguments.values()]
    defaults = [ir.constant(1.0)] * len(seeds) if default else []
    spec = gast.arguments(parameters, [], None, [], [], None, defaults)
    return gast.FunctionDef(name, spec, body, [], None, None, [])
