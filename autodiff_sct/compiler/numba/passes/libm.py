"""Functions of the C library where a loop cannot compute several elements at a time.

`functions` has polynomials for `exp` and `log`, made for vector code.  Where each iteration waits for the one before,
or may give the call up, no vector code comes of a loop, and the C library is two to four times as fast.

    for i in range(n):                       for i in range(n):
        s = exp(s - x[i])             ->         s = math.exp(s - x[i])
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ..lowering.tape_index import called
from ..state import State

# What the C library computes sooner than a polynomial, one number at a time.
LIBRARY = {"exp", "log"}


def one_by_one(state: State, program: ir.Block) -> None:
    """Rewrite a native program, in place."""
    if LIBRARY & state.imported:
        visit(program, False)


def visit(block: ir.Block, vector: bool) -> None:
    """Rewrite a block; `vector` tells whether it is in a loop of which vector code may come."""
    for stmt in block:
        inside = may_be_vector(stmt) if isinstance(stmt, ir.Loop) else vector
        for inner in ir.bodies(stmt):
            visit(inner, inside)
        if not vector:
            for expr in ir.expressions(stmt):
                rewrite(expr)


def rewrite(expr: Any) -> None:
    for node in ir.nodes(expr):
        if isinstance(node, gast.Call) and called(node) in LIBRARY:
            node.func = ir.dotted(f"math.{called(node)}")


def may_be_vector(loop: ir.Loop) -> bool:
    """True if the iterations of a loop may be run side by side."""
    if loop.kind != "range" or loop.stop is not None:
        return False
    inner = list(ir.walk(loop.body))
    if any(isinstance(stmt, ir.Loop) or gives_up(stmt) for stmt in inner):
        return False
    return all(is_sum(c, inner) for c in loop.carries) and not reads_back(inner)


def gives_up(stmt: Any) -> bool:
    return isinstance(stmt, ir.Effect) and isinstance(stmt.expr, (gast.Assert, gast.Raise))


def is_sum(carry: ir.Carry, body: ir.Block) -> bool:
    """True if all that is done with a carried number is to add to it."""
    readers = [stmt for stmt in body if carry.phi in ir.reads(stmt)]
    if carry.next == carry.phi or not readers:
        return True
    first = readers[0]
    plain = isinstance(first, ir.Let) and isinstance(first.expr, gast.BinOp)
    return (
        len(readers) == 1
        and plain
        and first.targets == (carry.next,)
        and isinstance(first.expr.op, (gast.Add, gast.Sub))
    )


def reads_back(body: ir.Block) -> bool:
    """True if a loop reads other places of an array than the one that it writes."""
    written: dict[str, set[str]] = {}
    for stmt in body:
        if isinstance(stmt, ir.Store):
            written.setdefault(stmt.base, set()).add(gast.dump(stmt.index))
    if any(len(places) > 1 for places in written.values()):
        return True
    read = [
        n for stmt in body for expr in ir.expressions(stmt) for n in ir.nodes(expr) if isinstance(n, gast.Subscript)
    ]
    found = [(n.value.id, gast.dump(n.slice)) for n in read if isinstance(n.value, gast.Name)]
    return any(name in written and place not in written[name] for name, place in found)
