"""Objects with a `__next__` of the user's: loops over them in which it is taken apart."""

from __future__ import annotations

from typing import Any

import gast

from ...domain.values import Obj, Value
from ...ir.builder import Specialiser
from ..containers.sources import Source
from ..kernel import operations
from ..kernel.operations import defines
from ..world.class_guards import found_in
from ..world.normalized_bodies import prepared
from .inline import new_frame, run


@defines(operations.stepped)
def stepped(s: Specialiser, value: Obj) -> Source | None:
    """An object whose `__next__` tests whether it is at its end before it does anything."""
    method = found_in(s, value.cls, "__next__")
    if not hasattr(method, "__code__"):
        return None
    parsed, body = prepared(method.__code__, method)
    first, *rest = body.tree.body
    if not is_end(first) or any(is_stop(n) for stmt in rest for n in gast.walk(stmt)):
        raise s.refuse(
            "iterator",
            "a `__next__` that raises StopIteration elsewhere than in its first statement",
            "test for the end first: `if ...: raise StopIteration`",
        )
    free = dict(zip(method.__code__.co_freevars, method.__closure__ or ()))

    def part(key: Any, statements: list[Any]) -> Value:
        some = body.part(statements)
        frame = new_frame(s, key, parsed, method.__globals__, free, some, s.inside.get(method))
        frame.cls, frame.self = value.cls, value
        return run(s, frame, some, {some.tree.args.args[0].id: value}, method)

    test = gast.copy_location(gast.UnaryOp(gast.Not(), first.test), first)
    return Source(
        advance=lambda: part(method.__code__, rest),
        goes_on=lambda: part(first, [gast.copy_location(gast.Return(test), first)]),
    )


def is_end(node: Any) -> bool:
    return isinstance(node, gast.If) and len(node.body) == 1 and is_stop(node.body[0]) and not node.orelse


def is_stop(node: Any) -> bool:
    exc = getattr(node, "exc", None) if isinstance(node, gast.Raise) else None
    return getattr(exc.func if isinstance(exc, gast.Call) else exc, "id", None) == "StopIteration"
