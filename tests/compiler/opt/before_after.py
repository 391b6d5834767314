"""Unit tests of passes: a program before a pass and after it, as text of the intermediate form."""

from collections.abc import Callable

from autodiff_sct.compiler import ir
from autodiff_sct.compiler.interp.kernel.specialiser import Specialiser
from autodiff_sct.compiler.ir.parser import parse
from autodiff_sct.compiler.ir.printer import printed


def rewritten(change: Callable[[Specialiser, ir.Block], object], before: str) -> str:
    """The text of a program after a pass, which changes its block in place or returns another one."""
    read = parse(before)
    block = change(read.s, read.block)
    return printed(block if isinstance(block, list) else read.block)


def check(change: Callable[[Specialiser, ir.Block], object], before: str, after: str | None = None) -> None:
    """Compare a program after a pass; without `after`, it stays as it was."""
    assert rewritten(change, before) == printed(parse(before if after is None else after).block)
