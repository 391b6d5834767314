"""What is added to an item twice in a row is added at once.

::

    d_u[i] -= d_face * t
    d_u[i] += d_face           ->    d_u[i] += d_face - d_face * t

In loops, what computes with other memory may be between the two, if the first adds what is made of numbers only. To a
part of an array, or to all of it, two sums or products are added at once: their sum is made in the memory of one.
"""

from __future__ import annotations

from typing import Any

import gast

from .....core import thresholds
from .... import ir
from ....analysis.alias import roots_of
from ....analysis.slice_overlap import is_basic
from ....analysis.subscript_uses import is_float_array, item_index
from ....domain.facts import Num
from ....ir.builder import Specialiser
from ....ir.negation import negated
from ....ir.patterns import is_ellipsis, is_pop_call, size
from .first_touch import is_made_there


def add_at_once(s: Specialiser, back: ir.Block) -> None:
    """Rewrite the reverse sweep, in place."""
    inside = [x for stmt in ir.adjoint_walk(back) if isinstance(stmt, ir.Loop) for x in ir.adjoint_bodies(stmt)]
    looped = {id(block) for body in inside for block in ir.blocks(body)}
    for block in [back, *(body for stmt in ir.adjoint_walk(back) for body in ir.adjoint_bodies(stmt))]:
        kept: ir.Block = []
        for stmt in block:
            if kept and isinstance(stmt, ir.Store) and ir.same_line(kept[-1], stmt) and is_again(s, kept[-1], stmt):
                first = kept[-1]
                first.aug, first.value = sum_of(first, stmt)
                continue
            earlier = before(s, kept, stmt) if isinstance(stmt, ir.Store) and id(block) in looped else None
            if earlier is not None:
                stmt.aug, stmt.value = sum_of(earlier, stmt)
                kept.remove(earlier)
            kept.append(stmt)
        block[:] = kept


def before(s: Specialiser, block: ir.Block, stmt: ir.Store) -> ir.Store | None:
    """An addition a few statements before one to the same item, that may as well be made there."""
    if stmt.aug not in (gast.Add, gast.Sub) or not is_float_array(s.facts.get(stmt.base)):
        return None
    memory = roots_of(s.facts[stmt.base])
    for first in reversed(block[-thresholds.NEAR_ADDITION :]):
        if is_again(s, first, stmt):
            numbers = all(is_number(s, n) for n in (*ir.variables_in(first.value), *ir.variables_in(first.index)))
            return first if numbers and first.aug is not None else None
        if not is_apart(s, first, memory):
            return None
    return None


def is_number(s: Specialiser, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.dims == () and not facts.roots


def is_apart(s: Specialiser, stmt: Any, memory: frozenset[int]) -> bool:
    """Whether a statement is an assignment that neither reads nor writes some memory."""
    if isinstance(stmt, ir.Let) and stmt.effect:
        return is_pop_call(stmt.expr)
    if not isinstance(stmt, (ir.Let, ir.Store)):
        return False
    return not any(roots_of(s.facts[n]) & memory for n in (*ir.reads(stmt), *ir.ir_targets(stmt)) if n in s.facts)


def is_again(s: Specialiser, first: Any, stmt: ir.Store) -> bool:
    """Whether a statement adds to the item that another has written, and of which neither reads anything."""
    if not isinstance(first, ir.Store) or first.base != stmt.base or stmt.aug not in (gast.Add, gast.Sub):
        return False
    if first.aug not in (None, gast.Add, gast.Sub):
        return False
    if not is_float_array(s.facts.get(stmt.base)) or not (is_item(s, stmt) or is_part_of_sums(s, first, stmt)):
        return False
    if (
        gast.dump(first.index) != gast.dump(stmt.index)
        or size(first.value) + size(stmt.value) >= thresholds.OPERATIONS_ADDED_AT_ONCE
    ):
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


def is_item(s: Specialiser, stmt: ir.Store) -> bool:
    return item_index(s, stmt.base, stmt.index) is not None


def is_part_of_sums(s: Specialiser, first: ir.Store, stmt: ir.Store) -> bool:
    """Whether two additions are to a part of an array or to all of it, and of what is made there: that is one sum."""
    made = is_made_there(first.value) or is_made_there(stmt.value)
    return made and first.aug is not None and (is_ellipsis(stmt.index) or is_basic(s, stmt.index))


def sum_of(first: ir.Store, stmt: ir.Store) -> tuple[Any, Any]:
    """How two additions are one, and of what."""
    negative = negated(first.value)
    if negative is not None:
        return first.aug, ir.binop(stmt.value, gast.Sub, negative)
    less, more = first.aug is gast.Sub, stmt.aug is gast.Add
    if less != more and first.aug is not None and gast.dump(first.value) == gast.dump(stmt.value):
        return first.aug, ir.binop(ir.constant(2), gast.Mult, first.value)
    if less and more:
        return gast.Add, ir.binop(stmt.value, gast.Sub, first.value)
    return first.aug, ir.binop(first.value, gast.Add if less or more else gast.Sub, stmt.value)
