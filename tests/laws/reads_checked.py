"""An oracle for the reverse sweep: what it reads of the forward sweep is what that had there.

Two contexts compile programs that test themselves while they run.

`restored_checked`: as soon as both sweeps are written, each reverse statement is preceded by a test of the overwritten
memory that it reads: its content is that which the statement that is reversed read (or made) in the same step.  All
that follows (restoring, saving, computing again) has to keep that true.

`kept_checked`: when both sweeps are finished, the value of each variable of the forward sweep is noted where it is
defined, by the steps of the loops around it, and compared where the reverse sweep reads that variable, or what stands
for it; what is popped from a list of saved values is what was appended.  Memory that the user's program writes is left
to the other context.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autodiff_sct.compiler import ir
from autodiff_sct.compiler.ad.reverse.transform import Reverse
from autodiff_sct.compiler.ad.tape.insert import Record
from autodiff_sct.compiler.ad.tape.required_restores import contents
from autodiff_sct.compiler.analysis.alias import written_arguments
from autodiff_sct.compiler.domain.facts import Num
from autodiff_sct.compiler.driver import pipeline
from autodiff_sct.compiler.driver.pass_manager import Program
from autodiff_sct.compiler.driver.pass_order import STATEMENTS
from autodiff_sct.compiler.interp.kernel.specialiser import Specialiser

MISSING = object()


def content_names(expr: Any) -> set[str]:
    """The variables whose content an expression reads."""
    return {name for name, _ in contents(expr)}


class WrongRead(AssertionError):
    """The reverse sweep reads a value that the forward sweep did not have there."""


def content(value: Any) -> Any:
    """A copy of what a variable holds; `MISSING` for what holds no numbers."""
    if isinstance(value, (list, tuple)):
        return [content(item) for item in value]
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return value
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    return value.copy() if isinstance(value, np.ndarray) and value.dtype.kind in "biufc" else MISSING


def is_same(found: Any, expected: Any) -> bool:
    """True for equal contents, but for rounding; a list of numbers and an array of them are alike."""
    if found is MISSING or expected is MISSING:
        return True
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    try:
        a, b = np.asarray(found), np.asarray(expected)
    except ValueError:  # a list of arrays of several shapes beside one array
        return False
    if a.dtype == object or b.dtype == object:
        return True
    if a.shape != b.shape:
        return False
    narrow = min(d.itemsize if d.kind == "f" else d.itemsize // 2 if d.kind == "c" else 8 for d in (a.dtype, b.dtype))
    tolerance = 1e-9 if narrow >= 8 else 1e-4
    scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)) if b.size else 0.0
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


class Witness:
    """What a run of one program has shown so far."""

    def __init__(self) -> None:
        self.contents: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.trips: dict[tuple[int, tuple[int, ...]], int] = {}
        self.steps: list[int] = []  # of the loops around, from outside in
        self.stacks: dict[Any, list[Any]] = defaultdict(list)
        self.compared = 0

    def start(self) -> None:
        """Forget the last run."""
        self.contents.clear()
        self.trips.clear()
        self.stacks.clear()
        self.steps = []

    # -- by the steps of loops

    def enter(self, depth: int) -> None:
        self.steps[depth:] = [-1]

    def step(self, loop: int, depth: int) -> None:
        self.steps[depth:] = [self.steps[depth] + 1]
        self.trips[loop, tuple(self.steps[:depth])] = self.steps[depth] + 1

    def enter_back(self, loop: int, depth: int) -> None:
        self.steps[depth:] = [self.trips.get((loop, tuple(self.steps[:depth])), 0)]

    def step_back(self, depth: int) -> None:
        self.steps[depth:] = [self.steps[depth] - 1]

    def note(self, name: str, depth: int, value: Any) -> None:
        """Keep what a variable holds where it is defined."""
        self.contents[name, tuple(self.steps[:depth])] = content(value)

    def compare(self, name: str, depth: int, told: str, value: Any) -> None:
        """Compare what is read for a variable with what that held in the same steps."""
        for k in range(depth, -1, -1):
            expected = self.contents.get((name, tuple(self.steps[:k])), MISSING)
            if expected is not MISSING:
                self.agree(value, expected, told)
                return

    # -- last in, first out

    def push(self, key: Any, value: Any) -> Any:
        self.stacks[key].append(content(value))
        return value

    def pop(self, key: Any, told: str, value: Any) -> Any:
        if self.stacks[key]:
            self.agree(value, self.stacks[key].pop(), told)
        return value

    def agree(self, value: Any, expected: Any, told: str) -> None:
        self.compared += 1
        found = content(value)
        if not is_same(found, expected):
            raise WrongRead(f"{told} is read as {found!r} for {expected!r}")


def said(s: Specialiser, method: Any, *arguments: Any) -> ir.Effect:
    return ir.Effect(call(s, method, *arguments))


def call(s: Specialiser, method: Any, *arguments: Any) -> Any:
    given = [a if not isinstance(a, (str, int)) else ir.constant(a) for a in arguments]
    return ir.call(s.bind(f"witness_{method.__name__}", method), *given)


def is_observable(s: Specialiser, name: str) -> bool:
    """True for numbers and arrays that are bound wherever they are named."""
    facts = s.facts.get(name)
    return ir.is_variable(name) and isinstance(facts, Num) and name not in s.unbound and facts.row is None


def read_by(stmt: Any) -> set[str]:
    """The variables whose content a statement itself reads."""
    if isinstance(stmt, ir.Store):
        return content_names(stmt.index) | content_names(stmt.value)
    if isinstance(stmt, ir.Loop):
        return set().union(*map(content_names, stmt.bounds))
    return set().union(*map(content_names, ir.expressions(stmt)))


def place_of(stmt: Any) -> str:
    return "" if stmt.origin is None else f" ({stmt.origin.text.strip()})"


# -- overwritten memory


class Watched(Reverse):
    """A reverse sweep that tests the overwritten memory that it reads."""

    witness: Witness
    notes: tuple[dict[Any, ir.Block], dict[Any, ir.Block]]  # of the forward sweep: before and after a statement

    def statement(self, stmt: Any) -> None:
        block = self.s.block
        start = len(block)
        super().statement(stmt)
        if not isinstance(stmt, (ir.Let, ir.Store)) or self.attempts or self.variant is not None:
            return
        if written_arguments(stmt):  # the function that reverses a call puts back what that has written
            return
        undo = {node for _, node in self.overwritten.restores}
        names = {n for new in block[start:] if new not in undo for n in self.contents_read(new)}
        place = max([k + 1 for k in range(start, len(block)) if block[k] in undo], default=start)
        for name in sorted(names):
            key = f"{name} {self.order[stmt]}"
            test = said(self.s, self.witness.pop, key, self.s.hints[name] + place_of(stmt), ir.name(name))
            self.positions[test] = self.order[stmt]
            block.insert(place, test)
            after = isinstance(stmt, ir.Let) and name in stmt.targets
            self.notes[after].setdefault(stmt, []).append(said(self.s, self.witness.push, key, ir.name(name)))

    def contents_read(self, new: Any) -> set[str]:
        names = read_by(new) if type(new) in (ir.Let, ir.Store, ir.Effect) else set()
        return {n for n in names if n in self.first and self.regions.is_written(n) and is_observable(self.s, n)}


def with_notes(r: Watched, block: ir.Block) -> None:
    """Write the notes into the forward sweep."""
    for stmt in block:
        for inner in ir.bodies(stmt):
            with_notes(r, inner)
    block[:] = [x for stmt in block for x in (*r.notes[0].get(stmt, ()), stmt, *r.notes[1].get(stmt, ()))]


@contextmanager
def restored_checked() -> Iterator[list[Witness]]:
    """Compile programs that test the overwritten memory that they read."""
    witnesses: list[Witness] = []
    finish, depth = pipeline.finish, [0]

    def begun(s: Specialiser, *arguments: Any) -> Reverse:
        if depth[0]:
            return Reverse(s, *arguments)
        r = Watched(s, *arguments)
        r.witness, r.notes = Witness(), ({}, {})
        witnesses.append(r.witness)
        return r

    def finished(p: Any, r: Any) -> Any:
        if isinstance(r, Watched):
            with_notes(r, p.forward)
            p.forward.insert(0, said(p.s, r.witness.start))
        return finish(p, r)

    with replaced(pipeline, Reverse=begun, finish=finished, specialise=apart(pipeline.specialise, depth)):
        yield witnesses


# -- values


class Finished:
    """Writes the tests into finished sweeps."""

    def __init__(self, s: Specialiser, where: Any, stands_for: dict[str, str]) -> None:
        self.s, self.where, self.stands_for = s, where, stands_for
        self.witness = Witness()
        self.loops: dict[Any, int] = {}

    def write(self, front: ir.Block, back: ir.Block) -> None:
        self.made = {n for n in ir.defined(front) if self.is_kept(n)}
        based = {stmt.base for stmt in ir.walk(back) if isinstance(stmt, ir.Store)}
        read = {n for stmt in ir.walk(back) for n in read_by(stmt)} - based
        self.read = {n for n in read if self.origin(n) in self.made and self.is_kept(n)}
        self.noted = {self.origin(n) for n in self.read}
        pushes = [stmt for stmt in ir.walk(front) if self.appended(stmt)]
        written = {n for stmt in pushes for n in self.appended(stmt) if not self.is_settled(stmt.expr.args[0])}
        pushed = {n for stmt in pushes for n in self.appended(stmt)} - written
        self.lists = pushed & {n for stmt in ir.walk(back) for n in self.popped(stmt)}
        self.forward(front, 0)
        self.backward(back, 0)
        front.insert(0, said(self.s, self.witness.start))

    def origin(self, name: str) -> str:
        return self.stands_for.get(name, name)

    def is_kept(self, name: str) -> bool:
        """True for what no statement of the user's changes, but for cotangents that the forward sweep makes."""
        written = self.where.is_written(name) or self.s.hints[name].startswith("d_")
        return is_observable(self.s, name) and not written

    def is_settled(self, expr: Any) -> bool:
        """True if what is saved is a value: memory that the user's program writes is put back after it is taken."""
        return all(self.is_kept(n) for n in content_names(expr) if ir.is_variable(n))

    def forward(self, block: ir.Block, depth: int) -> None:
        result: ir.Block = []
        for stmt in block:
            own = [n for n in ir.ir_targets(stmt) if n in self.noted]
            if isinstance(stmt, ir.Loop):
                key = self.loops.setdefault(stmt, len(self.loops))
                inside = {*(c.phi for c in stmt.carries), stmt.index, *ir.variables_in(stmt.items)}
                self.forward(stmt.body, depth + 1)
                notes = [self.note(n, depth + 1) for n in own if n in inside]
                stmt.body[:0] = [said(self.s, self.witness.step, key, depth), *notes]
                result.append(said(self.s, self.witness.enter, depth))
                own = [n for n in own if n not in inside]
            else:
                for inner in ir.bodies(stmt):
                    self.forward(inner, depth)
            for name in self.appended(stmt):
                if name in self.lists:
                    value = call(self.s, self.witness.push, name, stmt.expr.args[0])
                    stmt.expr = ir.call(stmt.expr.func, value)
            result += [stmt, *(self.note(n, depth) for n in own)]
        block[:] = result

    def note(self, name: str, depth: int) -> ir.Effect:
        return said(self.s, self.witness.note, name, depth, ir.name(name))

    def backward(self, block: ir.Block, depth: int) -> None:
        result: ir.Block = []
        for stmt in block:
            names = sorted(self.read & read_by(stmt)) if depth >= 0 and not is_while(stmt) else []
            result += [
                said(self.s, self.witness.compare, self.origin(n), depth, self.s.hints[n] + place_of(stmt), ir.name(n))
                for n in names
            ]
            if isinstance(stmt, ir.Loop):
                key = self.loops.get(stmt.primal)
                self.backward(stmt.body, depth + 1 if key is not None and depth >= 0 else -1)
                if key is not None and depth >= 0:
                    result.append(said(self.s, self.witness.enter_back, key, depth))
                    stmt.body.insert(0, said(self.s, self.witness.step_back, depth))
            else:
                for inner in ir.bodies(stmt):
                    self.backward(inner, depth)
            for part in ("expr", "value", "index", "test"):
                if getattr(stmt, part, None) is not None and self.popped(stmt):
                    setattr(stmt, part, self.tested(getattr(stmt, part), stmt))
            result.append(stmt)
        block[:] = result

    def appended(self, stmt: Any) -> list[str]:
        if not isinstance(stmt, ir.Effect) or stmt.kind != "save" or type(stmt.expr).__name__ != "Call":
            return []
        return [stmt.expr.func.value.id] if stmt.expr.func.attr == "append" else []

    def popped(self, stmt: Any) -> list[str]:
        return [n.func.value.id for expr in ir.expressions(stmt) for n in ir.nodes_in(expr) if is_pop(n)]

    def tested(self, expr: Any, stmt: Any) -> Any:
        """An expression with a test around what is popped from lists of saved values."""
        if is_pop(expr):
            name = expr.func.value.id
            told = self.s.hints[name] + place_of(stmt)
            return call(self.s, self.witness.pop, name, told, expr) if name in self.lists else expr
        if isinstance(expr, list):
            return [self.tested(each, stmt) for each in expr]
        if not hasattr(expr, "_fields") or not any(is_pop(n) for n in ir.nodes_in(expr)):
            return expr
        return type(expr)(*[self.tested(getattr(expr, field, None), stmt) for field in expr._fields])


