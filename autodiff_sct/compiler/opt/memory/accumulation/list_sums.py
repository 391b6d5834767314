"""The cotangent of a list of numbers begins with what each of them gets from their sum.

::

    d_items = zeros_like(items)            d_items = [d_t] * len(items)
    d_items[0] += d_out * total            d_items[0] += d_out * total
    for i in range(len(items)):    ->
        d_items[i] += d_t

Only additions to the list may stand before the loop, for they may change places with it.
"""

from __future__ import annotations

from typing import Any

import gast

from .... import ir
from ....ad.reverse.lists import UNKNOWN, facts_of_item
from ....analysis.alias import roots_of
from ....analysis.effects import touches
from ....analysis.remarks import hand_on
from ....domain.facts import Listed
from ....ir.builder import Specialiser


def assign_list_items(s: Specialiser, block: ir.Block) -> None:
    """Rewrite a block of the reverse sweep and the blocks inside it, in place."""
    for inner in [block, *(body for stmt in ir.adjoint_walk(block) for body in ir.adjoint_bodies(stmt))]:
        for loop in [stmt for stmt in inner if isinstance(stmt, ir.Loop)]:
            begin_with(s, inner, loop)


def begin_with(s: Specialiser, block: ir.Block, loop: ir.Loop) -> None:
    """Let the loop that adds a number to each item go, where the list is all zeros but for other additions."""
    add = loop.body[0] if len(loop.body) == 1 and not loop.carries and loop.stop is None else None
    if not isinstance(add, ir.Store) or add.aug is not gast.Add or not is_over(loop, add):
        return
    name, end = add.base, block.index(loop)
    start = next((k for k in range(end) if name in ir.ir_targets(block[k])), None)
    if start is None or not is_zeros(s, block[start], loop):
        return
    first = next(k for k in range(start + 1, end + 1) if name in ir.reads_inside(block[k]))
    items = block[start].expr.args[0]
    if not all(is_addition(s, stmt, name) for stmt in block[first:end]):
        return
    others = [stmt for stmt in block[first:end] if name in ir.reads_inside(stmt)]
    read = {root for stmt in [loop, add, *others] for n in ir.reads(stmt) if n != name for root in roots_of(s.facts[n])}
    if any(touches(s, stmt, read, True) or is_effect(stmt) for stmt in block[start + 1 : end] if stmt not in others):
        return
    length = ir.call(gast.Name("len", gast.Load(), None, None), items)
    new = ir.Let((name,), ir.binop(gast.List([add.value], gast.Load()), gast.Mult, length), None, add.origin)
    hand_on(s, loop, new)
    made = {n for stmt in block[first:end] for n in ir.ir_targets(stmt)}
    if made & set(ir.names_in(add.value)):
        block[first : end + 1] = [*(stmt for stmt in block[first:end] if stmt not in others), new, *others]
    else:
        block[first : end + 1] = [new, *block[first:end]]
    del block[start]


def is_over(loop: ir.Loop, add: ir.Store) -> bool:
    """Whether a loop adds to each item of as many as its range has, and each time the same."""
    bound = loop.bounds[0] if loop.kind == "range" and len(loop.bounds) == 1 else None
    is_length = isinstance(bound, gast.Call) and getattr(bound.func, "id", "") == "len"
    at_index = isinstance(add.index, gast.Name) and add.index.id == loop.index
    return is_length and at_index and not {loop.index, add.base} & set(ir.names_in(add.value))


def is_zeros(s: Specialiser, stmt: Any, loop: ir.Loop) -> bool:
    """Whether a statement makes a list of as many zeros as a loop has steps."""
    expr = stmt.expr if isinstance(stmt, ir.Let) else None
    if not isinstance(expr, gast.Call) or getattr(expr.func, "id", "") != "zeros_like" or len(expr.args) != 1:
        return False
    (items,) = expr.args
    facts = s.facts.get(getattr(items, "id", ""))
    same = getattr(loop.bounds[0].args[0], "id", None) == getattr(items, "id", "")
    return same and isinstance(facts, Listed) and facts_of_item(s.elements_of(facts)) is not UNKNOWN


def is_addition(s: Specialiser, stmt: Any, name: str) -> bool:
    """Whether a statement does not touch a list, or only adds to an item of it."""
    if name not in ir.reads_inside(stmt):
        return True
    adds = isinstance(stmt, ir.Store) and stmt.base == name and stmt.aug in (gast.Add, gast.Sub)
    return adds and name not in [*ir.names_in(stmt.value), *ir.names_in(stmt.index)]


def is_effect(stmt: Any) -> bool:
    """Whether a statement may change the length of a list."""
    return any(isinstance(x, (ir.Effect, ir.Try, ir.With)) for x in ir.inside(stmt))
