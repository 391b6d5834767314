"""`profile`: what each line of the user's costs, in the forward and in the reverse sweep.

Emitted programs are run as they are, with line events; the time of an event is not counted.  Memory is what
`tracemalloc` sees, in a run of its own, since tracing allocations takes time.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ..api.arguments import name_of
from ..compiler.codegen.emit import FORWARD
from ..errors import ArgumentValueError
from ..notebook_cells import cell_of
from .watched import LineEvents, Program, Statement, Watched

__all__ = ["Cost", "Profile", "Row", "measured", "profile"]


@dataclass
class Cost:
    """The cost of a line in one call.

    Attributes
    ----------
    hits : int
        How often it runs.
    seconds : float
        The time that it takes, with the functions of other programs that it calls.
    kept : int
        The bytes that are allocated after it and were not before it, over all its runs.
    peak : int
        The most bytes that it needs while it runs, beyond those that were allocated before it.
    """

    hits: int = 0
    seconds: float = 0.0
    kept: int = 0
    peak: int = 0

    def add(self, other: Cost) -> None:
        """Add what another line of the same place costs."""
        self.hits = max(self.hits, other.hits)
        self.seconds += other.seconds
        self.kept += other.kept
        self.peak = max(self.peak, other.peak)


@dataclass
class Row:
    """A line of the user's: its place, its text, and what it costs in both sweeps.

    `forward` is the cost of the line itself, `reverse` that of its adjoint, with what is computed again for it.
    """

    file: str
    line: int
    function: str
    text: str
    forward: Cost = field(default_factory=Cost)
    reverse: Cost = field(default_factory=Cost)


@dataclass(repr=False)
class Profile:
    """The result of `profile`; printed, it is a table.

    Attributes
    ----------
    name : str
        The function.
    rows : list of Row
        The user's lines in the order of the file; the last one has no file if some lines of the program stand for none.
    lines : dict of int to Cost
        The cost of each line of the emitted program, by its number in `source`.
    program : Program
        The emitted program; `source` is its text.
    """

    name: str
    rows: list[Row]
    lines: dict[int, Cost]
    program: Program

    @property
    def source(self) -> str:
        """The text of the emitted program."""
        return self.program.source

    @property
    def seconds(self) -> float:
        """The time of one call, both sweeps."""
        return sum(cost.seconds for cost in self.lines.values())

    def __repr__(self) -> str:
        whole = self.seconds or 1.0
        table = [("", "forward", "", "", "reverse", "", ""), ("line", "time", "%", "kept", "time", "%", "peak")]
        for row in self.rows:
            fwd, rev = row.forward, row.reverse
            place = f"{cell_of(row.file) or os.path.basename(row.file)}:{row.line}" if row.line else "(other)"
            cells = duration(fwd.seconds), percent(fwd.seconds / whole), amount(fwd.kept)
            more = duration(rev.seconds), percent(rev.seconds / whole), amount(max(fwd.peak, rev.peak))
            table.append((place, *cells, *more))
        widths = [max(len(line[k]) for line in table) for k in range(7)]
        lines = [
            f"{line[0]:<{widths[0]}}  " + "  ".join(f"{c:>{w}}" for c, w in zip(line[1:], widths[1:])) for line in table
        ]
        texts = ["", "", *(row.text for row in self.rows)]
        head = f"{self.name}: {duration(self.seconds)} a call"
        return "\n".join([head, "", *(f"{line}  {text}".rstrip() for line, text in zip(lines, texts))])


def profile(
    fn: Any,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    *,
    rounds: int = 7,
) -> Callable[..., Profile]:
    """Make the function that measures what each line of `fn` costs in the forward and the reverse sweep.

    Parameters
    ----------
    fn : callable, Cell or GradFunction
        What is differentiated, or its gradient function, whose settings then hold.
    grad_position, weights, has_aux
        As for `grad`.
    rounds : int
        The number of calls that are timed, of which each line's least time counts, as that with the least disturbance;
        further calls warm up and measure memory.

    Returns
    -------
    callable
        Called as `fn` is; it returns a `Profile`, which prints itself as a table and has its `rows`.

    Raises
    ------
    ValueError
        If `rounds` is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> table = profile(lambda x: np.sum(np.tanh(x) ** 2))(np.ones(1000))
    >>> [row.line for row in table.rows]
    [1]
    """
    if rounds < 1:
        raise ArgumentValueError(f"rounds is at least 1, not {rounds!r}")
    gradient = Watched.of(fn, grad_position, weights, has_aux)

    def measure(*args: Any, **kwargs: Any) -> Profile:
        return measured(gradient, args, kwargs, rounds)

    return measure


def measured(gradient: Watched, args: tuple[Any, ...], kwargs: dict[str, Any], rounds: int) -> Profile:
    """The costs of a gradient function's lines with these arguments."""
    adjoint = gradient.ready(args, kwargs)
    gradient(*args, **kwargs)
    clocks = [LineClock(adjoint) for _ in range(rounds)]
    for clock in clocks:
        with clock.watching():
            gradient(*args, **kwargs)
    meter = LineMemory(adjoint)
    tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        with meter.watching():
            gradient(*args, **kwargs)
    finally:
        if not tracing:
            tracemalloc.stop()
    return assembled(name_of(gradient.fn), clocks, meter)


