"""What the reverse sweep computes again raises there, if it does: nobody need compute it before for that alone.

::

    for i in range(n):                          (gone)
        r = math.sqrt(x[i])
        total += 1.0 / r
    for i in range(n - 1, -1, -1):              for i in range(n - 1, -1, -1):
        r = math.sqrt(x[i])                         r = math.sqrt(x[i])
        d_x[i] = -d_total / (r * r * 2 * r)         d_x[i] = -d_total / (r * r * 2 * r)

That is so for what runs in the reverse sweep exactly where it ran before: in the same iterations and on the same sides
of branches.  Where several of them would raise, it is the last instead of the first that does.  A program that does
anything besides computing, or that catches what is raised, stays as it is.
"""

from __future__ import annotations

from typing import Any

from ... import ir


def raising_only(forward: ir.Block, reverse: ir.Block) -> set[Any]:
    """The statements of the forward sweep that need not stay because they may raise."""
    if any(has_effect(stmt) for stmt in ir.walk(forward)):
        return set()
    found: list[ir.Let] = []
    match(forward, reverse, found)
    for copy in found:
        copy.origin = copy.repeats.origin  # for tracebacks
    return {copy.repeats for copy in found}


def has_effect(stmt: Any) -> bool:
    if isinstance(stmt, ir.Let):
        return stmt.effect
    return isinstance(stmt, (ir.Try, ir.With)) or (isinstance(stmt, ir.Effect) and stmt.kind != "save")


def match(forward: ir.Block, reverse: ir.Block, found: list[ir.Let]) -> None:
    """Note the statements in `reverse` that compute one of `forward` again, whenever that block has run."""
    run = set(forward)
    for stmt in reverse:
        primal = getattr(stmt, "primal", None)
        if isinstance(stmt, ir.Let):
            if stmt.repeats in run and stmt.repeats.may_raise:
                found.append(stmt)
        elif primal is None or primal not in run:
            continue
        elif isinstance(stmt, ir.Loop) and stmt.rerun is None:
            match(primal.body, stmt.body, found)
        elif isinstance(stmt, ir.If) and isinstance(primal, ir.If):
            match(primal.then, stmt.then, found)
            match(primal.orelse, stmt.orelse, found)
