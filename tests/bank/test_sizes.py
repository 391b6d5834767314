"""The programs of the bank, and the benchmarks, at other sizes and in other orders of memory: a few cases of each."""

from __future__ import annotations

import zlib

import pytest

from autodiff_sct.compiler.domain import pass_registry
from tests.bank import checks, sizes
from tests.bank.differences import quiet
from tests.bank.structures import arrays

PROGRAMS = sizes.programs()
SIZES = tuple(size for size in sizes.SIZES if size <= 401)
SMALL = tuple(size for size in SIZES if size <= 33)


def drawn(number: int, seed: str) -> sizes.Case | None:
    """A case of a program, another one for each seed; where there are several axes, a small one."""
    program = PROGRAMS[number]
    flat = all(array.ndim < 2 for array in arrays(program.args()))
    found = list(sizes.cases([program], SIZES if flat else SMALL))
    return found[zlib.crc32(f"{program.name} {seed}".encode()) % len(found)] if found else None


# Every second program, and every 200th one without each pass.
CASES = [case for number in range(0, len(PROGRAMS), 2) if (case := drawn(number, "sizes"))]
SAMPLES = [
    (name, case)
    for shift, name in enumerate(pass_registry.PASSES)
    for number in range(7 * shift % 200, len(PROGRAMS), 200)
    if (case := drawn(number, name))
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_other_size(case: sizes.Case) -> None:
    with sizes.if_any():
        sizes.check(case)


@pytest.mark.parametrize(("name", "case"), SAMPLES, ids=str)
def test_other_size_without_a_pass(name: str, case: sizes.Case) -> None:
    with sizes.if_any():
        sizes.check_without(name, case)


def test_most_cases_compare_something() -> None:
    checked = 0
    for case in CASES[::10]:
        with sizes.if_any():
            program = case.resized()
            sizes.expected_of(program)
            quiet(checks.gradient_of(program), *program.args())
            checked += 1
    assert checked > 0.6 * len(CASES[::10])
