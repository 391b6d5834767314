"""The order in which the passes run, phase by phase: `PIPELINE`.

Between phases, `pipeline` differentiates and records, and `assemble` names variables and prints.  A pass without a
function runs inside the step that its phase leads up to, or a pass of another name.
"""

from __future__ import annotations

from functools import partial

from .. import ir
from ..ad.tape.packing import pack_saves
from ..ad.tape.recompute import compare_before, dedupe_carried_saves
from ..ad.tape.required_restores import eliminate_dead_restores
from ..ad.tape.rows import plan_rows, write_rows
from ..ad.tape.shape_uses import forward_shapes, save_shapes
from ..analysis.liveness import count_uses
from ..codegen.emit import annotate
from ..codegen.idioms.assignments import augment
from ..codegen.idioms.conditions import negate_tests, recover_breaks, recover_conditionals
from ..codegen.idioms.inline_next import inline_next
from ..codegen.idioms.iteration import recover_comprehensions, recover_iteration
from ..codegen.idioms.unpacking import forward_returns, last_sums, recover_unpacking
from ..codegen.out_of_ssa import read_exit_values
from ..opt.loops.batch_blas import batch_rank1_updates
from ..opt.loops.batch_columns import batch_column_updates
from ..opt.loops.unboxing.driver import unbox_arrays
from ..opt.loops.unboxing.scalars import drop_casts, scalar_math, use_methods
from ..opt.loops.vectorise import vectorise
from ..opt.memory.accumulation.first_touch import assign_items
from ..opt.memory.accumulation.lists import assign_list_items, elide_list_zeros, split_stacked
from ..opt.memory.accumulation.loop_copy_elision import elide_loop_copies
from ..opt.memory.accumulation.peephole import elide_copies, order_full_first
from ..opt.memory.dse import eliminate_dead_stores, eliminate_loop_stores
from ..opt.memory.faint_stores import drop_faint_stores
from ..opt.memory.primal_reuse import mark_reuse, reuse_cotangents, reuse_primals
from ..opt.rewrite.batched_matmul import batch_matmuls, summed_products
from ..opt.rewrite.canonicalize import canonicalize
from ..opt.rewrite.inverses import cholesky_vjp, reuse_inverses
from ..opt.rewrite.outer_products import batch_outer_products
from ..opt.rewrite.product_reuse import reuse_products, softmax_vjp
from ..opt.rewrite.runtime_select import scatter_add, select_at_runtime
from ..opt.rewrite.signs import propagate_negations, reduce_squares
from ..opt.rewrite.tensor_products import tensor_products
from ..opt.scalar.branch_fusion import fuse_branches
from ..opt.scalar.cse import number_across_sweeps, number_values, propagate_merges
from ..opt.scalar.dce import eliminate_dead_code, raising_only
from ..opt.scalar.effect_substitution import substitute_into_effects, substitute_numbers
from ..opt.scalar.loop_bounds import fold_bounds, name_counters, normalize_direction, rematerialize_counters
from ..opt.scalar.rematerialization import rematerialize
from ..opt.scalar.sinking import sink, sink_into_branches, sink_stores
from .pass_manager import (
    NUMPY,
    Pass,
    Phase,
    Precision,
    fix_values,
    joined_names,
    look_at_values,
    nest,
    on_both,
    on_each,
    on_floats,
    on_texts,
    read_both_next,
    with_aggregates_replaced,
    with_branches_once,
    with_chains,
    with_contractions,
    with_dead_results_unnamed,
    with_first_touch,
    with_invariants_hoisted,
    with_inverses,
    with_lengths,
    with_lines_shared,
    with_reversed,
    with_saved_counted,
    with_small_powers,
    with_strips,
)

LAST_DIGITS = Precision.LAST_DIGITS
# Where the program is differentiated again, its values are worth more than memory.
outermost = partial(Pass, targets=NUMPY, nested=False)