class LineClock(LineEvents):
    """The time between line events, for the line that runs meanwhile."""

    def __init__(self, adjoint: Any) -> None:
        super().__init__(adjoint)
        self.costs: dict[tuple[str, int], Cost] = {}
        self.programs_run: dict[str, Program] = {}
        self.open: list[tuple[str, int]] = []  # the lines that run, those of callers first
        self.mark = 0.0

    def arrive(self) -> None:
        now = time.perf_counter()
        if self.open:
            self.cost().seconds += now - self.mark

    def depart(self) -> None:
        self.mark = time.perf_counter()

    def cost(self) -> Cost:
        """The cost of the line that runs."""
        return self.costs.setdefault(self.open[-1], Cost())

    def enter(self, frame: FrameType, program: Program) -> None:
        self.programs_run[program.filename] = program
        self.open.append((program.filename, 0))

    def begin(self, frame: FrameType, program: Program, statement: Statement) -> None:
        self.open[-1] = program.filename, statement.line
        self.cost().hits += 1

    def leave(self, frame: FrameType, program: Program, statement: Statement | None, value: Any) -> None:
        self.open.pop()


class LineMemory(LineClock):
    """The bytes that are allocated between line events."""

    def arrive(self) -> None:
        if self.open:
            now, peak = tracemalloc.get_traced_memory()
            cost, before = self.cost(), int(self.mark)
            cost.kept += now - before
            cost.peak = max(cost.peak, peak - before)

    def depart(self) -> None:
        tracemalloc.reset_peak()
        self.mark = tracemalloc.get_traced_memory()[0]


def assembled(name: str, clocks: list[LineClock], meter: LineMemory) -> Profile:
    """The costs of the program that ran last, by its lines and by the user's; of times the least."""
    program = list(clocks[-1].programs_run.values())[-1]
    lines: dict[int, Cost] = {}
    for (filename, line), cost in clocks[-1].costs.items():
        if filename == program.filename and line in program.statements:
            memory = meter.costs.get((filename, line), Cost())
            times = [clock.costs[filename, line].seconds for clock in clocks if (filename, line) in clock.costs]
            lines[line] = Cost(cost.hits, min(times), memory.kept, memory.peak)
    return Profile(name, rows_of(program, lines), dict(sorted(lines.items())), program)


def rows_of(program: Program, lines: dict[int, Cost]) -> list[Row]:
    """The costs of the user's lines."""
    rows: dict[tuple[str, int], Row] = {}
    for number, cost in lines.items():
        line = program.line_of(number)
        origin = line.origin
        place = ("", 0) if origin is None else (origin.file, origin.line)
        if place not in rows:
            rows[place] = Row(*place, origin.function if origin else "", origin.text.strip() if origin else "")
        (rows[place].forward if line.sweep == FORWARD else rows[place].reverse).add(cost)
    return [rows[place] for place in sorted(rows, key=in_file_order)]


def in_file_order(place: tuple[str, int]) -> tuple[bool, str, int]:
    return (not place[1], *place)


def duration(seconds: float) -> str:
    """A time to three digits.

    >>> duration(0.0012), duration(0.0)
    ('1.20 ms', '')
    """
    if seconds <= 0.0:
        return ""
    scale, unit = next(((s, u) for s, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= s), (1e-9, "ns"))
    return f"{seconds / scale:.3g} {unit}" if seconds / scale >= 100 else f"{seconds / scale:#.3g} {unit}"


def percent(part: float) -> str:
    return f"{100 * part:.0f}" if part >= 0.005 else ""


def amount(size: int) -> str:
    """A number of bytes.

    >>> amount(512), amount(3 * 2**20), amount(0)
    ('512 B', '3.0 MiB', '')
    """
    if size < 1:
        return ""
    number, units = float(size), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while number >= 1024:
        number, unit = number / 1024, next(units)
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
