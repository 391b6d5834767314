"""The pass manager: what a pass is, what it works on, and how the passes of a phase run.

In come both sweeps of a program; out they come as one writes them by hand.  Each pass leaves a program that computes
the same derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .. import ir
from ..analysis.alias import Regions
from ..domain import pass_registry as passes
from ..domain.request import Arguments, Request, observe
from ..domain.values import Value
from ..ir import verifier
from ..ir.builder import Specialiser
from ..opt.loops.unboxing.driver import may_run_again

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
