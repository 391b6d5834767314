"""Three ways to one gradient, for each program of the bank: the compiler, the tape, central differences.

A program reaches the tape as its author wrote it, called with tensors in the place of its numbers.  What a tape cannot
follow (it sees values, not the program) it must refuse: `refusals.py` lists those programs, each with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import tape
from tests.bank import checks
from tests.bank.differences import assert_close, gradient_by_differences, quiet, tolerance_of
from tests.bank.limits import LIMITS
from tests.bank.registry import Program, load_bank
from tests.bank.structures import Path, children, map_leaves, show
from tests.tape.refusals import INTO_LEAVES, REFUSALS, REFUSALS_OF_COPIES

pytestmark = pytest.mark.once

PROGRAMS, _ = load_bank()


def watched(program: Program, copied: bool) -> tuple[list[Any], dict[Path, tape.Tensor]]:
    """The arguments with tensors for the numbers that are differentiated, and these leaves by their paths."""
    leaves: dict[Path, tape.Tensor] = {}

    def watch(path: Path, number: Any) -> tape.Tensor:
        leaves[path] = tape.tensor(number, requires_grad=True)
        return leaves[path] * 1 if copied else leaves[path]

    args = list(program.args())
    for position in program.wrt:
        args[position] = map_leaves(watch, args[position], (f"[{position}]",))
    return args, leaves


def tensors(value: Any) -> Iterator[tape.Tensor]:
    """The tensors in a result."""
    if isinstance(value, tape.Tensor):
        yield value
    else:
        for _, part in children(value):
            yield from tensors(part)


def gradient_by_tape(program: Program, copied: bool = False) -> dict[Path, np.ndarray]:
    """The gradient of the total of a program's results, recorded while it runs on tensors (on copies of leaves)."""
    args, leaves = watched(program, copied)
    value, _ = quiet(program.function, *args)
    outputs = [output for output in tensors(value) if output.requires_grad] or [value]
    seeds = [tape.tensor(np.ones(np.shape(output), getattr(output, "dtype", None))) for output in outputs]
    found = tape.grad(outputs, list(leaves.values()), seeds, materialize_grads=True)
    return {path: np.asarray(gradient) for path, gradient in zip(leaves, found, strict=True)}


def compare(program: Program, found: dict[Path, np.ndarray]) -> None:
    """The tape's gradient is that of differences, and the compiler's up to rounding: both run the same rules."""
    for path, expected in gradient_by_differences(program).items():
        assert_close(found[path], expected, tolerance_of(program, found[path]), f"tape, argument {show(path)}")
    if program.name in LIMITS["all"]:
        return
    quiet(program.function, *program.args())  # a program may have assigned the tape's tensors to globals
    gradient, _ = quiet(ad.grad(program.function, checks.position_of(program.wrt)), *program.args())
    for path, compiled in checks.by_path(program.wrt, gradient).items():
        assert (found[path].shape, found[path].dtype) == (np.shape(compiled), np.asarray(compiled).dtype)
        rtol = 1e-3 if np.asarray(compiled).dtype.itemsize < 8 else 1e-9
        assert_close(found[path], compiled, rtol, f"tape and compiler, argument {show(path)}")


def each(names: dict[str, Any]) -> pytest.MarkDecorator:
    """Run a test for each of the programs that are named."""
    return pytest.mark.parametrize("program", [pytest.param(PROGRAMS[name], id=name) for name in names])


@each({name: None for name in PROGRAMS if name not in REFUSALS})
def test_three_ways(program: Program) -> None:
    """The compiler's gradient is the tape's is that of differences."""
    compare(program, gradient_by_tape(program))


@each(REFUSALS)
def test_refusal(program: Program) -> None:
    """What the tape cannot follow is an error, never a number."""
    with pytest.raises(Exception, match=re.compile(REFUSALS[program.name], re.IGNORECASE)):
        gradient_by_tape(program)


@each({name: None for name in INTO_LEAVES if name not in REFUSALS_OF_COPIES})
def test_three_ways_on_copies(program: Program) -> None:
    """A program that writes into its arguments runs on copies of leaves, which may be written."""
    compare(program, gradient_by_tape(program, copied=True))


@each(REFUSALS_OF_COPIES)
def test_refusal_on_copies(program: Program) -> None:
    """Some of these programs do more that a tape cannot follow."""
    with pytest.raises(Exception, match=re.compile(REFUSALS_OF_COPIES[program.name], re.IGNORECASE)):
        gradient_by_tape(program, copied=True)
