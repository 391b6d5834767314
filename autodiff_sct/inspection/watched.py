"""Gradient functions with programs of their own, whose lines are watched while they run."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NamedTuple

from ..api.arguments import checked_callable
from ..api.entry import made
from ..api.gradfunction import GradFunction
from ..compiler.codegen.emit import AGAIN, FORWARD, EmittedLine
from ..errors import NotDifferentiable

__all__ = ["LineEvents", "Program", "Statement", "Watched"]

BLOCKS = (ast.FunctionDef, ast.For, ast.While, ast.If, ast.With, ast.Try, ast.ExceptHandler)
NOWHERE = EmittedLine(None, FORWARD)


class Watched(GradFunction):
    """A gradient function that shares no program with others: NumPy's, with notes in its text.

    With `valued`, its program computes the value, too, whether or not it is returned.
    """

    valued = False

    @classmethod
    def of(cls, fn: Any, *settings: Any) -> Watched:
        """The events of a function and the first settings of `grad`, or of a gradient function."""
        return cls(*fn.settings()) if isinstance(fn, GradFunction) else cls(fn, *settings)

    def prepare(self) -> Any:
        fn = checked_callable(self.fn)
        weights, self._form = self.form_of_weights()
        valued = self.valued or self.kind == "value_and_grad"
        settings = self.positions or (), weights, self.has_aux, self.sens_param, valued, "numpy"
        adjoint = made("Adjoint", fn, *settings, memory=self.memory)
        adjoint.explain = True
        return adjoint

    def ready(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The adjoint, compiled for a call before that is watched; what the call refuses, it says itself."""
        adjoint = self.prepared()
        with suppress(NotDifferentiable):
            adjoint.function_for(*(args[:-1] if self.sens_param else args), **kwargs)
        return adjoint


class Statement(NamedTuple):
    """A statement of an emitted text: its first line, its own text, and names.

    It reads `reads`, assigns or writes into `writes`, and writes into `changes`.
    """

    line: int
    text: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    changes: tuple[str, ...]
    node: Any


class Program:
    """An emitted text: its statements, and the user's lines behind them."""

    def __init__(self, function: Any) -> None:
        self.code = function.__code__
        self.filename = self.code.co_filename
        self.source = "".join(linecache.getlines(self.filename))
        self.lines: dict[int, EmittedLine] = function.__autodiff_lines__
        self.statements: dict[int, Statement] = {}
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.stmt):
                statement = statement_of(node, self.source)
                for line in range(node.lineno, last_line(node) + 1):
                    self.statements[line] = statement

    def line_of(self, number: int) -> EmittedLine:
        """The statement at a line; of one without a line of the user's, that of the statement before it."""
        own = self.lines.get(number, NOWHERE)
        if own.origin is not None:
            return own
        sweep = own.sweep if number in self.lines else FORWARD
        known = [n for n, each in self.lines.items() if n < number and each.origin and of_one(each.sweep, sweep)]
        return own._replace(origin=self.lines[max(known)].origin) if known else own


def of_one(one: str, other: str) -> bool:
    """True if two statements stand in one sweep."""
    return (one == FORWARD) == (other == FORWARD) or AGAIN in (one, other)


def last_line(node: Any) -> int:
    """The last line of a statement itself: of a compound one, that of its head."""
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno


def statement_of(node: Any, source: str) -> Statement:
    """The reads and assignments of a statement itself, without those inside it."""
    inside = [node] if not isinstance(node, BLOCKS) else [p for p in ast.iter_child_nodes(node) if not is_inside(p)]
    names = [n for part in inside for n in ast.walk(part) if isinstance(n, ast.Name)]
    bases = [*changed(node)]
    changes = {n.id for n in bases}
    writes = {n.id for n in names if isinstance(n.ctx, ast.Store)} | changes
    stored = set() if isinstance(node, ast.AugAssign) else {*bases}
    reads = {n.id for n in names if isinstance(n.ctx, ast.Load) and n not in stored}
    if isinstance(node, ast.AugAssign):
        reads |= changes
    lines = source.split("\n")[node.lineno - 1 : last_line(node)]
    text = "\n".join(line for line in (line.strip() for line in lines) if line and not line.startswith("#"))
    return Statement(node.lineno, text, tuple(sorted(reads)), tuple(sorted(writes)), tuple(sorted(changes)), node)


def is_inside(node: Any) -> bool:
    return isinstance(node, (ast.stmt, ast.ExceptHandler))


def changed(node: Any) -> Iterator[ast.Name]:
    """The names of what a statement writes into, as they stand in it."""
    targets: list[ast.expr] = [t for t in getattr(node, "targets", ()) if isinstance(t, (ast.Subscript, ast.Attribute))]
    if isinstance(node, ast.AugAssign):
        targets = [node.target]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        targets = [call.func, *call.args[:1]] if isinstance(call.func, ast.Attribute) else call.args[:1]
    for target in targets:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target


class LineEvents:
    """Events of the programs of an `Adjoint`, line by line; subclasses act on them."""

    def __init__(self, adjoint: Any) -> None:
        self.adjoint = adjoint
        self.programs: dict[str, Program | None] = {}
        self.current: dict[FrameType, Statement] = {}

    def arrive(self) -> None:
        """The first thing that is done about an event."""

    def depart(self) -> None:
        """The last thing that is done about an event."""

    def enter(self, frame: FrameType, program: Program) -> None:
        """A function of a program is called."""

    def begin(self, frame: FrameType, program: Program, statement: Statement) -> None:
        """A statement is about to run."""

    def end(self, frame: FrameType, program: Program, statement: Statement) -> None:
        """A statement has run."""

    def leave(self, frame: FrameType, program: Program, statement: Statement | None, value: Any) -> None:
        """A function returns; None, too, where it raises."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread; what watched it before goes on afterwards."""
        before = sys.gettrace()
        sys.settrace(self.called)
        try:
            yield
        finally:
            sys.settrace(before)

    def called(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or frame.f_code.co_name.startswith("<"):  # a module that is loaded, a comprehension
            return None
        self.arrive()
        program = self.program(frame.f_code.co_filename)
        if program is not None:
            self.enter(frame, program)
        self.depart()
        return None if program is None else self.happened

    def happened(self, frame: FrameType, event: str, value: Any) -> Any:
        self.arrive()
        program = self.programs[frame.f_code.co_filename]
        assert program is not None
        before = self.current.get(frame)
        if event == "line":
            statement = program.statements.get(frame.f_lineno)
            if statement is not before:
                if before is not None:
                    self.end(frame, program, before)
                if statement is not None:
                    self.current[frame] = statement
                    self.begin(frame, program, statement)
        elif event == "return":
            self.leave(frame, program, self.current.pop(frame, None), value)
        self.depart()
        return self.happened

    def program(self, filename: str) -> Program | None:
        """The program of a file name, None for what is none of the adjoint's."""
        if filename not in self.programs:
            functions = {f.__code__.co_filename: f for f in self.adjoint.functions()}
            self.programs[filename] = Program(functions[filename]) if filename in functions else None
        return self.programs[filename]
