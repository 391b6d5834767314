"""``python -m autodiff_sct compare package.module:function --args "..."``: one function by every system.

Values and gradients are compared number by number, times are medians of interleaved repeats (the systems take turns, so
that a busy machine is unfair to none), memory is the peak that `tracemalloc` sees in one run after the first.
"""

from __future__ import annotations

import copy
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.highlight import COMMENT, KEYWORD, RESET, highlight
from ..errors import AutodiffError, Refused
from .opponents import SYSTEMS, Runner, Target, alone

__all__ = ["Comparison", "Row", "as_json", "as_text", "compare"]

BATCH = 2e-3  # seconds: shorter runs are timed several at a time
LIMIT = 5.0  # seconds that all rounds together may take, where three rounds fit into them
# The part of the largest number by which systems that compute in another order may differ.
TOLERANCES = {2: 1e-2, 4: 1e-4, 8: 1e-9}
GOOD, BAD = "\x1b[32m", "\x1b[31m"


@dataclass
class Row:
    """The result, the time and the memory of one system.

    Attributes
    ----------
    name : str
        The system.
    reason : str
        Why it cannot run the function; empty where it can.
    note : str
        How it ran the function, where that takes more than a call.
    first : float
        Seconds of the first run, which compiles.
    median : float
        Seconds of a later run.
    peak : int or None
        Bytes; None where the system's memory is out of sight of `tracemalloc`.
    value, gradient : float or None
        The largest difference from the first system's numbers, as a part of the largest of them; None for that system.
    """

    name: str
    reason: str = ""
    note: str = ""
    first: float = 0.0
    median: float = 0.0
    peak: int | None = None
    value: float | None = None
    gradient: float | None = None


@dataclass
class Comparison:
    """The rows of all systems for one function; `tolerance` is the difference up to which they agree."""

    title: str
    rows: list[Row]
    adjoint: str
    rounds: int
    tolerance: float
    value_seconds: float  # of the function alone

    def agrees(self, row: Row) -> bool:
        """True if a system's numbers are those of the first one."""
        return not row.reason and all(d is None or d <= self.tolerance for d in (row.value, row.gradient))

    def ran(self) -> list[Row]:
        """The rows of the systems that can run the function; the first is the one that others are compared with."""
        return [row for row in self.rows if not row.reason]


def compare(target: Target, rounds: int = 15) -> Comparison:
    """Run a target by every system and compare.

    Parameters
    ----------
    target : Target
        The function, its arguments and the positions that it is differentiated by.
    rounds : int
        How often each system is timed; less where the function is slow.
    """
    attempts = [attempt(name, prepare, target) for name, prepare in SYSTEMS.items()]
    runs = {"function alone": alone(target).run}
    runs |= {row.name: runner.run for row, runner, _ in attempts if runner is not None}
    medians, rounds = interleaved(runs, rounds)
    for row, runner, _ in attempts:
        if runner is not None:
            row.median = medians[row.name]
            row.peak = peak_of(runner.run) if runner.traced else None
    rows = [row for row, _, _ in attempts]
    tolerance = check_agreement([(row, numbers) for row, runner, numbers in attempts if runner is not None])
    return Comparison(title_of(target), rows, adjoint_of(target), rounds, tolerance, medians["function alone"])


def title_of(target: Target) -> str:
    """The function and the arguments that it is differentiated by."""
    names = ", ".join(str(position) for position in target.positions)
    return f"{target.module.__name__}:{target.name}, by argument{'s' * (len(target.positions) > 1)} {names}"


def adjoint_of(target: Target) -> str:
    """The emitted text, or why there is none."""
    from ..api import adjoint_source

    try:
        return adjoint_source(target.function, *target.args, grad_position=target.positions)
    except AutodiffError as error:
        return f"# {error}".replace("\n", "\n# ")


def attempt(name: str, prepare: Callable[[Target], Runner], target: Target) -> tuple[Row, Runner | None, Any]:
    """Prepare and run one system once, on arguments of its own: its row, its runner and its numbers."""
    own = Target(target.module, target.name, target.function, copy.deepcopy(target.args), target.positions)
    try:
        runner = prepare(own)
        start = time.perf_counter()
        result = runner.run()
        first = time.perf_counter() - start
        return Row(name, note=runner.note, first=first), runner, runner.read(result)
    except Exception as error:  # whatever another system makes of a function is its answer
        return Row(name, reason=reason_of(error)), None, None


