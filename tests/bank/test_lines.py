"""Programs of the bank written otherwise: several statements on a line, assertions at the ends of blocks."""

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


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The tree of a function, without its decorators."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    return tree


def on_few_lines(function: Callable[..., Any]) -> str:
    """The text of a function with simple statements that follow each other on one line."""
    joined: list[str] = []
    for line in ast.unparse(definition(function)).split("\n"):
        text, before = line.strip(), joined[-1] if joined else ":"
        indent = line[: len(line) - len(text)]
        alone = text.endswith(":") or text.startswith("@") or before.endswith(":") or before.lstrip().startswith("@")
        if alone or before[: len(before) - len(before.lstrip())] != indent:
            joined.append(line)
        else:
            joined[-1] += "; " + text
    return "\n".join(joined) + "\n"


def with_assertions(function: Callable[..., Any]) -> str:
    """The text of a function whose blocks end in an assertion, or have one before the way out."""
    tree = definition(function)
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse")):
            if isinstance(node, (ast.FunctionDef, ast.For, ast.While, ast.If)) and block:
                ends = isinstance(block[-1], (ast.Return, ast.Raise, ast.Break, ast.Continue))
                block.insert(len(block) - ends, ast.parse("assert np.pi > 3").body[0])
    return ast.unparse(tree) + "\n"


def written(program: Program, write: Callable[[Callable[..., Any]], str]) -> Program:
    """The program with another text, in the same world."""
    text, name = write(program.function), f"<{write.__name__} of {program.name}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    found: dict[str, Any] = {}
    exec(compile(text, name, "exec"), program.function.__globals__, found)
    (function,) = found.values()
    return replace(program, function=function)


def is_plain(program: Program) -> bool:
    """True if the text of a program is that of a function without cells, in which no string spans lines."""
    function = program.function
    if not inspect.isfunction(function) or function.__closure__ or function.__name__ == "<lambda>":
        return False
    return '"""' not in inspect.getsource(function)


PLAIN = [p for p in within(PROGRAMS.values(), "forward") if is_plain(p)]
FLAT = [p for p in PLAIN[::3] if "class " not in inspect.getsource(p.function)]
WAYS = [*((p, on_few_lines) for p in PLAIN), *((p, with_assertions) for p in FLAT)]


@pytest.mark.once
@pytest.mark.parametrize(("program", "write"), WAYS, ids=lambda value: getattr(value, "name", None) or value.__name__)
def test_programs_written_otherwise(program: Program, write: Callable[[Callable[..., Any]], str]) -> None:
    check = checks.check_forward if checks.takes_arrays(program) else checks.check_gradient
    check(written(program, write))
