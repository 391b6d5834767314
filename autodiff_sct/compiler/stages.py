"""The text of each stage of the pipeline, for a reader.

Variables of the intermediate form are shown as ``x_3``; after `activity`, the variables that carry a derivative have a
comment that says so.
"""

from __future__ import annotations

from typing import Any

import gast

from ..errors import ArgumentValueError
from . import ir, pipeline
from .request import Request
from .source.desugar import desugar
from .source.parse import parse
from .specialise.state import Specialiser
from .text.emit import Emitter
from .text.unparse import printed, unparse
from .whole import adjoint


def text_of_stage(compiled: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What the stage `name` makes of the function of a `dispatch.Compiled`, for these arguments.

    Raises
    ------
    ValueError
        If there is no such stage.
    """
    names = [stage for stage, _ in pipeline.STAGES]
    if name not in names:
        raise ArgumentValueError(f"there is no stage {name!r}; the stages are {', '.join(names)}")
    if name == "parse":
        return unparse(parse(function_of(compiled.fn)).tree)
    if name == "desugar":
        return unparse(desugar(parse(function_of(compiled.fn)).tree))
    if name == "unparse":
        return str(compiled.source(*args, **kwargs))
    texts: dict[str, str] = {}

    def note(stage: str, s: Specialiser, block: ir.Block) -> None:
        texts[stage] = text_of(s, block, stage == "activity")

    request = request_for(compiled, args, kwargs)
    request.observe = note
    adjoint(request)
    return texts[name]


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
    nodes = Plain(s, mark).block(block)
    return printed(gast.Module(nodes, [])).text
