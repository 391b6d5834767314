"""The pass manager: what a pass is, what it works on, how the passes of a phase run, and steps of passes.

In come both sweeps of a program; out they come as one writes them by hand.  Each pass leaves a program that computes
the same derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ...core import thresholds
from .. import ir
from ..ad.tape.packing import count_saved, drop_unread_lists
from ..analysis.alias import Regions, regions_of_program
from ..codegen.idioms.assignments import chain_assignments, count_reads, join_assignments, join_stores
from ..codegen.idioms.conditions import merge_branch_heads
from ..codegen.idioms.inline_next import inline_next
from ..codegen.idioms.iteration import recover_reversed
from ..domain import pass_registry as passes
from ..domain.request import Arguments, Request, observe
from ..domain.values import Value
from ..interp.kernel.specialiser import Specialiser
from ..ir import verifier
from ..opt.loops.sroa import replace_aggregates
from ..opt.loops.strip_mining import strip_mine
from ..opt.loops.unboxing.driver import may_run_again
from ..opt.memory.accumulation.first_touch import assign_first_contributions
from ..opt.memory.accumulation.peephole import propagate_copies
from ..opt.rewrite.contractions import fuse_contractions, fuse_forward_contractions
from ..opt.rewrite.inverses import is_plain, solve_with_inverses
from ..opt.rewrite.signs import decides, reduce_powers
from ..opt.scalar.dce import unname_dead_results
from ..opt.scalar.forward_substitution import Nesting
from ..opt.scalar.licm import hoist_invariants
from ..opt.scalar.loop_bounds import rematerialize_lengths

NUMPY = frozenset({"numpy"})
NUMBA = frozenset({"numba"})
ANY = NUMPY | NUMBA
# Phases before the program is differentiated, and those in which its reverse sweep reads any variable of it.
PRIMAL, UNRECORDED = frozenset(["primal", "active"]), frozenset(["operations", "contributions"])


class Precision(Enum):
    """The permission of a pass to change values of the forward sweep."""

    EXACT = "every bit stays"
    LAST_DIGITS = "last digits may change, so nothing but gradients may be asked for"


@dataclass(frozen=True)
class Pass:
    """A step of the compiler; one without a function runs inside another step, which asks `passes.on` for it.

    Steps of one name are one pass: they are switched off together.

    Attributes
    ----------
    targets : frozenset of str
        The backends for which it runs.
    joint : bool
        True if it needs both sweeps in one function.
    nested : bool
        True if it also runs where the program is differentiated again by a program around it.
    segments : bool
        True if it also runs where loops are run again from checkpoints.
    repeats : bool
        True if it needs to run the program once more where an exception may come from its floats.
    needs : type, optional
        A kind of statement without which it has nothing to do.
    lowers : bool
        True if it leaves single assignment: counters are read after their loops, sides of branches change places.
    required : str
        What it does, if it cannot be switched off.
    does : str
        What this step does, where a pass consists of several.
    """

    name: str
    run: Callable[[Program], Any] | None = None
    targets: frozenset[str] = ANY
    joint: bool = False
    nested: bool = True
    segments: bool = True
    repeats: bool = False
    precision: Precision = Precision.EXACT
    needs: type | None = None
    lowers: bool = False
    required: str = ""
    does: str = ""

    @property
    def purpose(self) -> str:
        """The purpose of a pass, in one line."""
        return self.required or self.does or passes.PASSES[self.name]

    def applies(self, program: Program) -> bool:
        """True if the pass is to run on a program."""
        request = program.request
        return (
            (bool(self.required) or passes.on(self.name))
            and request.backend in self.targets
            and not (self.joint and request.split)
            and (self.nested or request.capture is None)
            and (self.precision is Precision.EXACT or program.only_gradients)
            and (self.segments or not program.is_segmented)
            and (self.needs is None or program.has(self.needs))
            and (not self.repeats or program.may_run_again)
        )


@dataclass(frozen=True)
class Phase:
    """Passes that run one after the other."""

    name: str
    purpose: str
    passes: tuple[Pass, ...]


@dataclass
class Program:
    """Both sweeps of a program on their way through the passes, and what these have to know about it."""

    s: Specialiser
    where: Regions
    request: Request
    table: Arguments
    value: Value  # what the program returns
    forward: ir.Block
    reverse: ir.Block = field(default_factory=list)
    final: ir.Return = field(default_factory=lambda: ir.Return(ir.tuple_([])))
    seeds: dict[str, str] = field(default_factory=dict)
    early: set[Any] = field(default_factory=set)  # the statements of the forward sweep
    strict: set[Any] = field(default_factory=set)  # statements that are kept since they may raise
    shadows: set[str] = field(default_factory=set)  # cotangents
    floats: bool = False  # whether loops compute on Python's floats
    inexact: bool = False  # whether the last digits of the forward sweep are not seen
    reordered: bool = False  # whether they are not seen, nor does a program around it differentiate this one again
    undecided: bool = False  # whether nothing is decided by what it computes
    derivative: Any = None  # the `Reverse` that made the reverse sweep
    kinds: set[type] = field(default_factory=set)  # the kinds of its statements
    emitter: Any = None  # what prints it
    body: list[Any] = field(default_factory=list)  # the text of the forward sweep
    tail: list[Any] = field(default_factory=list)  # that of the reverse sweep
    is_lowered: bool = False  # whether it has left single assignment

    @property
    def both(self) -> ir.Block:
        return [*self.forward, *self.reverse]

    @property
    def outside(self) -> list[str]:
        """The arguments, and what is read from outside."""
        return [*self.table.entries, *(external.name for external in self.s.externals.values())]

    @property
    def only_gradients(self) -> bool:
        """True if neither the value is asked for nor a program around it differentiates it again."""
        return runs_alone(self.request)

    @property
    def is_segmented(self) -> bool:
        """True if loops are run again from checkpoints, or may be."""
        return self.request.memory is not None or any(is_segmented(stmt) for stmt in ir.walk(self.forward))

    @property
    def may_run_again(self) -> bool:
        """True if nobody can tell that the program was run up to an exception and then once more."""
        return self.request.lists and may_run_again(self.s, self.both)

    def has(self, kind: type) -> bool:
        """True if the program had a statement of a kind when the phase began."""
        return kind in self.kinds

    def split(self, program: ir.Block) -> None:
        """Make the sweeps of the statements of a whole program, by where each is from."""
        self.forward = [stmt for stmt in program if stmt in self.early]
        self.reverse = [stmt for stmt in program if stmt not in self.early]

    def run(self, phase: Phase) -> None:
        """Run the passes of a phase that apply, in their order."""
        self.kinds = {type(stmt) for stmt in ir.walk(self.both)}
        for each in phase.passes:
            if each.run is not None and each.applies(self):
                each.run(self)
                self.is_lowered |= each.lowers
                observe(self.request, each.name, self.s, [*self.body, *self.tail] or self.both)
                if verifier.verifies() and self.emitter is None:
                    self.verify(phase, each)

    def verify(self, phase: Phase, each: Pass) -> None:
        """Check the invariants of the intermediate form after a pass."""
        begins = frozenset([*self.table.names, *(e.name for e in self.s.externals.values()), *self.seeds])
        primal, recorded = phase.name in PRIMAL, phase.name not in UNRECORDED
        sweeps = verifier.Program(self.s, self.forward, self.reverse, begins, primal, recorded, self.is_lowered)
        verifier.verify(sweeps, each.name)


def is_segmented(stmt: Any) -> bool:
    """True if a statement is a loop that is run again from checkpoints."""
    return isinstance(stmt, ir.Loop) and stmt.every is not None


def runs_alone(request: Request) -> bool:
    """True if nothing but gradients leaves a program: its value is not asked for, nor is it differentiated again."""
    return asks_for_gradients(request) and request.capture is None


def asks_for_gradients(request: Request) -> bool:
    """True if nothing but gradients leaves a program, to users or to the program around it."""
    return request.backend == "numpy" and not (request.split or request.value or request.seeded or request.has_aux)


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


def with_chains(p: Program) -> None:
    """Run `chain_assignments`; of what is returned for another function to read, nothing is left out."""
    reads = None if p.request.split else count_reads([*p.body, *p.tail])
    chain_assignments(p.body, reads)
    chain_assignments(p.tail, reads)


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
