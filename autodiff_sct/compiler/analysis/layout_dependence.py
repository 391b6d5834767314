"""Dependence on the layout of arrays in memory, and permutations of lists.

Programs whose result depends on how the arrays that they are given lie in memory.

Whether ``x.reshape(-1)`` shows the memory of ``x`` or copies it depends on the strides of ``x``, and an argument that
the program writes is copied on entry, in C order. Where a program writes into what may be such a view, or into what
it is a view of, arguments that come in another order are refused. So they are where it asks for the layout of an
array that it writes: `np.dot` writes only into arrays in C order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...runtime import broadcast, objects
from .. import ir
from ..domain.values import Leaf, Value
from .alias import Regions, enclosing_loops

if TYPE_CHECKING:
    from ..ir.builder import Specialiser

# What may be a copy instead of a view.
UNCERTAIN = {np.reshape, np.ravel, np.ascontiguousarray, np.asfortranarray, np.ndarray.astype, np.require}
LAYOUT = {"flags", "strides", "base"}
FITTING = {broadcast.unbroadcast, broadcast.spread}  # their argument itself, or sums or repetitions of it


def depends_on_layout(op: ir.Op) -> bool:
    """True if the layout of an array decides if an operation shows its memory."""
    as_it_is = op.fn is np.ndarray.astype and "order" not in op.arguments
    return op.fn in UNCERTAIN and bool(op.shares) and not as_it_is


def asks_for_layout(stmt: Any, where: Regions) -> bool:
    """True if a statement reads how an array lies in memory that the program writes."""
    parts = (part for expr in ir.expressions(stmt) for part in gast.walk(expr))
    asked = (p.value.id for p in parts if isinstance(p, gast.Attribute) and p.attr in LAYOUT and is_name(p.value))
    return any(where.is_written(name) for name in asked)


def is_name(expr: Any) -> bool:
    return isinstance(expr, gast.Name)


def needs_order(block: ir.Block, where: Regions) -> bool:
    """True if the program asks for the order of memory that it writes, or may share such memory with a view."""
    views: set[int] = set()  # the regions of those met so far
    around = enclosing_loops(block)
    for stmt in ir.walk(block):
        if not views.isdisjoint(where.written_in(stmt)) or asks_for_layout(stmt, where):
            return True
        if isinstance(stmt, ir.Let) and stmt.op is not None and depends_on_layout(stmt.op):
            region = where.of(stmt.target)
            if region in where.written and around[stmt]:  # what is written before it is written after it, too
                return True
            views |= where.written & {region}
    return False


# By the kind of the effect: a function of the list and the other operands or a method of the list, and its inverse.
MOVES: dict[str, tuple[Callable[..., None] | str, Callable[..., None] | str]] = {
    "swap": (objects.swap, objects.swap),
    "reverse": ("reverse", "reverse"),
    "permute": (objects.permute, objects.permute_back),
}


def move(s: Specialiser, kind: str, items: Leaf, *operands: Value, back: bool = False) -> Any:
    """The call that moves the items of a list, or moves them back."""
    function = MOVES[kind][back]
    if isinstance(function, str):
        return ir.call(ir.attribute(s.expr(items), function))
    return ir.call(s.bind(function.__name__, function), s.expr(items), *map(s.expr, operands))


def write_move(s: Specialiser, kind: str, items: Leaf, *operands: Value) -> None:
    """Write a statement of the program that moves items."""
    s.block.append(ir.Effect(move(s, kind, items, *operands), s.where(), kind, (items, *operands)))
