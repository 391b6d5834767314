"""Comparisons that the reverse of a loop makes are made in the forward sweep, and their truth values saved.

::

    for i in range(n):                            for i in range(n):
        t = w @ x                                     t = w @ x
        saved_t.append(t)                             saved_positive.append(t > 0)
        x = np.maximum(t, 0)                          x = np.maximum(t, 0)
    ...                                    ->     ...
    for i in range(n - 1, -1, -1):                for i in range(n - 1, -1, -1):
        d_t = np.where(saved_t.pop() > 0, d_x, 0)     d_t = np.where(saved_positive.pop(), d_x, 0)

They are an eighth as large.  The arrays are those that a step makes and nobody writes, and no vectors, which are mostly
short; two of them have one shape, so that the comparison cannot fail.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions
from ...analysis.liveness import readers_of
from ...analysis.remarks import note
from ...domain.facts import Num
from ...ir.builder import Specialiser

MOST = 4  # comparisons of one array, which together are half as large


def compare_before(s: Specialiser, where: Regions, reverse: ir.Block, final: ir.Return) -> None:
    """Move comparisons of the loops of the reverse sweep into the loops that these reverse, in place."""
    loops = [x for x in ir.walk(reverse) if isinstance(x, ir.Loop) and x.primal is not None and not x.again]
    readers = readers_of([*ir.walk(reverse), final]) if loops else {}
    for loop in loops:
        if loop.rerun is None:
            move(s, where, loop, readers)


def move(s: Specialiser, where: Regions, loop: ir.Loop, readers: dict[str, list[Any]]) -> None:
    """Move those of one loop."""
    body = loop.primal.body
    makers = {x.target: x for x in body if isinstance(x, ir.Let) and len(x.targets) == 1}
    tests = {x: compared(x) for x in loop.body if is_comparison(s, x)}
    read = {n for names in tests.values() for n in names}
    kept = {n for n in read if n not in makers or not is_array(s, n) or where.is_written(n)}
    kept |= {n for n in read if len(readers[n]) > MOST or not tests.keys() >= {*readers[n]} - {loop}}
    while spread := {n for names in tests.values() if kept & {*names} for n in names} - kept:
        kept |= spread
    for stmt, names in tests.items():
        if kept.isdisjoint(names):
            loop.body.remove(stmt)
            body.insert(max(body.index(makers[n]) for n in names) + 1, stmt)
            note(s, stmt, "compared before, since truth values are smaller than what is compared")


def is_comparison(s: Specialiser, stmt: Any) -> bool:
    """True if a statement compares an array with another one of its shape, or with a number of the text."""
    if not isinstance(stmt, ir.Let) or not isinstance(stmt.expr, gast.Compare) or len(stmt.expr.ops) != 1:
        return False
    sides, names = (stmt.expr.left, stmt.expr.comparators[0]), compared(stmt)
    plain = all(isinstance(side, (gast.Name, gast.Constant)) for side in sides)
    facts = [s.facts.get(n) for n in names]
    if not plain or not all(isinstance(f, Num) and f.dims is not None for f in facts):
        return False
    return bool(names) and all(s.where_made(*names).are_equal(f.dims, facts[0].dims) for f in facts[1:])  # type: ignore


def is_array(s: Specialiser, name: str) -> bool:
    """True for an array with two axes and more: vectors in loops are mostly short."""
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.kind == "array" and (facts.ndim or 0) > 1 and not facts.tensor


def compared(stmt: Any) -> list[str]:
    """The variables that a statement compares."""
    return list(ir.variables_in(stmt.expr)) if isinstance(stmt, ir.Let) else []