def is_while(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop) and stmt.kind == "while"


def is_pop(node: Any) -> bool:
    if type(node).__name__ != "Call" or type(node.func).__name__ != "Attribute" or node.args:
        return False
    return node.func.attr == "pop" and type(node.func.value).__name__ == "Name"


@contextmanager
def kept_checked() -> Iterator[list[Witness]]:
    """Compile programs that test the values that they keep and save."""
    witnesses: list[Witness] = []
    run, provide, depth = Program.run, Record.provide, [0]
    stands_for: dict[int, dict[str, str]] = defaultdict(dict)

    def provided(table: Record, name: str, forward: ir.Block, names: dict[str, str], result: ir.Block) -> None:
        provide(table, name, forward, names, result)
        stands_for[id(table.s)][names[name]] = name

    def finished(p: Program, phase: Any) -> None:
        run(p, phase)
        if phase is STATEMENTS and p.request.backend == "numpy" and p.request.memory is None and not depth[0]:
            tests = Finished(p.s, p.where, stands_for.pop(id(p.s), {}))
            tests.write(p.forward, p.reverse)
            witnesses.append(tests.witness)

    counting = replaced(pipeline, specialise=apart(pipeline.specialise, depth))
    with replaced(Program, run=finished), replaced(Record, provide=provided), counting:
        yield witnesses


def apart(specialise: Any, depth: list[int]) -> Any:
    """Count how deep a program is differentiated inside another one, which tells the user's programs from those."""

    def counted(request: Any) -> Any:
        depth[0] += 1
        try:
            return specialise(request)
        finally:
            depth[0] -= 1

    return counted


@contextmanager
def replaced(owner: Any, **others: Any) -> Iterator[None]:
    """Put other functions in the place of a module's, or of a class's."""
    plain = {name: getattr(owner, name) for name in others}
    for name, other in others.items():
        setattr(owner, name, other)
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(owner, name, function)
