"""Numbers that a step reads twice from one place, or computes twice, are one number to the reverse sweep, saved once.

::

    saved_t.append(u[i])                   saved_t.append(u[i])
    face = u[i] + slope[i]          ->     face = u[i] + slope[i]
    saved_t2.append(u[i])                  rest = 1.0 - u[i]
    rest = 1.0 - u[i]

Nothing may have been written there in between.  Of what is computed, only sums, products and the like of other numbers
count, into which nothing can be written, and of those only what the step itself makes: the rest is not saved.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions
from ...analysis.ownership import is_number
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.rewrite import replaced
from .cost_model import is_arithmetic


def twins(s: Specialiser, where: Regions, block: ir.Block) -> dict[str, str]:
    """The numbers that a block reads or computes again, each with the one that was first."""
    found: dict[str, str] = {}
    known: dict[tuple[str, str], str] = {}
    computed: dict[str, str] = {}
    made: set[str] = set()  # what the block makes, and what is computed of that: the rest is there without being saved
    for stmt in block:
        if not is_computed(s, stmt):
            made.update(ir.ir_targets(stmt))
        elif not made.isdisjoint(ir.variables_in(stmt.expr)):
            made.add(stmt.target)
            key = gast.dump(replaced(stmt.expr, {n: ir.name(first) for n, first in found.items()}))
            first = computed.setdefault(key, stmt.target)
            found |= {stmt.target: first} if first != stmt.target else {}
            continue
        if is_read(s, stmt):
            first = known.setdefault((stmt.expr.value.id, gast.dump(stmt.expr.slice)), stmt.target)
            found |= {stmt.target: first} if first != stmt.target else {}
            continue
        inside = ir.inside(stmt)
        if any(isinstance(x, ir.Effect) or getattr(x, "effect", False) for x in inside):
            known.clear()
        written = {region for x in inside for region in where.written_in(x)}
        known = {place: first for place, first in known.items() if where.of(place[0]) not in written}
    return found


def is_read(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement reads a number from an array."""
    if not isinstance(stmt, ir.Let) or stmt.effect or not isinstance(stmt.expr, gast.Subscript):
        return False
    base, facts = stmt.expr.value, s.facts[stmt.target]
    if not isinstance(base, gast.Name) or not ir.is_variable(base.id) or not isinstance(facts, Num):
        return False
    return isinstance(s.facts[base.id], Num) and facts.dims == () and (facts.python or facts.kind == "npscalar")


def is_computed(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement computes a number from others by one of Python's operators."""
    if not isinstance(stmt, ir.Let) or stmt.effect or len(stmt.targets) != 1 or not is_arithmetic(stmt.expr):
        return False
    operands = ir.children(stmt.expr)
    plain = all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)
    return plain and all(is_number(s.facts[n]) for n in (stmt.target, *ir.variables_in(stmt.expr)))
