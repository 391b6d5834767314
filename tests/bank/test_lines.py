"""Programs of the bank with several statements on a line, for the idioms that write such statements on one line."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.bank import checks
from tests.bank.limits import within
from tests.bank.registry import Program, load_bank

PROGRAMS, _ = load_bank()


def on_few_lines(function: Callable[..., Any]) -> str:
    """The text of a function with simple statements that follow each other on one line."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    joined: list[str] = []
    for line in ast.unparse(tree).split("\n"):
        text, before = line.strip(), joined[-1] if joined else ":"
        indent = line[: len(line) - len(text)]
        alone = text.endswith(":") or text.startswith("@") or before.endswith(":") or before.lstrip().startswith("@")
        if alone or before[: len(before) - len(before.lstrip())] != indent:
            joined.append(line)
        else:
            joined[-1] += "; " + text
    return "\n".join(joined) + "\n"


def with_few_lines(program: Program) -> Program:
    """The program with its statements on few lines, in the same world."""
    text, name = on_few_lines(program.function), f"<few lines of {program.name}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    found: dict[str, Any] = {}
    exec(compile(text, name, "exec"), program.function.__globals__, found)
    (function,) = found.values()
    return replace(program, name=f"{program.name} on few lines", function=function)


def is_plain(program: Program) -> bool:
    """True if the text of a program is that of a function without cells, in which no string spans lines."""
    function = program.function
    if not inspect.isfunction(function) or function.__closure__ or function.__name__ == "<lambda>":
        return False
    return '"""' not in inspect.getsource(function)


@pytest.mark.once
@pytest.mark.parametrize(
    "program", [p for p in within(PROGRAMS.values(), "forward") if is_plain(p)], ids=lambda p: p.name
)
def test_several_statements_on_a_line(program: Program) -> None:
    if checks.takes_arrays(program):
        checks.check_forward(with_few_lines(program))
    else:
        checks.check_gradient(with_few_lines(program))
