"""The order in which the passes run, phase by phase: `PIPELINE`.

Between phases, `pipeline` differentiates and records, and `assemble` names variables and prints.  A pass without a
function runs inside the step that its phase leads up to, or a pass of another name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...core import thresholds
from .. import ir
from ..ad.tape.dead_restores import read_copies
from ..ad.tape.packing import count_saved, drop_unread_lists, save_together
from ..ad.tape.raising_only import raised_again
from ..ad.tape.required_values import carry_back
from ..ad.tape.rows import plan_rows, write_rows
from ..ad.tape.saved_shapes import save_shapes
from ..ad.tape.shape_uses import stand_in
from ..analysis.alias import regions_of_program
from ..analysis.liveness import count_uses
from ..codegen.emit import annotate
from ..codegen.idioms.augmented_assignments import augment
from ..codegen.idioms.branch_heads import say_once
from ..codegen.idioms.breaks import leave_at_once
from ..codegen.idioms.chained_assignments import assign_together
from ..codegen.idioms.comprehensions import comprehend
from ..codegen.idioms.conditional_expressions import choose
from ..codegen.idioms.inline_next import read_next
from ..codegen.idioms.iteration import iterate
from ..codegen.idioms.negated_tests import opposites
from ..codegen.idioms.returned_sums import last_sums
from ..codegen.idioms.returns import return_at_once
from ..codegen.idioms.reversed_loops import go_back
from ..codegen.idioms.tuple_assignments import side_by_side, stores_together
from ..codegen.idioms.unpacking import rearrange
from ..codegen.loop_exit_values import read_last
from ..domain import pass_registry
from ..ir.builder import Specialiser
from ..opt.loops.batch_blas import gather_products
from ..opt.loops.batch_columns import gather_parts
from ..opt.loops.sroa import separate_items
from ..opt.loops.strip_mining import in_strips
from ..opt.loops.unboxing.casts import plain_floats
from ..opt.loops.unboxing.driver import on_lists
from ..opt.loops.unboxing.scalars import of_numbers
from ..opt.memory.accumulation.first_touch import touch_first
from ..opt.memory.accumulation.full_first import full_first
from ..opt.memory.accumulation.item_assignments import assign_items
from ..opt.memory.accumulation.list_parts import list_parts
from ..opt.memory.accumulation.list_sums import sum_lists
from ..opt.memory.accumulation.lists import begin_lists
from ..opt.memory.accumulation.loop_copy_elision import take_over
from ..opt.memory.accumulation.peephole import improve, without_synonyms
from ..opt.memory.cotangent_reuse import overwrite
from ..opt.memory.dse import drop_dead_stores
from ..opt.memory.loop_dse import leave_taken
from ..opt.memory.primal_reuse import overwrite_own, reuse
from ..opt.rewrite.batched_matmul import pair_products
from ..opt.rewrite.canonicalize import spell
from ..opt.rewrite.cholesky import factor_cotangents
from ..opt.rewrite.contractions import contract, contract_forward
from ..opt.rewrite.inverses import is_plain, share_inverses, solve_with_inverses
from ..opt.rewrite.outer_products import rank_one
from ..opt.rewrite.powers import decides, small_powers, squares_of_numbers
from ..opt.rewrite.product_reuse import with_known_products
from ..opt.rewrite.runtime_select import select_quickly
from ..opt.rewrite.scatter_add import add_plainly
from ..opt.rewrite.signs import absorb_signs
from ..opt.rewrite.softmax import as_softmax
from ..opt.rewrite.structured_matmul import with_thin_factors
from ..opt.rewrite.summed_products import summed_products
from ..opt.rewrite.tensor_products import tensor_products
from ..opt.rewrite.ties import ask_for_ties
from ..opt.rewrite.ufunc_methods import with_methods
from ..opt.scalar.affine_counters import name_counts, write_counts
from ..opt.scalar.branch_fusion import join_branches
from ..opt.scalar.branch_sinking import reverse_where_taken
from ..opt.scalar.copy_propagation import read_merged
from ..opt.scalar.cse import once, with_known_values
from ..opt.scalar.dce import drop_unread, execute_unread
from ..opt.scalar.effect_substitution import without_names
from ..opt.scalar.forward_substitution import Nesting
from ..opt.scalar.licm import reverse_once
from ..opt.scalar.loop_bounds import count_up, fold_bounds, inline_lengths
from ..opt.scalar.number_substitution import compute_there
from ..opt.scalar.rematerialization import repeat
from ..opt.scalar.sinking import sink
from ..opt.scalar.store_sinking import zero_last
from .pass_manager import NUMBA, NUMPY, Pass, Phase, Precision, Program, asks_for_gradients


def on_short_arrays(p: Program) -> None:
    """Run `separate_items`, after which other memory belongs together."""
    p.s.relies = separate_items(p.s, p.where, p.forward, p.s.leaves(p.value))
    p.where = regions_of_program(p.s, p.forward) if p.s.relies else p.where


def with_reversed_once(p: Program) -> None:
    """Run `reverse_once`, which may rely on being able to run the program again."""
    p.s.relies = reverse_once(p.s, p.where, p.forward, p.s.active, p.may_run_again) or p.s.relies


def with_inverses(p: Program) -> None:
    """Run the half of `share_inverses` that solves the systems of both sweeps by the inverses of the reverse sweep."""
    solve_with_inverses(p.s, p.where, p.forward, p.reverse)


def look_at_values(p: Program) -> None:
    """Note whether the forward sweep may change in its last digits, and whether it decides nothing."""
    p.undecided = not any(decides(stmt) for stmt in ir.walk(p.both))
    p.inexact = asks_for_gradients(p.request) and all(is_plain(stmt) for stmt in ir.walk(p.forward))
    p.reordered = p.only_gradients and p.inexact


def with_lengths(p: Program) -> None:
    """Run `inline_lengths` on both sweeps as one."""
    p.split(inline_lengths(p.s, p.where, p.both, not p.request.split))


def with_small_powers(p: Program) -> None:
    """Run `small_powers`, on the forward sweep only where no bit of it matters: inside another program as alone."""
    forward = ir.walk(p.forward) if p.inexact and p.undecided else ()
    small_powers(p.s, [*forward, *ir.adjoint_walk(p.reverse)])


def with_saved_counted(p: Program) -> None:
    """Look for what `save_together` may save together, once rows are planned."""
    count_saved(p.s, p.forward, p.reverse)
    drop_unread_lists(p.s, p.forward, p.reverse)


def nest(p: Program) -> None:
    """Put temporaries back into expressions, those of the forward sweep as the user wrote them."""
    nesting = Nesting(p.s, p.where, p.both, 0)
    p.forward = nesting.block(p.forward)
    nesting.limit = thresholds.OPERATIONS_NESTED
    p.reverse = nesting.block(p.reverse)


def with_contractions(p: Program) -> None:
    """Run `contract`, on the forward sweep only where its last digits do not matter."""
    contract(p.s, p.reverse)
    if p.reordered:
        contract_forward(p.s, p.forward)


def with_first_touch(p: Program) -> None:
    """Run `touch_first`, and nest what that leaves."""
    touch_first(p.s, p.both, p.reverse)
    p.reverse = Nesting(p.s, p.where, p.both, thresholds.OPERATIONS_NESTED).block(p.reverse)


def fix_values(p: Program) -> None:
    """Note which variables somebody sees, so that every bit of them stays."""
    if not p.only_gradients:
        p.s.exact = {*ir.defined(p.forward), *p.outside}


def on_both(change: Callable[[Specialiser, ir.Block], object], p: Program) -> None:
    """Run a pass on both sweeps as one, and make the sweeps of what it leaves if loops compute on floats."""
    program, first = p.both, p.reverse[0] if p.reverse else None
    p.floats = bool(change(p.s, program)) or p.floats
    p.s.relies = p.s.relies or p.floats
    place = len(program) if first is None else program.index(first)
    p.forward, p.reverse = program[:place], program[place:]


def on_floats(change: Callable[[Specialiser, ir.Block], object], p: Program) -> None:
    """Run a pass on both sweeps as one if loops compute on floats."""
    if p.floats:
        on_both(change, p)


def with_strips(p: Program) -> None:
    """Run `in_strips` if the program allows it."""
    p.forward, p.reverse = in_strips(p.s, p.forward, p.reverse, p.outside, list(p.seeds)) or (p.forward, p.reverse)


def with_unread_executed(p: Program) -> None:
    """Run `execute_unread`, with `shape_checks` inside."""
    checks = pass_registry.on("shape_checks") and p.request.capture is None
    execute_unread(p.s, p.forward, p.reverse, checks)


def on_each(change: Callable[[Specialiser, ir.Block], object], p: Program) -> None:
    """Run a pass on each of the sweeps."""
    change(p.s, p.forward)
    change(p.s, p.reverse)


def joined_names(p: Program) -> None:
    """Drop what is another name for the same value."""
    without_synonyms(p.s, p.reverse)


def on_texts(change: Callable[[list[Any]], object], p: Program) -> None:
    """Run a pass on the statements of each of the sweeps."""
    change(p.body)
    change(p.tail)


def with_branches_once(p: Program) -> None:
    """Run `say_once`, in the forward sweep without what may raise."""
    say_once(p.body, True)
    say_once(p.tail, False)


def read_both_next(p: Program) -> None:
    """Run `read_next` on the statements of each of the sweeps."""
    read_next(p.body, False)
    read_next(p.tail, True)


def with_reversed(p: Program) -> None:
    """Run `go_back` unless the program has something else under the name that it needs."""
    if "reversed" not in p.s.globals:
        go_back(p.body, p.tail)


def with_lines_shared(p: Program) -> None:
    """Run `side_by_side`, then put stores on one line."""
    p.body, p.tail = side_by_side(p.body), side_by_side(p.tail)
    on_texts(stores_together, p)


LAST_DIGITS = Precision.LAST_DIGITS
# Where the program is differentiated again, its values are worth more than memory.
outermost = partial(Pass, targets=NUMPY, nested=False)

PRIMAL = Phase(
    "primal",
    "the program itself, before it is differentiated",
    (
        Pass("stay_calls"),
        Pass("separate_items", on_short_arrays, segments=False, repeats=True),
        Pass("once", lambda p: once(p.s, p.where, p.forward, p.s.leaves(p.value))),
    ),
)
ACTIVE = Phase(
    "active",
    "the program, once it is known which variables carry a derivative",
    (
        Pass("cancel_shifts"),
        Pass("reverse_once", with_reversed_once, NUMPY, needs=ir.Loop),
        Pass("as_square"),
    ),
)
OPERATIONS = Phase(
    "operations",
    "the reverse sweep, while every statement is one operation",
    (
        Pass("share_inverses", with_inverses, precision=LAST_DIGITS),
        Pass("as_softmax", lambda p: as_softmax(p.s, p.where, p.forward, p.reverse)),
        Pass("thin_factors", lambda p: with_thin_factors(p.s, p.reverse), NUMPY),
        Pass(
            "known_values",
            lambda p: with_known_values(p.s, p.where, p.forward, p.reverse, p.final),
            NUMPY,
            joint=True,
        ),
        Pass("known_products", lambda p: with_known_products(p.s, p.where, p.forward, p.reverse)),
        Pass("stand_in", lambda p: stand_in(p.s, p.forward, p.reverse, not p.request.split)),
    ),
)
CONTRIBUTIONS = Phase(
    "contributions",
    "what is added to cotangents, before it is known what is saved: nothing is saved for what is dropped here",
    (
        Pass("read_copies", lambda p: read_copies(p.derivative, p.reverse, p.final), segments=False),
        Pass("take_over", lambda p: take_over(p.s, p.reverse, p.final), segments=False, needs=ir.Loop),
        Pass("improve", lambda p: improve(p.s, p.reverse, frozenset(ir.reads(p.final)))),
        Pass("begin_lists", lambda p: begin_lists(p.s, p.reverse, p.final)),
        Pass("carry_back", lambda p: carry_back(p.s, p.where, p.reverse), needs=ir.Loop),
        Pass("save_math", targets=NUMBA),
        Pass("read_again"),
        Pass("read_once"),
        Pass("common_sources"),
        Pass("pass_again"),
    ),
)
RECORDED = Phase(
    "recorded",
    "both sweeps with what is saved between them",
    (Pass("raised_again", lambda p: p.strict.difference_update(raised_again(p.forward, p.reverse)), joint=True),),
)
MEMORY = Phase(
    "memory",
    "each statement of the reverse sweep where it is best computed, and its memory",
    (
        Pass("look_at_values", look_at_values, required="whether digits of the forward sweep matter is noted"),
        Pass("read_merged", lambda p: read_merged(p.s, p.reverse), NUMPY, needs=ir.If),
        Pass("share_inverses", lambda p: share_inverses(p.s, p.reverse), NUMPY),
        outermost("factor_cotangents", lambda p: factor_cotangents(p.s, p.reverse)),
        Pass("full_first", lambda p: full_first(p.s, p.reverse), NUMPY),
        Pass("gather_products", lambda p: gather_products(p.s, p.reverse), NUMPY, needs=ir.Loop),
        outermost("gather_parts", lambda p: gather_parts(p.s, p.reverse), joint=True, needs=ir.Loop),
        Pass("rank_one", lambda p: rank_one(p.s, p.reverse), NUMPY),
        Pass("where_taken", lambda p: reverse_where_taken(p.s, p.both, p.reverse), needs=ir.If),
        Pass("sink", lambda p: sink(p.s, p.reverse)),
        Pass("zero_last", lambda p: zero_last(p.s, p.reverse)),
        Pass("joined_names", joined_names, required="a copy of a variable is the variable"),
        Pass("drop_dead_stores", lambda p: drop_dead_stores(p.s, p.reverse)),
        Pass("leave_taken", lambda p: leave_taken(p.s, p.both, p.reverse)),
        Pass("inline_lengths", with_lengths),
    ),
)
SWEEPS = Phase(
    "sweeps",
    "what one sweep may use of the other, each statement at its place",
    (
        Pass("small_powers", with_small_powers, NUMPY),
        Pass("join_branches", lambda p: join_branches(p.s, p.where, p.forward, p.reverse), joint=True),
        Pass("repeat", lambda p: repeat(p.s, p.where, p.forward, p.reverse), joint=True),
        outermost("in_rows", lambda p: plan_rows(p.s, p.outside, p.forward, p.reverse), joint=True, needs=ir.Loop),
        outermost("save_together", with_saved_counted, joint=True),
        Pass("compute_there", lambda p: compute_there(p.s, p.forward, p.reverse), NUMPY, joint=True),
        Pass("counts", lambda p: write_counts(p.s, p.both)),
        Pass("reuse", lambda p: reuse(p.s, p.both), required="augmented assignments that may work in place are marked"),
    ),
)
EXPRESSIONS = Phase(
    "expressions",
    "temporaries nested into expressions, spelt as one would, over few passes of memory",
    (
        Pass("nest", nest, required="temporaries are put back into expressions"),
        Pass("spell", lambda p: spell(p.s, p.reverse)),
        Pass("with_methods", lambda p: with_methods(p.s, p.forward), NUMPY, needs=ir.Loop),
        Pass("summed_products", lambda p: summed_products(p.s, p.reverse), NUMPY),
        Pass("contract", with_contractions, NUMPY),
        Pass("tensor_products", lambda p: tensor_products(p.s, p.reverse), NUMPY),
        Pass("touch_first", with_first_touch, NUMPY),
        Pass("list_parts", lambda p: list_parts(p.s, p.reverse), NUMPY),
        Pass("sum_lists", lambda p: sum_lists(p.s, p.reverse), NUMPY),
        Pass("assign_items", lambda p: assign_items(p.s, p.both, p.reverse), NUMPY),
        Pass("absorb_signs", lambda p: absorb_signs(p.s, p.forward, p.reverse), NUMPY),
        Pass("sink", lambda p: sink(p.s, p.reverse), NUMPY),
        Pass("overwrite", lambda p: overwrite(p.s, p.both, p.reverse, p.request.capture is None), NUMPY),
        outermost(
            "overwrite_own",
            lambda p: overwrite_own(p.s, p.both, p.forward, p.reordered),
            required=pass_registry.PASSES["overwrite_own"],
        ),
        Pass("pair_products", lambda p: pair_products(p.s, p.forward if p.reordered else [], p.reverse), NUMPY),
        Pass("save_shapes", lambda p: save_shapes(p.s, p.forward, p.reverse), NUMPY, joint=True),
        Pass("fold_bounds", lambda p: fold_bounds(p.both), required="numbers in the bounds of loops are added up"),
        Pass("fix_values", fix_values, required="what somebody sees to the last bit is noted"),
    ),
)
FLOATS = Phase(
    "floats",
    "loops that compute with Python's floats where that is as good",
    (
        Pass("of_numbers", lambda p: on_both(partial(of_numbers, alone=p.only_gradients), p), repeats=True),
        Pass("items", partial(on_both, on_lists), repeats=True),
        Pass("plain_floats", partial(on_floats, plain_floats), repeats=True),
    ),
)
STATEMENTS = Phase(
    "statements",
    "loops and statements as they are written by hand",
    (
        Pass("small_powers", lambda p: squares_of_numbers(p.s, p.reverse), NUMPY),
        Pass(
            "write_rows", lambda p: write_rows(p.s, p.forward, p.reverse), required="planned rows are filled and read"
        ),
        outermost("save_together", lambda p: save_together(p.s, p.forward, p.reverse), joint=True),
        Pass("rearrange", lambda p: rearrange(p.s, p.forward, p.reverse), NUMPY),
        Pass("counts", lambda p: name_counts(p.s, p.reverse)),
        Pass("iterate", lambda p: iterate(p.s, p.forward, p.reverse), NUMPY, needs=ir.Loop),
        Pass("drop_unread", lambda p: drop_unread(p.s, p.forward, p.reverse), joint=True),
        Pass("in_strips", with_strips, precision=LAST_DIGITS),
        Pass("without_names", lambda p: without_names(p.s, p.forward, p.reverse), NUMPY),
        Pass("add_plainly", lambda p: add_plainly(p.s, p.reverse), NUMPY),
        outermost("ask_for_ties", lambda p: ask_for_ties(p.s, p.reverse)),
        outermost("select_quickly", lambda p: select_quickly(p.s, p.reverse)),
        Pass("opposites", partial(on_each, opposites), lowers=True),
        Pass("read_last", lambda p: read_last(p.both), NUMPY, joint=True, needs=ir.Loop, lowers=True),
        Pass("count_up", lambda p: count_up(p.s, p.both), NUMPY, needs=ir.Loop),
        Pass("execute_unread", with_unread_executed, NUMPY),
        Pass("shape_checks"),
    ),
)
PRINTING = Phase(
    "printing",
    "what is known of both sweeps where they are printed",
    (
        Pass("return_at_once", lambda p: setattr(p.emitter, "last_sums", last_sums(p.s, p.reverse)), NUMPY),
        Pass("read_next", lambda p: p.emitter.note_uses(p.both, count_uses(p.both))),
    ),
)
PYTHON = Phase(
    "python",
    "the statements of the emitted function as one would phrase them",
    (
        Pass("leave_at_once", lambda p: leave_at_once(p.body, p.tail), joint=True),
        Pass("say_once", with_branches_once),
        Pass("choose", partial(on_texts, choose)),
        Pass("read_next", read_both_next),
        Pass("comprehend", lambda p: comprehend(p.body, p.tail), joint=True),
        Pass("read_next", read_both_next),
        Pass("go_back", with_reversed, joint=True),
        Pass("return_at_once", lambda p: return_at_once(p.tail)),
        Pass("annotate", lambda p: annotate(p.tail), required="comments name the lines that are reversed"),
        Pass("assign_together", partial(on_texts, assign_together)),
        Pass("side_by_side", with_lines_shared),
        Pass("read_next", lambda p: read_next(p.tail, True)),  # what is stored beside something is computed before that
        Pass(
            "augment", lambda p: augment(p.tail), required="numbers are updated by augmented assignments", nested=False
        ),
    ),
)
PIPELINE = (
    PRIMAL,
    ACTIVE,
    OPERATIONS,
    CONTRIBUTIONS,
    RECORDED,
    MEMORY,
    SWEEPS,
    EXPRESSIONS,
    FLOATS,
    STATEMENTS,
    PRINTING,
    PYTHON,
)
NAMES = tuple(dict.fromkeys(each.name for phase in PIPELINE for each in phase.passes))
