"""Copy propagation: the result of a branch is read in the branch that reverses it under its name after it.

::

    if n > 1.0:                             if n > 1.0:
        y2 = y / n                              y2 = y / n
        y3 = y2                             else:
    else:                                       y2 = y
        y3 = y                      ->      ...
    ...                                     if n > 1.0:
    if n > 1.0:                                 d_n = -(np.vdot(d_y, y2) / n)
        d_n = -(np.vdot(d_y, y2) / n)

It is the same value, and two names for it would need a copy.
"""

from __future__ import annotations

from ... import ir
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.rewrite import read_instead


def propagate_merges(s: Specialiser, back: ir.Block) -> None:
    """Rewrite the branches of the reverse sweep that stand outside loops, in place."""
    for stmt in back:
        if not isinstance(stmt, ir.If):
            continue
        primal = stmt.primal if isinstance(stmt.primal, ir.If) else None
        for side in ("then", "orelse"):
            body = getattr(stmt, side)
            propagate_merges(s, body)
            if primal is not None:
                made = ir.defined(getattr(primal, side))
                sources = [(getattr(m, side), m.target) for m in primal.merges]
                names = {a: b for a, b in sources if a in made and is_alike(s, a, b)}
                for inner in ir.walk(body) if names else ():
                    read_instead(inner, names)


def is_alike(s: Specialiser, name: str, merged: str) -> bool:
    """True if the same is known of what one path hands on as of what comes from all of them."""
    one, other = s.facts[name], s.facts[merged]
    if not isinstance(one, Num) or not isinstance(other, Num) or {name, merged} & s.unbound:
        return False
    return (one.kind, one.dtype, one.dims) == (other.kind, other.dtype, other.dims)
