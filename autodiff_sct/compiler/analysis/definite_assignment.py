"""Variables that may not be bound: those that leave a branch or a loop which assigned them on some paths only.

Nothing may be read of such a variable where the program itself does not read it, not even its shape.
"""

from __future__ import annotations

from itertools import count

from .. import ir
from ..ir.patterns import literal


def unbound(block: ir.Block) -> set[str]:
    """The variables of a program that are not bound on every path that leads to them."""
    found = read_beside(block)
    joins = [pair for stmt in ir.walk(block) for pair in sources(stmt)]
    changed = True
    while changed:
        before = len(found)
        for target, names in joins:
            if any(n is None or n in found for n in names):
                found.add(target)
        changed = len(found) != before
    return found


def read_beside(block: ir.Block) -> set[str]:
    """The variables of a branch or a loop that are read outside it: where the value at hand is one of several kinds.

    Of ``if test: b = l[-1]``, ``if test: f(b)`` the second branch reads the variable of the first one.  After a ``try``
    whose other paths all raise, the variables of the path that goes on are bound.
    """
    home: dict[str, tuple[int, ...]] = {}
    found: set[str] = set()
    number = count()

    def visit(inner: ir.Block, path: tuple[int, ...]) -> None:
        for stmt in inner:
            found.update(n for n in ir.reads(stmt) if n in home and path[: len(home[n])] != home[n])
            home.update(dict.fromkeys(ir.ir_targets(stmt), path))
            for body in ir.bodies(stmt):
                visit(body, path if isinstance(stmt, ir.With) else (*path, next(number)))
            if isinstance(stmt, ir.Try) and (only := only_path(stmt)) is not None:
                taken = [stmt.body, *(handler[2] for handler in stmt.handlers)][only]
                home.update({name: path for each in taken for name in ir.ir_targets(each)})

    visit(block, ())
    return found


def sources(stmt: object) -> list[tuple[str, list[str | None]]]:
    """The variables that a control statement defines, each with what it may stand for; None for nothing."""
    if isinstance(stmt, ir.If):
        return [(m.target, [m.then, m.orelse]) for m in stmt.merges]
    if isinstance(stmt, ir.Try):
        return [(target, [n for k, n in enumerate(names) if k not in stmt.ended]) for target, names in stmt.merges]
    if isinstance(stmt, ir.Loop):
        steps = [(c.phi, [c.init, c.next]) for c in stmt.carries]
        return steps + [(c.out, [c.next] if surely_runs(stmt) else [c.init, c.next]) for c in stmt.carries]
    return []


def surely_runs(loop: ir.Loop) -> bool:
    """True if a loop goes over a range that is written out and not empty."""
    bounds = [literal(b) for b in loop.bounds]
    return loop.kind == "range" and all(type(b) is int for b in bounds) and len(range(*bounds)) > 0


def only_path(stmt: ir.Try) -> int | None:
    """The path of a ``try`` that was taken wherever the program went on; None where there are several."""
    alive = [k for k in range(1 + len(stmt.handlers)) if k not in stmt.ended]
    return alive[0] if len(alive) == 1 else None


def drop_sure(block: ir.Block, unsure: set[str]) -> None:
    """Drop the reading of variables that are bound, or that have been read before, in place."""
    unsure = set(unsure)
    kept = []
    for stmt in block:
        for body in ir.bodies(stmt):
            drop_sure(body, unsure)
        if ir.is_reading(stmt):
            if stmt.expr.id not in unsure:
                continue
            unsure.discard(stmt.expr.id)
        kept.append(stmt)
    block[:] = kept