def reason_of(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, Refused) and error.origin is not None:
        return f"{error.origin.file.rpartition('/')[2]}:{error.origin.line}: {error.reason}"
    text = " ".join(str(error).split()) or type(error).__name__
    return text if isinstance(error, AutodiffError) else f"{type(error).__name__}: {text}"


def check_agreement(ran: list[tuple[Row, Any]]) -> float:
    """Write each system's distance from the first one's numbers into its row; return the distance that is allowed."""
    if not ran:
        return 0.0
    (_, (values, gradients)), *others = ran
    for row, numbers in others:
        row.value = distance(numbers[0], values)
        row.gradient = distance(numbers[1], gradients)
    return max((TOLERANCES.get(real_size(array), 1e-9) for array in (*values, *gradients)), default=1e-9)


def real_size(array: np.ndarray) -> int:
    """Bytes of a real number of an array's precision."""
    return array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)


def distance(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference as a part of the largest number; infinite where structures, shapes or NaNs differ."""
    if [array.shape for array in found] != [array.shape for array in expected]:
        return float("inf")
    with np.errstate(invalid="ignore"):
        differences = [np.where(same(a, b), 0.0, np.abs(a - b)) for a, b in zip(found, expected)]
    worst = max((float(np.max(difference, initial=0.0)) for difference in differences), default=0.0)
    largest = max((float(np.nanmax(np.abs(array), initial=0.0)) for array in expected), default=0.0)
    return float("inf") if worst != worst else worst / (largest or 1.0)


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The elements at which two arrays are equal, NaN included."""
    return (a == b) | ((a != a) & (b != b))


def interleaved(runs: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], int]:
    """The median seconds of each run, the runs taking turns, and how many rounds there were."""
    single = {name: timed(run, 1) for name, run in runs.items()}
    counts = {name: max(1, min(1000, int(BATCH / max(seconds, 1e-9)))) for name, seconds in single.items()}
    expected = sum(single[name] * counts[name] for name in runs)
    rounds = max(3, min(rounds, int(LIMIT / max(expected, 1e-9))))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(timed(run, counts[name]))
    return {name: statistics.median(found) for name, found in times.items()}, rounds


