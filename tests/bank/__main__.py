"""`python -m tests.bank [WORD...]` prints a line a program: lines of adjoint a line of primal, milliseconds, failures.

A word selects programs whose topic or name contains it.
"""

from __future__ import annotations

import inspect
import statistics
import sys
import time
from collections.abc import Callable

from tests.bank import checks
from tests.bank.registry import Program, load_bank
from tests.bank.structures import arrays

CHECKS: dict[str, Callable[[Program], object]] = {
    "gradient": checks.check_gradient,
    "other values": checks.check_other_values,
    "value": checks.check_value,
    "float32": checks.check_float32,
    "forward": checks.check_forward,
    "pullback": checks.check_pullback,
    "alone": checks.check_source_alone,
    "second": checks.check_second,
}


def applies(check: str, program: Program) -> bool:
    """Tell whether a check is meant for a program."""
    if check == "float32":
        return program.float32 and bool(arrays(program.args()))
    if check == "forward":
        return checks.takes_arrays(program)
    if check == "pullback":
        return checks.returns_arrays(program)
    return check != "second" or "second" in program.tags


def failure(check: str, program: Program) -> str | None:
    """Return what a check says against a program, in one line."""
    try:
        CHECKS[check](program)
    except Exception as error:
        text = " ".join(str(error).split())
        return f"{check}: {type(error).__name__}: {text[:300]}"
    return None


def lines_of_code(text: str) -> int:
    """Count the lines that are neither blank nor comments."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith(("#", "@")))


def measure(program: Program) -> tuple[float, float]:
    """Return lines of adjoint over lines of primal, and the milliseconds that compiling took."""
    start = time.perf_counter()
    text = checks.source_of(program)
    elapsed = 1e3 * (time.perf_counter() - start)
    return lines_of_code(text) / lines_of_code(inspect.getsource(program.function)), elapsed


def main(words: list[str]) -> int:
    """Print the report and return the number of failing programs."""
    programs, _ = load_bank()
    chosen = [p for p in programs.values() if not words or any(w in f"{p.topic}-{p.name}" for w in words)]
    measured, failing = [], 0
    for program in chosen:
        try:
            ratio, elapsed = measure(program)
            measured.append((ratio, elapsed))
            size = f"{ratio:5.1f} {elapsed:7.1f} ms"
        except Exception:
            size = " " * 16
        failures = [f for check in CHECKS if applies(check, program) and (f := failure(check, program))]
        failing += bool(failures)
        print(f"{size}  {program.topic}-{program.name}  {'ok' if not failures else ''}", flush=True)
        for line in failures:
            print(f"                    {line}")
    if measured:
        ratios, times = zip(*measured, strict=True)
        print(f"median {statistics.median(ratios):.2f} lines a line, {statistics.median(times):.1f} ms to compile")
    print(f"{len(chosen) - failing} of {len(chosen)} programs pass")
    return failing


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
