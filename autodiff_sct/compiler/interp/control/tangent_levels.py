"""Tangents inside ``try`` where a program with tangents has become part of another, as `runtime.apart` tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ....runtime.apart import apart, rejoined
from ... import ir
from ...domain.values import Frame, Value
from ...ir.builder import Specialiser
from ..kernel.operations import execute
from ..kernel.raising import Ended, run_block
from ..world.names import home


def own_manager(s: Specialiser, node: Any) -> Any:
    """`apart` or `rejoined`, where the manager of a ``with`` statement is one of theirs."""
    callee = getattr(node.items[0].context_expr, "func", None)
    if not isinstance(callee, gast.Name) or home(s.frame, callee.id) is not None:
        return None
    top: Frame | None = s.frame
    while top is not None and top.parent is not None:
        top = top.parent
    found = None if top is None else top.globals.get(callee.id)
    return found if found is apart or found is rejoined else None


def keep_whole(s: Specialiser, node: Any) -> None:
    """Mark the blocks in a ``try`` that only see what was raised inside them: its handlers stay around them."""
    for part in gast.walk(node):
        if isinstance(part, gast.With) and own_manager(s, part) is not None:
            part.is_unit = True


def stay(s: Specialiser, node: Any, cls: Any) -> None:
    """Specialise a block of tangents, or one around tangents: all of their levels are below those of this program."""
    numbers = [n.value for n in node.items[0].context_expr.args]
    level = numbers[0] if numbers else 1
    write(s, cls, level, lambda: execute(s, node.body))


def write(s: Specialiser, cls: Any, level: int, work: Callable[[], Any]) -> Any:
    """``with cls(level):`` around what `work` writes."""
    s.level = max(s.level, level + 1)
    block: ir.Block = []
    origin = s.where()
    found: list[Any] = []
    goes_on = run_block(s, block, lambda: found.append(work()))
    s.block.append(ir.With([(manager(s, cls, level), None)], block, origin))
    if not goes_on:
        raise Ended
    return found[0]


def manager(s: Specialiser, cls: Any, level: int) -> Any:
    """The call that makes a manager."""
    return ir.call(s.bind(cls.__name__, cls), *([ir.constant(level)] if level > 1 else []))


def with_tangents(s: Specialiser, emitted: Any, call: Callable[[], Value]) -> Value:
    """The result of a program with tangents, which becomes part of this one: its exceptions are its own again."""
    if not any(value is apart for value in emitted.namespace.values()):
        return call()
    found: Value = write(s, rejoined, emitted.level, call)
    return found
