"""What is put into an item is put there where it is computed.

::

    d_c = d_pred.sum()                      d_coef[i] = d_pred.sum()
    d_pred = d_pred * x             ->      d_pred = d_pred * x
    d_coef[i] = d_c

That is done for cotangents that are named after a variable; temporaries become part of the store where it is.
Nothing between the two reads or writes memory that the item may be part of, nor what is put there.
"""

from __future__ import annotations

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import reachable
from ...analysis.liveness import readers_of
from ...domain.facts import Num
from ...ir.builder import Specialiser

PLACE = (gast.Name, gast.Constant, gast.UnaryOp, gast.BinOp, gast.Slice, gast.Tuple)


def put_at_once(s: Specialiser, block: ir.Block) -> None:
    """Move stores in a block of the reverse sweep and in the blocks inside it, in place."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            put_at_once(s, inner)
    stores = [stmt for stmt in block if isinstance(stmt, ir.Store) and isinstance(stmt.value, gast.Name)]
    if not stores:
        return
    readers = readers_of(block)
    made = {stmt.target: stmt for stmt in block if isinstance(stmt, ir.Let) and len(stmt.targets) == 1}
    for store in stores:
        made_by = made.get(store.value.id)
        if (
            made_by is None
            or made_by.effect
            or made_by.target not in s.named
            or readers[store.value.id] != [store]
            or not is_plain(store)
        ):
            continue
        if isinstance(s.facts[store.base], Num) or not any_waits(s, block, made_by, readers):
            move_up(s, block, made_by, store)


def is_plain(store: ir.Store) -> bool:
    """Whether a variable is stored, and nothing of what tells the place is read from memory."""
    return store.op is None and all(isinstance(node, PLACE) for node in ir.nodes_in(store.index))


def any_waits(s: Specialiser, block: ir.Block, made_by: ir.Let, readers: dict[str, list[ir.Let]]) -> bool:
    """Whether a temporary from before a statement becomes part of one after it, past which no list is written."""
    place = block.index(made_by)
    before = [
        x
        for x in block[max(0, place - thresholds.NEAR_ITEM) : place]
        if isinstance(x, ir.Let) and x.target not in s.named
    ]
    return any(block.index(reader) > place for x in before for reader in readers.get(x.target, ()))


def move_up(s: Specialiser, block: ir.Block, made_by: ir.Let, store: ir.Store) -> None:
    """Put a store behind the statement that makes what is stored, if what lies between does not matter to it."""
    first, last = block.index(made_by) + 1, block.index(store)
    between = block[first:last]
    if not 0 < len(between) < thresholds.NEAR_ITEM:
        return
    needed = {store.base, *ir.variables_in(store.index)}
    memory = {*reachable(s, s.facts[store.base]), *reachable(s, s.facts[store.value.id])}
    if any(isinstance(stmt, ir.Store) and isinstance(stmt.value, gast.Constant) for stmt in between):
        return  # a place is cleared in the statement that reads it
    for stmt in (inner for x in between for inner in ir.walk([x])):
        if isinstance(stmt, (ir.Raise, ir.Return, ir.Effect)) or not needed.isdisjoint(ir.ir_targets(stmt)):
            return
        names = {*ir.uses(stmt), *ir.ir_targets(stmt)}
        if store.base in names or any(not memory.isdisjoint(reachable(s, s.facts[n])) for n in names):
            return
    block.remove(store)
    block.insert(first, store)