def timed(run: Callable[[], Any], count: int) -> float:
    """Seconds of one of `count` runs."""
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def peak_of(run: Callable[[], Any]) -> int:
    """The most memory that one run holds at a time."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def as_json(found: Comparison) -> str:
    """The comparison for machines."""
    base = found.ran()[0].median if found.ran() else 1.0
    systems = [
        {
            "system": row.name,
            "ran": not row.reason,
            "reason": row.reason or None,
            "note": row.note or None,
            "agrees": found.agrees(row) if not row.reason else None,
            "value_difference": finite(row.value),
            "gradient_difference": finite(row.gradient),
            "first_seconds": row.first or None,
            "median_seconds": row.median or None,
            "ratio": row.median / base if row.median else None,
            "peak_bytes": row.peak,
        }
        for row in found.rows
    ]
    whole = {
        "function": found.title,
        "function_seconds": found.value_seconds,
        "rounds": found.rounds,
        "tolerance": found.tolerance,
        "systems": systems,
        "adjoint": found.adjoint,
    }
    return json.dumps(whole, indent=2)


def finite(number: float | None) -> float | None:
    """JSON has no infinity: a structure that differs has no distance."""
    return None if number is None or number == float("inf") else number


def as_text(found: Comparison, color: bool = False, lines: int = 12) -> str:
    """The comparison for people, with the first lines of the adjoint."""
    ran = found.ran()
    notes = [f"{row.name}: {row.note}" for row in ran if row.note]
    against = f", as ratios to {ran[0].name}" if ran else ""
    notes.append(
        f"Medians of {found.rounds} rounds in turns{against}; memory: the peak in one run that tracemalloc sees."
    )
    notes = [paint(note, COMMENT, color) for note in notes]
    shown, more = first_lines(found.adjoint, lines)
    adjoint = [highlight(shown) if color else shown, *([paint(more, COMMENT, color)] if more else [])]
    return "\n".join([found.title, "", *table(found, color), "", *notes, "", *adjoint])


def first_lines(adjoint: str, count: int) -> tuple[str, str]:
    """The first lines of the text, without its imports, and a line on those that are left out."""
    lines = adjoint.rstrip("\n").split("\n")
    start = next((k for k, line in enumerate(lines) if line.startswith("def ")), 0)
    lines = lines[start:]
    rest = len(lines) - count
    return "\n".join(lines[:count]), f"    ... {rest} more line{'s' * (rest > 1)}" if rest > 0 else ""


HEADER = ("", "ratio", "time", "first call", "memory", "value", "gradient")


def table(found: Comparison, color: bool) -> list[str]:
    """The lines of the table: columns are aligned, reasons run across them."""
    ran = found.ran()
    base = ran[0].median if ran else found.value_seconds
    alone = ("function alone", ratio(found.value_seconds / base), seconds(found.value_seconds), "", "", "", "")
    cells = {line[0]: line for line in [HEADER, alone, *(cells_of(found, row, base) for row in ran)]}
    widths = [max(len(line[k]) for line in cells.values()) for k in range(len(HEADER))]
    widths[0] = max(map(len, [*cells, *(row.name for row in found.rows)]))
    lines = [paint(aligned(HEADER, widths), KEYWORD, color), aligned(alone, widths)]
    for row in found.rows:
        name = row.name.ljust(widths[0])
        if row.reason:
            lines.append(f"{name}  {paint('cannot: ' + row.reason, COMMENT, color)}")
        else:
            verdict = GOOD if found.agrees(row) else BAD
            lines.append(paint(name, verdict, color) + aligned(cells[row.name], widths)[len(name) :])
    return lines


def aligned(line: tuple[str, ...], widths: list[int]) -> str:
    """A line of the table: the name to the left, the rest to the right."""
    cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
    return "  ".join([line[0].ljust(widths[0]), *cells]).rstrip()


def cells_of(found: Comparison, row: Row, base: float) -> tuple[str, ...]:
    """The cells of the table for a system that ran."""
    memory = "not seen" if row.peak is None else size(row.peak)
    return (
        row.name,
        ratio(row.median / base),
        seconds(row.median),
        seconds(row.first),
        memory,
        verdict(row.value, found.tolerance),
        verdict(row.gradient, found.tolerance),
    )


def verdict(difference: float | None, tolerance: float) -> str:
    """A difference in words.

    >>> verdict(None, 1e-9), verdict(0.0, 1e-9), verdict(3e-16, 1e-9), verdict(0.5, 1e-9)
    ('reference', 'equal', '3e-16', 'DIFFERS: 0.5')
    """
    if difference is None:
        return "reference"
    if difference == 0:
        return "equal"
    return f"{difference:.0e}" if difference <= tolerance else f"DIFFERS: {difference:.2g}"


def ratio(number: float) -> str:
    """Three digits.

    >>> ratio(0.1234), ratio(1.0), ratio(23.456), ratio(1234.5)
    ('0.12', '1.00', '23.5', '1234')
    """
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:.0f}"


def seconds(number: float) -> str:
    """A time with its unit.

    >>> seconds(2.5e-7), seconds(1.25e-5), seconds(0.0125), seconds(2.5)
    ('0.25 µs', '12.5 µs', '12.5 ms', '2.50 s')
    """
    for unit, factor in (("µs", 1e-6), ("ms", 1e-3)):
        if number < 999.5 * factor:
            return f"{ratio(number / factor)} {unit}"
    return f"{ratio(number)} s"


def size(number: int) -> str:
    """Bytes with their unit.

    >>> size(800), size(1536), size(5 * 1024**2)
    ('800 B', '1.5 KiB', '5.0 MiB')
    """
    if number < 1024:
        return f"{number} B"
    return f"{number / 1024:.1f} KiB" if number < 1024**2 else f"{number / 1024**2:.1f} MiB"


def paint(text: str, code: str, color: bool) -> str:
    """Text in a colour, where colour is wanted."""
    return f"{code}{text}{RESET}" if color and text else text
