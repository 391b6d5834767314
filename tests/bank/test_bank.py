"""Every program of the bank: gradient, value, memory, float32, forward mode, second order, source, refusals."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_sct as ad
from tests.bank import checks
from tests.bank.limits import LIMITS, within
from tests.bank.registry import Program, Refused, load_bank
from tests.bank.structures import arrays

PROGRAMS, REFUSED = load_bank()
ROOT = Path(__file__).parents[2]
SAMPLE = sorted({*sorted(program.name for program in within(PROGRAMS.values()))[::4], "convex_hull"})


def each(*programs: Program) -> pytest.MarkDecorator:
    """Run a test for each program, with an id like `views-damp_edges`."""
    return pytest.mark.parametrize("program", [pytest.param(p, id=f"{p.topic}-{p.name}") for p in programs])


WITHIN = within(PROGRAMS.values())
EVERY = each(*WITHIN)


def test_the_bank_is_large_enough() -> None:
    assert len(PROGRAMS) >= 110


@pytest.mark.once
@each(*PROGRAMS.values())
def test_differences_are_trustworthy(program: Program) -> None:
    checks.check_smooth(program)


@pytest.mark.every_case
@EVERY
def test_gradient(program: Program) -> None:
    checks.check_gradient(program)


@pytest.mark.once
@EVERY
def test_other_values(program: Program) -> None:
    checks.check_other_values(program)


@EVERY
def test_value_and_memory(program: Program) -> None:
    checks.check_value(program)


@pytest.mark.once
@each(*(p for p in WITHIN if p.float32 and arrays(p.args())))
def test_float32(program: Program) -> None:
    checks.check_float32(program)


@pytest.mark.once
@each(*(p for p in within(PROGRAMS.values(), "forward") if checks.takes_arrays(p)))
def test_forward(program: Program) -> None:
    checks.check_forward(program)


@pytest.mark.once
@each(*(p for p in within(PROGRAMS.values(), "pullback") if checks.returns_arrays(p)))
def test_pullback(program: Program) -> None:
    checks.check_pullback(program)


@each(*(p for p in within(PROGRAMS.values(), "second") if "second" in p.tags))
def test_second_order(program: Program) -> None:
    checks.check_second(program)


@EVERY
def test_source_runs_alone(program: Program) -> None:
    checks.check_source_alone(program)


ATTEMPTS = {
    "all": checks.attempt_gradient,
    "forward": checks.attempt_forward,
    "pullback": checks.check_pullback,
    "second": checks.attempt_second,
}


@pytest.mark.parametrize(
    ("check", "name"), [pytest.param(check, name, id=f"{check}-{name}") for check in LIMITS for name in LIMITS[check]]
)
def test_limit(check: str, name: str) -> None:
    """What the compiler cannot do yet is refused with the line, never answered with a crash or a number."""
    try:
        ATTEMPTS[check](PROGRAMS[name])
    except ad.AutodiffError as error:
        message = str(error)
    else:
        pytest.fail(f"{name} is differentiated now: remove it from limits.py")
    assert re.search(LIMITS[check][name], message)
    assert re.search(r"^\S.*:\d+: in \w+", message, re.MULTILINE), message


def sources(seed: str, *names: str) -> dict[str, str]:
    """Return the adjoints of programs, printed by another process."""
    command = [sys.executable, "-m", "tests.bank.sources", *names]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    printed: dict[str, str] = json.loads(done.stdout)
    return printed


@pytest.fixture(scope="module")
def other_processes() -> tuple[dict[str, str], dict[str, str]]:
    """The adjoints of the sample from two processes with other hashes, compiled in opposite orders."""
    return sources("1", *SAMPLE), sources("2", *reversed(SAMPLE))


@each(*(PROGRAMS[name] for name in SAMPLE))
def test_source_is_deterministic(program: Program, other_processes: tuple[dict[str, str], dict[str, str]]) -> None:
    here = checks.source_of(program)
    assert here == checks.source_of(program)
    assert other_processes[0][program.name] == other_processes[1][program.name] == here


def marked_line(entry: Refused) -> int:
    """Return the line that the error must name: the marked one, else the definition."""
    text = Path(inspect.getsourcefile(entry.function) or "").read_text().splitlines()
    first = entry.function.__code__.co_firstlineno
    lines, start = inspect.getsourcelines(entry.function)
    named = [start + i for i, line in enumerate(lines) if "# refused here" in line]
    called = [i for i, line in enumerate(text, 1) if "# refused here" in line and i < first]
    definition = next(start + i for i, line in enumerate(lines) if "def " in line)
    return (named or (called[:1] if "squares_of" in "".join(lines) else []) or [definition])[0]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=name) for name, entry in REFUSED.items()])
def test_refusal(entry: Refused) -> None:
    with pytest.raises(ad.AutodiffError) as caught:
        ad.grad(entry.function, checks.position_of(entry.wrt))(*entry.args())
    message = str(caught.value)
    assert re.search(entry.reason, message, re.IGNORECASE | re.DOTALL)
    assert f"refusals.py:{marked_line(entry)}" in message
