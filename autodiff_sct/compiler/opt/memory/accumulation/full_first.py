"""Full contributions first: one as large as its cotangent is its begin; items are added to that, not to zeros.

::

    d_z = np.zeros_like(z)
    d_z[label] += d_t              ->    d_z = scale * exp_z
    d_z += scale * exp_z                 d_z[label] += d_t

Additions may change places; neither reads what the other writes.
"""

from __future__ import annotations

from typing import Any

import gast

from .... import ir
from ....analysis.alias import roots_of
from ....analysis.effects import touches
from ....analysis.liveness import count_uses, readers_of
from ....domain.facts import Num, is_same
from ....ir.builder import Specialiser
from ....ir.patterns import is_call

NEW = (gast.BinOp, gast.UnaryOp)


def order_full_first(s: Specialiser, block: ir.Block) -> None:
    """Rewrite a block of the reverse sweep and the blocks inside it, in place."""
    if any(is_zeros(stmt) for stmt in ir.adjoint_walk(block)):
        rewrite(s, block, count_uses(block))


def is_zeros(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and is_call(stmt.expr, "zeros_like")


def rewrite(s: Specialiser, block: ir.Block, uses: dict[str, int]) -> None:
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            rewrite(s, inner, uses)
    zeros = [stmt for stmt in block if is_zeros(stmt)]
    readers = readers_of(block) if zeros else {}
    for zero in zeros:
        *items, total = readers.get(zero.target) or [None]
        whole = items and is_sum_of(total, zero.target) and maker_of(block, total.expr.right.id)
        if not whole or readers[whole.target] != [total]:
            continue
        if uses.get(zero.target) == len(items) + 1 and uses.get(whole.target) == 1:
            if begin(s, block, zero, items, whole, total):
                readers = readers_of(block)


def begin(s: Specialiser, block: ir.Block, zero: ir.Let, items: list[Any], whole: ir.Let, total: Any) -> bool:
    """Begin with what is added last, if that is full and all before it only adds."""
    if not isinstance(whole.expr, NEW) or whole.in_place:
        return False
    if not are_alike(s, zero.target, whole.target) or not all(adds_to(x, zero.target) for x in items):
        return False
    start, end = min(block.index(items[0]), block.index(whole)), block.index(total)
    read = {n for x in [*items, whole] for n in ir.reads(x) if n != zero.target}
    memory = frozenset(root for n in read for root in roots_of(s.facts[n]))
    if any(touches(s, x, memory, True) or changes(x, read) for x in block[start:end] if x not in items):
        return False
    for stmt in (zero, whole, *items):
        block.remove(stmt)
    place = block.index(total)
    block[place] = ir.Let(total.targets, whole.expr, None, total.origin)
    for k, stmt in enumerate(items):
        stmt.base = total.target
        block.insert(place + 1 + k, stmt)
    return True


def is_sum_of(stmt: Any, name: str) -> bool:
    """True if a statement adds another variable to a variable, in place."""
    if not isinstance(stmt, ir.Let) or not stmt.in_place or not isinstance(stmt.expr.op, gast.Add):
        return False
    return getattr(stmt.expr.left, "id", "") == name and getattr(stmt.expr.right, "id", name) != name


def maker_of(block: ir.Block, name: str) -> ir.Let | None:
    return next((x for x in block if isinstance(x, ir.Let) and x.targets == (name,) and not x.effect), None)


def are_alike(s: Specialiser, a: str, b: str) -> bool:
    """True if two arrays have one shape and one dtype."""
    one, other = s.facts[a], s.facts[b]
    if not isinstance(one, Num) or not isinstance(other, Num) or one.kind != "array" or other.kind != "array":
        return False
    return (
        one.dtype is not None
        and is_same(one.dtype, other.dtype)
        and s.same_lengths(one.dims, other.dims, s.where_made(a, b))
    )


def adds_to(stmt: Any, name: str) -> bool:
    """True if a statement only adds to a part of an array, and something else than the array."""
    if not isinstance(stmt, ir.Store) or stmt.base != name or stmt.aug not in (gast.Add, gast.Sub):
        return False
    return name not in [*ir.names_in(stmt.index), *ir.names_in(stmt.value)]


def changes(stmt: Any, names: set[str]) -> bool:
    """True if a statement changes one of some variables where it is."""
    return any(
        isinstance(x, ir.Let) and x.in_place and getattr(x.expr.left, "id", "") in names for x in ir.inside(stmt)
    )
