"""Which additions at the end of a program may make a new array, so that they are part of what is returned.

::

    d_x += d_y * (2 * x)
    return d_x                ->    return d_x + d_y * (2 * x)

NumPy adds in the memory of the product either way. So what is added is made there and as large as what it is added to,
whose type the sum keeps.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import roots_of
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import is_ellipsis
from ...opt.memory.accumulation.first_touch import is_made_there
from ...opt.rewrite.contractions import Contractions


def last_sums(s: Specialiser, back: ir.Block) -> set[Any]:
    """The statements of the reverse sweep that are such additions."""
    found: set[Any] = set()
    final = back[-1] if back else None
    if not isinstance(final, ir.Return):
        return found
    returned = [n for n in ir.names_in(final.value) if ir.is_variable(n)]
    looped = any(isinstance(stmt, ir.Loop) for stmt in back)
    for stmt in reversed(back[:-1]):
        if not isinstance(stmt, (ir.Let, ir.Store)):
            break
        if is_last_sum(s, stmt, returned, looped):
            found.add(stmt)
        elif isinstance(stmt, ir.Store):
            break
    return found


def is_last_sum(s: Specialiser, stmt: Any, returned: list[str], looped: bool) -> bool:
    """Whether a statement adds a new array to one that is returned next, and that nothing else returned is part of.

    Where the sweep has a loop, that may be one that has a name: an array more is nothing beside those of its steps.
    """
    if isinstance(stmt, ir.Let):
        sums = stmt.in_place and isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, gast.Add)
        if not sums or not isinstance(stmt.expr.left, gast.Name):
            return False
        name, before, value = stmt.target, stmt.expr.left.id, stmt.expr.right
    elif stmt.aug is gast.Add and is_ellipsis(stmt.index) and adds_floats(s, stmt):
        name, before, value = stmt.base, stmt.base, stmt.value
    else:
        return False
    memory = roots_of(s.facts[name]) | roots_of(s.facts[before])
    others = [n for n in returned if n != name]
    if returned.count(name) != 1 or any(roots_of(s.facts[n]) & memory for n in others):
        return False
    return (is_made_there(value) or (looped and isinstance(value, gast.Name))) and is_as_large(s, value, before)


def adds_floats(s: Specialiser, stmt: ir.Store) -> bool:
    """Whether what is added to an array of doubles is made of real numbers only."""
    facts = [s.facts.get(n) for n in (stmt.base, *ir.names_in(stmt.value)) if ir.is_variable(n)]
    real = all(isinstance(f, Num) and f.dtype is not None and f.dtype.kind in "iuf" for f in facts)
    return real and getattr(facts[0], "dtype", None) == np.float64


def is_as_large(s: Specialiser, value: Any, name: str) -> bool:
    """Whether an expression surely has the shape of an array."""
    facts, dims = s.facts[name], Contractions(s).dims(value)
    names = [n for n in ir.names_in(value) if ir.is_variable(n)]
    return isinstance(facts, Num) and s.same_lengths(dims, facts.dims, s.where_made(name, *names))
