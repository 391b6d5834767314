"""A counter with a number added is written where it is read, and has a name only where it is read often.

::

    t = i - 1                              d_w = d_t * d[i - 1]
    d_w = d_t * d[t]                       w = a[i - 1] / b[i - 1]
    t2, t3 = i - 1, i - 1          ->
    w = a[t2] / b[t3]

    for j in range(n):                     before = i - 1
        x[i - 1] += y[i - 1, j]    ->      for j in range(n):
                                               x[before] += y[before, j]

Such a number cannot fail and changes with its loop only, whose body it may begin.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ... import ir
from ...domain.facts import INT
from ...ir.builder import Specialiser
from ...ir.rewrite import change_own, replaced_node
from .forward_substitution import substitute_own

OFTEN = 3  # places that read one
CALLED = {(gast.Add, 1): "after", (gast.Sub, 1): "before"}


def rematerialize_counters(s: Specialiser, program: ir.Block) -> None:
    """Write counters with a number added where they are read, in place."""
    counters = counters_of(program)
    if not counters:
        return
    statements = ir.walk(program)
    found = {
        stmt.target: stmt.expr
        for stmt in statements
        if isinstance(stmt, ir.Let)
        and len(stmt.targets) == 1
        and stmt.target not in s.named
        and is_count(stmt.expr, counters)
    }
    passed_on = {n for stmt in statements for n in handed_on(stmt)}
    found = {name: expr for name, expr in found.items() if name not in passed_on}
    if not found:
        return
    for stmt in statements:
        substitute_own(stmt, found)
    for block in ir.blocks(program):
        block[:] = [x for x in block if not (isinstance(x, ir.Let) and x.target in found)]


def name_counters(s: Specialiser, back: ir.Block) -> None:
    """Give a name to those that the reverse sweep reads often, in place; the forward sweep stays as it is written."""
    for loop in [stmt for stmt in ir.adjoint_walk(back) if isinstance(stmt, ir.Loop)]:
        counter = loop.index
        if counter is None or loop.kind != "range":
            continue
        inside = ir.walk(loop.body)
        inner = {x for stmt in inside if isinstance(stmt, ir.Loop) for x in ir.walk(stmt.body)}
        found: dict[str, Any] = {}
        again: set[str] = set()  # those that a loop inside reads
        reads = Counter[str]()
        for stmt in inside:
            for node in (n for e in read_by(stmt) for n in outside_slices(e) if is_count(n, {counter})):
                key = gast.dump(node)
                found.setdefault(key, node)
                reads[key] += 1
                again |= {key} if stmt in inner else set()
        for key, node in found.items():
            if reads[key] >= OFTEN - (key in again):
                begin_with(s, loop, inside, key, node)


def begin_with(s: Specialiser, loop: ir.Loop, inside: ir.Block, key: str, node: Any) -> None:
    """Let the body of a loop begin with a number under a name of its own."""
    name = s.fresh(CALLED.get((type(node.op), node.right.value), "t"), INT)
    for stmt in inside:
        change_own(stmt, lambda expr: replaced_node(expr, node, ir.name(name)))
    loop.body.insert(0, ir.Let((name,), node))


def counters_of(program: ir.Block) -> set[str]:
    """The counters of loops over ranges."""
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop) and stmt.kind == "range"]
    return {x.index for x in loops if x.index is not None}


def is_count(expr: Any, counters: set[str]) -> bool:
    """True if an expression is a counter with a number added or taken away."""
    return (
        isinstance(expr, gast.BinOp)
        and isinstance(expr.op, (gast.Add, gast.Sub))
        and getattr(expr.left, "id", None) in counters
        and isinstance(expr.right, gast.Constant)
        and type(expr.right.value) is int
    )


def handed_on(stmt: Any) -> list[str]:
    """The variables that a statement gives other variables."""
    if isinstance(stmt, ir.Loop):
        return [n for c in stmt.carries for n in (c.init, c.next) if n] + (
            [*stmt.rerun.names.values()] if stmt.rerun is not None else []
        )
    if isinstance(stmt, ir.If):
        return [n for m in stmt.merges for n in (m.then, m.orelse) if n]
    return [n for _, sources in stmt.merges for n in sources if n] if isinstance(stmt, ir.Try) else []


def read_by(stmt: Any) -> list[Any]:
    """The expressions of a statement in which a number gets a name; the bounds of loops are left."""
    return [] if isinstance(stmt, (ir.Loop, ir.With, ir.Raise, ir.Return)) else ir.expressions(stmt)


def outside_slices(expr: Any) -> list[Any]:
    """The nodes of an expression but for the bounds of slices, ``a[i : i + 2]``."""
    if isinstance(expr, gast.Slice):
        return []
    return [expr, *(node for child in ir.children(expr) for node in outside_slices(child))]
