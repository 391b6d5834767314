"""The steps of passes that need more than a call: which sweeps a pass runs on, and what it leaves to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import thresholds
from .. import ir
from ..ad.tape.packing import count_saved, drop_unread_lists
from ..analysis.alias import regions_of_program
from ..codegen.idioms.assignments import join_assignments, join_stores
from ..codegen.idioms.conditions import merge_branch_heads
from ..codegen.idioms.inline_next import inline_next
from ..codegen.idioms.iteration import recover_reversed
from ..ir.builder import Specialiser
from ..opt.loops.sroa import replace_aggregates
from ..opt.loops.strip_mining import strip_mine
from ..opt.memory.accumulation.first_touch import assign_first_contributions
from ..opt.memory.accumulation.peephole import propagate_copies
from ..opt.rewrite.contractions import fuse_contractions, fuse_forward_contractions
from ..opt.rewrite.inverses import is_plain, solve_with_inverses
from ..opt.rewrite.signs import decides, reduce_powers
from ..opt.scalar.dce import unname_dead_results
from ..opt.scalar.forward_substitution import Nesting
from ..opt.scalar.licm import hoist_invariants
from ..opt.scalar.loop_bounds import rematerialize_lengths
from .pass_manager import Program, asks_for_gradients


def with_aggregates_replaced(p: Program) -> None:
    """Run `replace_aggregates`, after which other memory belongs together."""
    p.s.relies = replace_aggregates(p.s, p.where, p.forward, p.s.leaves(p.value))
    p.where = regions_of_program(p.s, p.forward) if p.s.relies else p.where


def with_invariants_hoisted(p: Program) -> None:
    """Run `hoist_invariants`, which may rely on being able to run the program again."""
    p.s.relies = hoist_invariants(p.s, p.where, p.forward, p.s.active, p.may_run_again) or p.s.relies


def with_inverses(p: Program) -> None:
    """Run the half of `reuse_inverses` that solves the systems of both sweeps by the inverses of the reverse sweep."""
    solve_with_inverses(p.s, p.where, p.forward, p.reverse)


def look_at_values(p: Program) -> None:
    """Note whether the forward sweep may change in its last digits, and whether it decides nothing."""
    p.undecided = not any(decides(stmt) for stmt in ir.walk(p.both))
    p.inexact = asks_for_gradients(p.request) and all(is_plain(stmt) for stmt in ir.walk(p.forward))
    p.reordered = p.only_gradients and p.inexact


def with_lengths(p: Program) -> None:
    """Run `rematerialize_lengths` on both sweeps as one."""
    p.split(rematerialize_lengths(p.s, p.where, p.both, not p.request.split))


def with_small_powers(p: Program) -> None:
    """Run `reduce_powers`, on the forward sweep only where no bit of it matters: inside another program as alone."""
    forward = ir.walk(p.forward) if p.inexact and p.undecided else ()
    reduce_powers(p.s, [*forward, *ir.adjoint_walk(p.reverse)])


def with_saved_counted(p: Program) -> None:
    """Look for what `pack_saves` may save together, once rows are planned."""
    count_saved(p.s, p.forward, p.reverse)
    drop_unread_lists(p.s, p.forward, p.reverse)


def nest(p: Program) -> None:
    """Put temporaries back into expressions, those of the forward sweep as the user wrote them."""
    nesting = Nesting(p.s, p.where, p.both, 0)
    p.forward = nesting.block(p.forward)
    nesting.limit = thresholds.OPERATIONS_NESTED
    p.reverse = nesting.block(p.reverse)


def with_contractions(p: Program) -> None:
    """Run `fuse_contractions`, on the forward sweep only where its last digits do not matter."""
    fuse_contractions(p.s, p.reverse)
    if p.reordered:
        fuse_forward_contractions(p.s, p.forward)


def with_first_touch(p: Program) -> None:
    """Run `assign_first_contributions`, and nest what that leaves."""
    assign_first_contributions(p.s, p.both, p.reverse)
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
    """Run `strip_mine` if the program allows it."""
    p.forward, p.reverse = strip_mine(p.s, p.forward, p.reverse, p.outside, list(p.seeds)) or (p.forward, p.reverse)


def with_dead_results_unnamed(p: Program) -> None:
    """Run `unname_dead_results`, with the checks of shapes if nothing around differentiates the program."""
    unname_dead_results(p.s, p.forward, p.reverse, p.request.capture is None)


def on_each(change: Callable[[Specialiser, ir.Block], object], p: Program) -> None:
    """Run a pass on each of the sweeps."""
    change(p.s, p.forward)
    change(p.s, p.reverse)


def joined_names(p: Program) -> None:
    """Drop what is another name for the same value."""
    propagate_copies(p.s, p.reverse)


def on_texts(change: Callable[[list[Any]], object], p: Program) -> None:
    """Run a pass on the statements of each of the sweeps."""
    change(p.body)
    change(p.tail)


def with_branches_once(p: Program) -> None:
    """Run `merge_branch_heads`, in the forward sweep without what may raise."""
    merge_branch_heads(p.body, True)
    merge_branch_heads(p.tail, False)


def read_both_next(p: Program) -> None:
    """Run `inline_next` on the statements of each of the sweeps."""
    inline_next(p.body, False)
    inline_next(p.tail, True)


def with_reversed(p: Program) -> None:
    """Run `recover_reversed` unless the program has something else under the name that it needs."""
    if "reversed" not in p.s.globals:
        recover_reversed(p.body, p.tail)


def with_lines_shared(p: Program) -> None:
    """Run `join_assignments`, then put stores on one line."""
    p.body, p.tail = join_assignments(p.body), join_assignments(p.tail)
    on_texts(join_stores, p)
