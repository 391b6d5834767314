"""An oracle for what the compiler believes of each variable: the program that is reversed tests it while it runs.

After each statement a call is written that notes the value of what was made.  Its kind, dtype and rank are compared
with its facts; at the end of each block, all axes that are of one length to the compiler must have one length.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autodiff_sct.compiler import ir
from autodiff_sct.compiler.analysis.definite_assignment import unbound
from autodiff_sct.compiler.domain.facts import Dim, Num
from autodiff_sct.compiler.driver import pipeline
from autodiff_sct.compiler.interp.kernel.specialiser import Specialiser
from autodiff_sct.compiler.ir.dims import Lengths

PYTHON = {"bool": (bool, np.bool_), "int": int, "float": float, "complex": complex}


class Witness:
    """What a run of one program has shown so far."""

    def __init__(self, s: Specialiser, block: ir.Block) -> None:
        self.s = s
        self.unbound = unbound(block)
        self.seen: dict[str, Any] = {}  # variable -> its value in the step that is run
        self.lengths: list[Lengths] = []
        self.wrong: list[AssertionError] = []  # told at the end: what is equal around a block may be so after it only

    def start(self) -> None:
        """Forget the last run."""
        self.seen.clear()
        self.wrong.clear()

    def note(self, name: str, value: Any) -> None:
        """Compare a value with the facts of its variable."""
        facts = self.s.facts[name]
        if facts.kind in PYTHON and not isinstance(value, PYTHON[facts.kind]):
            assert facts.whole or facts.kind == "float" and isinstance(value, int), f"{name}: {facts} is {value!r}"
        if facts.kind == "npscalar":
            assert isinstance(value, np.generic), f"{name}: {facts} is {value!r}"
        if facts.kind == "array":
            assert isinstance(value, np.ndarray) or hasattr(value, "asnumpy"), f"{name}: {facts} is {type(value)}"
        if facts.dtype is not None and facts.kind in ("array", "npscalar"):
            assert value.dtype == facts.dtype, f"{name}: {facts} has the dtype {value.dtype}"
        if facts.dims is not None:
            assert np.ndim(value) == len(facts.dims), f"{name}: {facts} has the shape {np.shape(value)}"
            self.seen[name] = value

    def begin(self, names: tuple[str, ...]) -> None:
        """Forget what a loop has made in its last step."""
        for name in names:
            self.seen.pop(name, None)

    def end(self, k: int) -> None:
        """Compare the lengths that are equal at the end of a block."""
        try:
            self.agree(k)
        except AssertionError as error:
            self.wrong.append(error)
        if self.wrong and self.lengths[k].outer is None:
            raise self.wrong[0]

    def agree(self, k: int) -> None:
        lengths, found = self.lengths[k], {}
        for name, value in self.seen.items():
            for axis, length in zip(self.s.facts[name].dims, np.shape(value)):
                self.compare(found, axis, length, f"{name} of the shape {np.shape(value)}", lengths)
            if name in self.s.alike and self.s.alike[name] in self.seen:
                other = self.seen[self.s.alike[name]]
                assert np.shape(other) == np.shape(value), f"{name} is not as large as {self.s.alike[name]}"
                same = np.asarray(other).dtype == np.asarray(value).dtype
                assert same, f"{name} has not the dtype of {self.s.alike[name]}"

    def compare(self, found: dict[Any, Any], axis: Any, length: int, told: str, lengths: Lengths) -> None:
        own = lengths.canonical(axis)
        for one in (axis, own):
            if isinstance(one, int):
                assert length == one, f"{told}: {axis} is not {one}"
            elif isinstance(one, Dim) and one.several:
                assert length > 1, f"{told}: {axis} is not several"
        if isinstance(own, Dim):
            before, by = found.setdefault(own, (length, told))
            assert before == length, f"{told}: {axis} is not as long as that of {by}"


def instrument(s: Specialiser, block: ir.Block) -> None:
    """Write the calls into a program, in place."""
    witness = Witness(s, block)
    made = ir.defined(block)
    given = dict.fromkeys(n for stmt in ir.walk(block) for n in ir.reads(stmt) if n not in made)
    with_notes(s, witness, block, s.lengths)
    block[:0] = [said(s, witness.start), *(note for name in given for note in notes(s, witness, name))]


def with_notes(s: Specialiser, witness: Witness, block: ir.Block, lengths: Lengths) -> None:
    program: ir.Block = []
    for stmt in block:
        if isinstance(stmt, ir.Loop):
            stmt.body[:0] = [said(s, witness.begin, ir.constant(tuple(sorted(ir.defined_in(stmt)))))]
            carried = [c.phi for c in stmt.carries]
            stmt.body[1:1] = [note for name in carried for note in notes(s, witness, name)]
        for inner in ir.bodies(stmt):
            with_notes(s, witness, inner, s.lengths_in(inner))
        program.append(stmt)
        if isinstance(stmt, (ir.Let, ir.If)):
            program += [note for name in ir.ir_targets(stmt) for note in notes(s, witness, name)]
        if isinstance(stmt, ir.Loop):
            forgotten = sorted({n for x in [stmt, *ir.walk(stmt.body)] for n in ir.defined_in(x)})
            program.append(said(s, witness.begin, ir.constant(tuple(forgotten))))
    if program and not isinstance(program[-1], (ir.Raise, ir.Return)):
        witness.lengths.append(lengths)
        program.append(said(s, witness.end, ir.constant(len(witness.lengths) - 1)))
    block[:] = program


def notes(s: Specialiser, witness: Witness, name: str) -> list[Any]:
    facts = s.facts.get(name)
    known = name not in witness.unbound and isinstance(facts, Num) and facts.row is None and facts.unless_none is None
    return [said(s, witness.note, ir.constant(name), ir.name(name))] if known else []


def said(s: Specialiser, method: Any, *arguments: Any) -> Any:
    return ir.Effect(ir.call(s.bind(f"witness_{method.__name__}", method), *arguments))


@contextmanager
def facts_checked() -> Iterator[None]:
    """Compile programs that test what the compiler believes of them, but for what they differentiate themselves."""
    plain, depth = {name: getattr(pipeline, name) for name in ("observe", "specialise")}, [0]

    def specialise(request: Any) -> Any:
        depth[0] += 1
        try:
            return plain["specialise"](request)
        finally:
            depth[0] -= 1

    def observe(request: Any, stage: str, s: Specialiser, block: ir.Block) -> None:
        plain["observe"](request, stage, s, block)
        if stage == "specialise" and not depth[0]:
            instrument(s, block)

    pipeline.observe, pipeline.specialise = observe, specialise
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(pipeline, name, function)
