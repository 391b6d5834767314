"""What is added to an item twice in a row is added at once.

::

    d_u[i] -= d_face * t
    d_u[i] += d_face           ->    d_u[i] += d_face - d_face * t
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..items.item_uses import is_float_array, item_index
from ..negatives import negated
from ..optimise import is_pop_call, size
from ..regions import roots_of
from ..specialise.state import Specialiser

LONGEST = 6  # operations in what is added


def add_at_once(s: Specialiser, back: ir.Block) -> None:
    """Rewrite the reverse sweep, in place."""
    for block in [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]:
        kept: ir.Block = []
        for stmt in block:
            if kept and isinstance(stmt, ir.Store) and is_again(s, kept[-1], stmt):
                first = kept[-1]
                first.aug, first.value = sum_of(first, stmt)
            else:
                kept.append(stmt)
        block[:] = kept


def is_again(s: Specialiser, first: Any, stmt: ir.Store) -> bool:
    """Whether a statement adds to the item that the one before it has written, and of which neither reads anything."""
    if not isinstance(first, ir.Store) or first.base != stmt.base or stmt.aug not in (gast.Add, gast.Sub):
        return False
    if first.aug not in (None, gast.Add, gast.Sub) or not ir.same_line(first, stmt):
        return False
    if not is_float_array(s.facts.get(stmt.base)) or item_index(s, stmt.base, stmt.index) is None:
        return False
    if gast.dump(first.index) != gast.dump(stmt.index) or size(first.value) + size(stmt.value) >= LONGEST:
        return False
    exprs = [first.value, stmt.value]
    if any(isinstance(expr, gast.Constant) for expr in exprs) or negated(stmt.value) is not None:
        return False
    if negated(first.value) is not None and (first.aug is gast.Sub or stmt.aug is gast.Sub):
        return False
    if any(is_pop_call(node) for expr in exprs for node in ir.nodes_in(expr)):
        return False
    memory = roots_of(s.facts[stmt.base])
    return not any(n in s.facts and roots_of(s.facts[n]) & memory for expr in exprs for n in ir.names_in(expr))


def sum_of(first: ir.Store, stmt: ir.Store) -> tuple[Any, Any]:
    """How two additions are one, and of what."""
    negative = negated(first.value)
    if negative is not None:
        return first.aug, ir.binop(stmt.value, gast.Sub, negative)
    less, more = first.aug is gast.Sub, stmt.aug is gast.Add
    if less and more:
        return gast.Add, ir.binop(stmt.value, gast.Sub, first.value)
    return first.aug, ir.binop(first.value, gast.Add if less or more else gast.Sub, stmt.value)
