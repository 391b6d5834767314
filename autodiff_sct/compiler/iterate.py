"""A loop that only reads items by its counter goes over them.

::

    for i in range(len(A)):                for row in A:
        row = A[i]                 ->          total = total + np.sum(row)
        total = total + np.sum(row)

Of the forward sweep, where nothing else reads the counter. What is gone over is an array, or a list that the loop does
not change in length: the compiler's own, or one that no method is called on.
"""

from __future__ import annotations

from typing import Any

import gast

from . import ir
from .facts import Listed, Num
from .optimise import count_uses
from .specialise.state import Specialiser


def iterate(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the loops of the forward sweep, in place."""
    loops = [x for x in ir.walk(front) if isinstance(x, ir.Loop) and x.kind == "range" and len(x.bounds) == 1]
    if not loops:
        return
    uses = count_uses([*front, *back])
    lists = {stmt.target: stmt.expr.func.value.id for stmt in ir.walk(front) if is_list_of(stmt)}
    for loop in loops:
        first: Any = next((x for x in loop.body if not (isinstance(x, ir.Effect) and x.kind == "save")), None)
        if loop.index is None or uses.get(loop.index) != 1 or not is_item(first, loop.index):
            continue
        base = first.expr.value.id
        length = length_of(loop.bounds[0])
        if length is not None and length in (base, lists.get(base)) and keeps_length(s, loop, base, length):
            loop.kind, loop.index, loop.bounds = "iter", first.target, (first.expr.value,)
            loop.body.remove(first)


def is_list_of(stmt: Any) -> bool:
    """Whether a statement makes a list of the items of an array."""
    call: Any = stmt.expr if isinstance(stmt, ir.Let) else None
    is_method = isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and call.func.attr == "tolist"
    return is_method and isinstance(call.func.value, gast.Name)


def is_item(stmt: Any, index: str) -> bool:
    """Whether a statement reads the item that a counter stands at."""
    if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1:
        return False
    expr = stmt.expr
    is_read = isinstance(expr, gast.Subscript) and isinstance(expr.value, gast.Name)
    return is_read and isinstance(expr.slice, gast.Name) and expr.slice.id == index


def length_of(bound: Any) -> str | None:
    """The variable whose length an expression is."""
    is_length = isinstance(bound, gast.Call) and getattr(bound.func, "id", "") == "len"
    return bound.args[0].id if is_length and isinstance(bound.args[0], gast.Name) else None


def keeps_length(s: Specialiser, loop: ir.Loop, base: str, length: str) -> bool:
    """Whether what a loop goes over has the same items in number at its end."""
    facts = s.facts.get(length)
    if isinstance(facts, Num):
        return facts.kind == "array" and (base != length or facts.dims != ())
    changes = (x for x in ir.walk(loop.body) if isinstance(x, (ir.Effect, ir.Let)))
    quiet = not any(x.effect if isinstance(x, ir.Let) else x.kind != "save" for x in changes)
    return isinstance(facts, Listed) and base == length and quiet