PRIMAL = Phase(
    "primal",
    "the program itself, before it is differentiated",
    (
        Pass("sroa", with_aggregates_replaced, segments=False, repeats=True),
        Pass(
            "gvn",
            lambda p: number_values(p.s, p.where, p.forward, p.s.leaves(p.value)),
            does="in the program: what it computes twice of the same values",
        ),
    ),
)
ACTIVE = Phase(
    "active",
    "the program, once it is known which variables carry a derivative",
    (
        Pass("shift_invariance"),
        Pass("licm", with_invariants_hoisted, NUMPY, needs=ir.Loop),
        Pass("repeated_operands"),
    ),
)
OPERATIONS = Phase(
    "operations",
    "the reverse sweep, while every statement is one operation",
    (
        Pass("reuse_inverses", with_inverses, precision=LAST_DIGITS),
        Pass("softmax_vjp", lambda p: softmax_vjp(p.s, p.where, p.forward, p.reverse)),
        Pass(
            "gvn",
            lambda p: number_across_sweeps(p.s, p.where, p.forward, p.reverse, p.final),
            NUMPY,
            joint=True,
            does="across the sweeps: what the forward sweep has computed",
        ),
        Pass("reuse_products", lambda p: reuse_products(p.s, p.where, p.forward, p.reverse)),
        Pass(
            "shape_uses",
            lambda p: forward_shapes(p.s, p.forward, p.reverse, not p.request.split),
            does="another value of that shape is read",
        ),
    ),
)
CONTRIBUTIONS = Phase(
    "contributions",
    "what is added to cotangents, before it is known what is saved: nothing is saved for what is dropped here",
    (
        Pass(
            "dse",
            lambda p: eliminate_dead_restores(p.derivative, p.reverse, p.final),
            segments=False,
            does="arrays that are read where they were saved are not restored",
        ),
        Pass(
            "lower_accumulation",
            lambda p: elide_loop_copies(p.s, p.reverse, p.final),
            segments=False,
            needs=ir.Loop,
            does="the cotangent of a copy is carried on in place",
        ),
        Pass(
            "lower_accumulation",
            lambda p: elide_copies(p.s, p.reverse, frozenset(ir.reads(p.final))),
            does="a first contribution is an assignment, a copy that nothing changes is none",
        ),
        Pass(
            "lower_accumulation",
            lambda p: elide_list_zeros(p.s, p.reverse, p.final),
            does="the cotangent of a list is the first list of cotangents that it is given",
        ),
        outermost(
            "plan_tape",
            lambda p: compare_before(p.s, p.where, p.reverse, p.final),
            segments=False,
            needs=ir.Loop,
            does="of what a step only compares, truth values are saved",
        ),
        Pass(
            "plan_tape",
            lambda p: dedupe_carried_saves(p.s, p.where, p.reverse),
            needs=ir.Loop,
            does="of what a step leaves and the next one begins with, one is saved",
        ),
        Pass("plan_tape", does="of the rest, what costs less to read or to compute again is not saved"),
    ),
)
RECORDED = Phase(
    "recorded",
    "both sweeps with what is saved between them",
    (
        Pass(
            "dce",
            lambda p: p.strict.difference_update(raising_only(p.forward, p.reverse)),
            joint=True,
            does="what the reverse sweep computes again is not computed before only to raise",
        ),
    ),
)
MEMORY = Phase(
    "memory",
    "each statement of the reverse sweep where it is best computed, and its memory",
    (
        Pass("observed_values", look_at_values, required="whether digits of the forward sweep matter is noted"),
        Pass("copy_propagation", lambda p: propagate_merges(p.s, p.reverse), NUMPY, needs=ir.If),
        Pass("reuse_inverses", lambda p: reuse_inverses(p.s, p.reverse), NUMPY),
        outermost("cholesky_vjp", lambda p: cholesky_vjp(p.s, p.reverse)),
        Pass(
            "lower_accumulation",
            lambda p: order_full_first(p.s, p.reverse),
            NUMPY,
            does="the contribution that covers all of a cotangent comes first",
        ),
        Pass(
            "batch_rank1_updates",
            lambda p: batch_rank1_updates(p.s, p.reverse),
            NUMPY,
            needs=ir.Loop,
            does="those that a loop adds to a matrix",
        ),
        outermost(
            "batch_rank1_updates",
            lambda p: batch_column_updates(p.s, p.reverse),
            joint=True,
            needs=ir.Loop,
            does="those that a loop adds to parts of a matrix",
        ),
        Pass("batch_rank1_updates", lambda p: batch_outer_products(p.s, p.reverse), NUMPY, does="those of one block"),
        Pass("sink_into_branches", lambda p: sink_into_branches(p.s, p.both, p.reverse), needs=ir.If),
        Pass("sink", lambda p: sink(p.s, p.reverse)),
        Pass(
            "sink",
            lambda p: sink_stores(p.s, p.reverse),
            does="a part of a cotangent is cleared after the use of what was in it",
        ),
        Pass("copy_propagation", joined_names, required="a copy of a variable is the variable"),
        Pass(
            "dse",
            lambda p: eliminate_dead_stores(p.s, p.reverse),
            does="cotangents that nothing reads again are not cleared",
        ),
        Pass(
            "dse",
            lambda p: eliminate_loop_stores(p.s, p.both, p.reverse),
            does="items of cotangents that no later step reads are not cleared",
        ),
        outermost(
            "batch_rank1_updates",
            lambda p: vectorise(p.s, p.reverse),
            joint=True,
            needs=ir.Loop,
            does="those of steps that do not depend on each other",
        ),
        Pass("rematerialize", with_lengths, does="lengths"),
    ),
)
SWEEPS = Phase(
    "sweeps",
    "what one sweep may use of the other, each statement at its place",
    (
        Pass("strength_reduction", with_small_powers, NUMPY),
        Pass("fuse_branches", lambda p: fuse_branches(p.s, p.where, p.forward, p.reverse), joint=True),
        Pass(
            "rematerialize",
            lambda p: rematerialize(p.s, p.where, p.forward, p.reverse),
            joint=True,
            does="parts of arrays, short sums and tests of branches",
        ),
        outermost("tape_rows", lambda p: plan_rows(p.s, p.outside, p.forward, p.reverse), joint=True, needs=ir.Loop),
        outermost("tape_tuples", with_saved_counted, joint=True),
        Pass(
            "forward_substitute",
            lambda p: substitute_numbers(p.s, p.forward, p.reverse),
            NUMPY,
            joint=True,
            does="numbers of the forward sweep that one line of the reverse sweep reads",
        ),
        Pass("rematerialize", lambda p: rematerialize_counters(p.s, p.both), does="counters with a number added"),
        Pass(
            "reuse_buffers",
            lambda p: mark_reuse(p.s, p.both),
            required="augmented assignments that may work in place are marked",
        ),
    ),
)
EXPRESSIONS = Phase(
    "expressions",
    "temporaries nested into expressions, spelt as one would, over few passes of memory",
    (
        Pass("forward_substitute", nest, required="temporaries are put back into expressions"),
        Pass(
            "canonicalize", lambda p: canonicalize(p.s, p.reverse), does="signs and numeric factors in the usual form"
        ),
        Pass(
            "canonicalize",
            lambda p: use_methods(p.s, p.forward),
            NUMPY,
            needs=ir.Loop,
            does="in loops, reductions are methods of arrays",
        ),
        Pass(
            "fuse_contractions",
            lambda p: summed_products(p.s, p.reverse),
            NUMPY,
            does="products that are summed along two axes",
        ),
        Pass("fuse_contractions", with_contractions, NUMPY),
        Pass(
            "fuse_contractions",
            lambda p: tensor_products(p.s, p.reverse),
            NUMPY,
            does="products of arrays that share only the summed axes",
        ),
        Pass("lower_accumulation", with_first_touch, NUMPY, does="what is added to zeros is assigned"),
        Pass(
            "lower_accumulation",
            lambda p: split_stacked(p.s, p.reverse),
            NUMPY,
            does="the cotangent of stacked arrays is the list of its parts",
        ),
        Pass(
            "lower_accumulation",
            lambda p: assign_list_items(p.s, p.reverse),
            NUMPY,
            does="the cotangent of a list begins with what each item gets from a sum",
        ),
        Pass(
            "lower_accumulation",
            lambda p: assign_items(p.s, p.both, p.reverse),
            NUMPY,
            does="what is added to an item of zeros is assigned",
        ),
        Pass("propagate_negations", lambda p: propagate_negations(p.s, p.forward, p.reverse), NUMPY),
        Pass("sink", lambda p: sink(p.s, p.reverse), NUMPY),
        Pass(
            "reuse_buffers",
            lambda p: reuse_cotangents(p.s, p.both, p.reverse, p.request.capture is None),
            NUMPY,
            does="cotangents",
        ),
        outermost(
            "reuse_buffers",
            lambda p: reuse_primals(p.s, p.both, p.forward, p.reordered),
            required="an array that gets a new value under its name is overwritten by it",
        ),
        Pass(
            "fuse_contractions",
            lambda p: batch_matmuls(p.s, p.forward if p.reordered else [], p.reverse),
            NUMPY,
            does="sums over pairs of vectors",
        ),
        Pass(
            "shape_uses", lambda p: save_shapes(p.s, p.forward, p.reverse), NUMPY, joint=True, does="the shape is saved"
        ),
        Pass("loop_bounds", lambda p: fold_bounds(p.both), required="numbers in the bounds of loops are added up"),
        Pass("observed_values", fix_values, required="variables that are seen to the last bit are noted"),
    ),
)
FLOATS = Phase(
    "floats",
    "loops that compute with Python's floats where that is as good",
    (
        Pass(
            "scalar_math",
            lambda p: on_both(partial(scalar_math, alone=p.only_gradients), p),
            repeats=True,
            needs=ir.Loop,
        ),
        Pass("unbox_arrays", partial(on_both, unbox_arrays), repeats=True, needs=ir.Loop),
        Pass(
            "unbox_arrays", partial(on_floats, drop_casts), repeats=True, does="a Python float is not converted to one"
        ),
    ),
)
STATEMENTS = Phase(
    "statements",
    "loops and statements as they are written by hand",
    (
        Pass("strength_reduction", lambda p: reduce_squares(p.s, p.reverse), NUMPY),
        Pass("tape_rows", lambda p: write_rows(p.s, p.forward, p.reverse), required="planned rows are filled and read"),
        outermost("tape_tuples", lambda p: pack_saves(p.s, p.forward, p.reverse), joint=True),
        Pass("unpack", lambda p: recover_unpacking(p.s, p.forward, p.reverse), NUMPY),
        Pass("rematerialize", lambda p: name_counters(p.s, p.reverse), does="counters with a number added"),
        outermost(
            "dse",
            lambda p: drop_faint_stores(p.s, p.where, p.forward, p.reverse, p.final),
            joint=True,
            needs=ir.Store,
            does="what is written into memory of which only shapes are read is not written",
        ),
        Pass("iterate", lambda p: recover_iteration(p.s, p.forward, p.reverse), NUMPY, needs=ir.Loop),
        Pass(
            "dce",
            lambda p: eliminate_dead_code(p.s, p.forward, p.reverse),
            joint=True,
            does="what nothing reads and what cannot raise is not computed",
        ),
        Pass("strip_mine", with_strips, precision=LAST_DIGITS),
        Pass(
            "forward_substitute",
            lambda p: substitute_into_effects(p.s, p.forward, p.reverse),
            NUMPY,
            does="values that are only saved, raised, entered or changed",
        ),
        Pass("scatter_add", lambda p: scatter_add(p.s, p.reverse), NUMPY),
        outermost("runtime_select", lambda p: select_at_runtime(p.s, p.reverse)),
        Pass(
            "conditions",
            partial(on_each, negate_tests),
            lowers=True,
            does="the negation of a test is the opposite comparison",
        ),
        Pass("loop_exit_values", lambda p: read_exit_values(p.both), NUMPY, joint=True, needs=ir.Loop, lowers=True),
        Pass("loop_bounds", lambda p: normalize_direction(p.s, p.both), NUMPY, needs=ir.Loop),
        Pass(
            "dce",
            with_dead_results_unnamed,
            NUMPY,
            does="what is kept since it may raise has no name, and is no more than what raises",
        ),
    ),
)
PRINTING = Phase(
    "printing",
    "what is known of both sweeps where they are printed",
    (
        Pass("returns", lambda p: setattr(p.emitter, "last_sums", last_sums(p.s, p.reverse)), NUMPY),
        Pass(
            "forward_substitute",
            lambda p: p.emitter.note_uses(p.both, count_uses(p.both)),
            does="values that only the next statement reads",
        ),
    ),
)
PYTHON = Phase(
    "python",
    "the statements of the emitted function as one would phrase them",
    (
        Pass("breaks", lambda p: recover_breaks(p.body, p.tail), joint=True),
        Pass("conditions", with_branches_once, does="branches that share a head or a test are merged"),
        Pass(
            "conditions",
            partial(on_texts, recover_conditionals),
            does="a branch that only chooses a value is a conditional expression",
        ),
        Pass("forward_substitute", read_both_next, does="values that only the next statement reads"),
        Pass("comprehensions", lambda p: recover_comprehensions(p.body, p.tail), joint=True),
        Pass("forward_substitute", read_both_next, does="values that only the next statement reads"),
        Pass("reversed_loops", with_reversed, joint=True),
        Pass("returns", lambda p: forward_returns(p.tail)),
        Pass("annotate", lambda p: annotate(p.tail), required="comments name the lines that are reversed"),
        Pass(
            "assignments",
            with_chains,
            does="a value that is assigned several times is written once",
        ),
        Pass("assignments", with_lines_shared, does="small assignments that belong together are one"),
        Pass(
            "forward_substitute", lambda p: inline_next(p.tail, True), does="values that only the next statement reads"
        ),  # what is stored beside something is computed before that
        Pass(
            "assignments",
            lambda p: augment(p.tail),
            required="numbers are updated by augmented assignments",
            nested=False,
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
