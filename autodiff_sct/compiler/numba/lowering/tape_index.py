"""Places of saved values, by the loops that save them.

A loop that saves one value in each iteration counts them after itself, and one that takes them out before itself; in
between, the place is told by the loop's own index, and no iteration waits for the one before it:

    for i in range(n):                       for i in range(n):
        saved[np.uint64(used)] = x               saved[np.uint64(used + i)] = x
        used += 1                            used += n
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ..passes.affine import Form, constant_form, proved
from ..state import State


def by_index(state: State, body: ir.Block, index: str, low: Form, high: Form, step: int) -> tuple[ir.Block, ir.Block]:
    """Take the counting out of a loop over the whole numbers from `low` to `high`: what is to run before and after."""
    before: ir.Block = []
    after: ir.Block = []
    trips = high.plus(low, -1).plus(constant_form(1))
    number = trips.expr() if proved(state, trips) else ir.call("max", trips.expr(), ir.constant(0))
    at = Form(((index, 1, ir.name(index)),))
    for name, stmt in counted_once(body).items():
        adds = isinstance(stmt.expr.op, gast.Add)
        # What is saved first is taken out last.
        upwards = adds == (step == 1)
        offset = at.plus(low, -1) if upwards else high.plus(at, -1)
        place = ir.binop(ir.name(name), gast.Add, offset.expr()) if offset.expr() != 0 else ir.name(name)
        body.remove(stmt)
        for other in body:
            replace_in(other, {name: place})
        stmt.expr.value = number
        (after if adds else before).append(stmt)
    return before, after


def counted_once(body: ir.Block) -> dict[str, ir.Effect]:
    """The counters that each iteration moves by one, all in the block itself, with the statement that does it."""
    found: dict[str, list[ir.Effect]] = {}
    for stmt in body:
        if isinstance(stmt, ir.Effect) and isinstance(stmt.expr, gast.AugAssign):
            if isinstance(stmt.expr.value, gast.Constant) and stmt.expr.value.value == 1:
                found.setdefault(stmt.expr.target.id, []).append(stmt)
    inner = {
        n
        for s in body
        for block in ir.bodies(s)
        for t in ir.walk(block)
        for e in ir.expressions(t)
        for n in ir.names_in(e)
    }
    return {name: stmts[0] for name, stmts in found.items() if len(stmts) == 1 and name not in inner}


def replace_in(stmt: Any, mapping: dict[str, Any]) -> None:
    if isinstance(stmt, (ir.Let, ir.Effect)):
        stmt.expr = ir.substitute(stmt.expr, mapping)
    elif isinstance(stmt, ir.Store):
        stmt.index, stmt.value = ir.substitute(stmt.index, mapping), ir.substitute(stmt.value, mapping)
