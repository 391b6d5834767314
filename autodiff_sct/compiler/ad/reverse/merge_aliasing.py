"""Variables that may stand for one piece of memory.

u, w = x.copy(), np.zeros_like(x)     two arrays; so they are after ``u, w = w, u``, in each step of a loop
u, w = a, a[1:]                       one, under two names
u, w = rows[0], rows[1]               perhaps one
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ... import ir
from ...analysis.alias import roots_of
from ...domain.facts import Num

if TYPE_CHECKING:
    from .transform import Reverse

ONE_ARRAY = "two names carried around a loop are one array that is written"


def refuse_one_memory(r: Reverse, stmt: ir.Loop, carries: list[ir.Carry]) -> None:
    """Two names that are carried around a loop must not be one array: each has a shadow of its own."""
    for names in ([c.init for c in carries], [c.next for c in carries]):
        written = [n for n in names if n is not None and r.has_shadow(n)]
        for a, b in combinations(written, 2):
            if may_be_one(r, a, b):
                raise r.shadows.lost(a, ONE_ARRAY, "copy it", stmt.origin)


def may_be_one(r: Reverse, a: str, b: str) -> bool:
    """True if two variables may share memory."""
    return any(meet(r, p, q) for p in sources(r, a) for q in sources(r, b))


def sources(r: Reverse, name: str) -> set[str]:
    """The variables whose memory a variable is, or is a part of."""
    stmt = r.makers.get(name)
    if isinstance(stmt, ir.Let) and stmt.op is not None and stmt.op.shares:
        return {n for base in stmt.op.shares for n in sources(r, base)}
    if isinstance(stmt, ir.If):
        sides = [n for m in stmt.merges if m.target == name for n in (m.then, m.orelse) if n]
        return {n for side in sides for n in sources(r, side)}
    return {name}


def meet(r: Reverse, p: str, q: str) -> bool:
    """True if two sources may be one array."""
    if p == q:
        return True
    if not roots_of(r.s.facts[p]) & roots_of(r.s.facts[q]):
        return False
    loop = r.makers.get(p)
    if loop is r.makers.get(q) and isinstance(loop, ir.Loop):
        names = {c.phi for c in loop.carries}, {c.out for c in loop.carries}
        return not any(p in side and q in side for side in names)  # they have begun as two
    later, earlier = (p, q) if r.first.get(p, -1) > r.first.get(q, -1) else (q, p)
    return not is_made(r, later) or r.first.get(later) == r.first.get(earlier)


def is_made(r: Reverse, name: str) -> bool:
    """True if the memory of a variable is made where the variable is."""
    stmt = r.makers.get(name)
    if not isinstance(stmt, ir.Let) or stmt.op is None or stmt.op.shares:
        return False
    return all(isinstance(r.s.facts[n], Num) for n in ir.reads(stmt))
