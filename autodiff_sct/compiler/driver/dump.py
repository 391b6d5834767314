"""The text of each stage of the pipeline, for a reader.

Variables of the intermediate form are shown as ``x_3``; after `activity`, the variables that carry a derivative have a
comment that says so.
"""

from __future__ import annotations

from typing import Any

import gast

from ...errors import ArgumentValueError
from .. import ir
from ..codegen.emit import Emitter
from ..derivatives_inside.bootstrap import adjoint
from ..frontend.normalize import desugar
from ..frontend.parse import parse
from ..ir.builder import Specialiser
from ..ir.request import Request
from ..text.unparse import printed, unparse
from . import pipeline
from .pass_order import NAMES

CHANGES = "changes"  # in place of a stage: all passes that change something


def text_of_stage(compiled: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What the stage `name`, or the pass of that name, makes of the function of a `dispatch.Compiled`.

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
    adjoint(request)
    if name == CHANGES:
        changes = [(stage, text) for k, (stage, text) in enumerate(texts) if k == 0 or text != texts[k - 1][1]]
        return "\n\n".join(f"# after {stage}\n{text}" for stage, text in changes)
    if not texts:
        raise ArgumentValueError(f"the pass {name!r} does not run on this program")
    return texts[-1][1]


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


class Plain(Emitter):
    """Prints the intermediate form as it is, copies and all."""

    def __init__(self, s: Specialiser, mark: bool) -> None:
        super().__init__(s, {id: id.replace(".", "_") for id in s.facts})
        self.notes, self.mark = {}, mark

    def let(self, stmt: ir.Let) -> list[Any]:
        nodes = super().let(stmt)
        if self.mark and nodes and any(t in self.s.active for t in stmt.targets):
            nodes[0].comment = "active"
        return nodes


def text_of(s: Specialiser, block: ir.Block, mark: bool) -> str:
    """A program of the intermediate form as Python text."""
    printable = bool(block) and isinstance(block[0], gast.AST)
    nodes = block if printable else Plain(s, mark).block(block)
    return printed(gast.Module(nodes, [])).text
