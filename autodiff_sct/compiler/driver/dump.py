"""The text of each stage of the pipeline, for a reader.

The intermediate form is shown as `ir.printer` writes it; after `activity`, the variables that carry a derivative have
a comment that says so.
"""

from __future__ import annotations

from typing import Any

import gast

from ...core.process_state import part
from ...errors import ArgumentValueError, Origin
from .. import ir
from ..domain.request import Request
from ..frontend.normalize import desugar
from ..frontend.parse import Parsed, parse
from ..interp.kernel.specialiser import Specialiser
from ..ir import printer
from ..text.unparse import printed, unparse
from . import pipeline
from .pass_order import NAMES

MARK = "\x1f"  # between a line and the number of its origin
CHANGES = "changes"  # in place of a stage: all passes that change something

Line = tuple[str, Origin | None]


def text_of_stage(compiled: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The text of the program of a `dispatch.Compiled` after the stage or the pass `name`.

    For `CHANGES`, the program after each stage and each pass that changes it.

    Raises
    ------
    ValueError
        If there is no such stage, or the pass does not run on this program.
    """
    names = [stage for stage, _ in pipeline.STAGES]
    if name not in (*names, *NAMES, CHANGES):
        raise ArgumentValueError(f"there is no stage {name!r}; the stages are {', '.join(names)}")
    if name == "parse":
        return unparse(parse(function_of(compiled.fn)).tree)
    if name == "desugar":
        return unparse(desugar(parse(function_of(compiled.fn)).tree))
    if name == "unparse":
        return str(compiled.source(*args, **kwargs))
    texts: list[tuple[str, str]] = []

    def note(stage: str, s: Specialiser, block: ir.Block) -> None:
        if name in (stage, CHANGES):
            texts.append((stage, text_of(s, block, stage == "activity")))

    request = request_for(compiled, args, kwargs)
    request.observe = note
    part("compiler").adjoint(request)
    if name == CHANGES:
        changes = [(stage, text) for k, (stage, text) in enumerate(texts) if k == 0 or text != texts[k - 1][1]]
        return "\n\n".join(f"# after {stage}\n{text}" for stage, text in changes)
    if not texts:
        raise ArgumentValueError(f"the pass {name!r} does not run on this program")
    return texts[-1][1]


def lines_of_stages(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, list[Line]]:
    """The lines of each stage but the last, and the user's lines behind them."""
    parsed = parse(function_of(compiled.fn))
    found = {"parse": lines_of_tree(parsed, parsed.tree), "desugar": lines_of_tree(parsed, desugar(parsed.tree))}
    names = [stage for stage, _ in pipeline.STAGES]

    def note(stage: str, s: Specialiser, block: ir.Block) -> None:
        if stage in names:
            found[stage] = lines_of_block(s, block, stage == "activity")

    request = request_for(compiled, args, kwargs)
    request.observe = note
    part("compiler").adjoint(request)
    return {name: found[name] for name in names if name in found}


def lines_of_tree(parsed: Parsed, tree: Any) -> list[Line]:
    """The lines of a tree of the user's text."""
    text, statements = printed(gast.Module([tree], []))
    return [
        (line, parsed.origin(node) if (node := statements.get(k)) is not None and hasattr(node, "lineno") else None)
        for k, line in enumerate(text.rstrip("\n").split("\n"), 1)
    ]


def lines_of_block(s: Specialiser, block: ir.Block, mark: bool) -> list[Line]:
    """The lines of a program of the intermediate form."""
    origins: list[Any] = []

    def place(stmt: Any) -> str:
        origins.append(getattr(stmt, "origin", None))
        active = mark and isinstance(stmt, ir.Let) and not s.active.isdisjoint(stmt.targets)
        return f"{'active' if active else ''}{MARK}{len(origins) - 1}"

    lines: list[Line] = []
    for line in printer.printed(block, comment=place).rstrip("\n").split("\n"):
        text, mark_, number = line.rpartition(MARK)
        lines.append((text.removesuffix("  # ") if mark_ else number, origins[int(number)] if mark_ else None))
    return lines


def function_of(fn: Any) -> Any:
    """The function whose text is shown: ``construct`` of a Cell, ``__call__`` of another object."""
    if hasattr(type(fn), "construct"):
        return type(fn).construct
    if not hasattr(fn, "__code__") and not hasattr(fn, "__func__"):
        return getattr(fn, "func", None) or type(fn).__call__
    return fn


def request_for(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Request:
    if not args and not kwargs and compiled.parameters:
        return compiled.general_request()
    slots, values = compiled.bind(args, kwargs)
    return compiled.request_of(slots, values, compiled.wanted(args, kwargs))


def text_of(s: Specialiser, block: ir.Block, mark: bool) -> str:
    """A program as text: of the intermediate form, or statements of Python; with `mark`, it says what is active."""
    if block and isinstance(block[0], gast.AST):
        return printed(gast.Module(block, [])).text

    def active(stmt: Any) -> str:
        return "active" if mark and isinstance(stmt, ir.Let) and not s.active.isdisjoint(stmt.targets) else ""

    return printer.printed(block, comment=active)
