"""Programs whose result depends on how the arrays that they are given lie in memory.

Whether ``x.reshape(-1)`` shows the memory of ``x`` or copies it depends on the strides of ``x``, and an argument that
the program writes is copied on entry, in C order.  Where a program writes into what may be such a view, or into what it
is a view of, arguments that come in another order are refused.
"""

from __future__ import annotations

import numpy as np

from ...runtime import broadcast
from .. import ir
from .alias import Regions, enclosing_loops

# What may be a copy instead of a view.
UNCERTAIN = {np.reshape, np.ravel, np.ascontiguousarray, np.asfortranarray, np.ndarray.astype, np.require}
FITTING = {broadcast.unbroadcast, broadcast.spread}  # their argument itself, or sums or repetitions of it


def depends_on_layout(op: ir.Op) -> bool:
    """Whether the layout of an array decides if an operation shows its memory."""
    as_it_is = op.fn is np.ndarray.astype and "order" not in op.arguments
    return op.fn in UNCERTAIN and bool(op.shares) and not as_it_is


def needs_order(block: ir.Block, where: Regions) -> bool:
    """Whether memory is written that may or may not be shared with a view made before."""
    views: set[int] = set()  # the regions of those met so far
    around = enclosing_loops(block)
    for stmt in ir.walk(block):
        if not views.isdisjoint(where.written_in(stmt)):
            return True
        if isinstance(stmt, ir.Let) and stmt.op is not None and depends_on_layout(stmt.op):
            region = where.of(stmt.target)
            if region in where.written and around[stmt]:  # what is written before it is written after it, too
                return True
            views |= where.written & {region}
    return False
