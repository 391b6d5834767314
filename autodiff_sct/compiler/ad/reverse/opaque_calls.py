"""Calls of functions of which nothing is known, and that may write into the arrays that they are given.

An array that carries a derivative is never given to one (see `activity`).  Of any other array, the reverse sweep must
not read what was in it before such a call.
"""

from __future__ import annotations

from typing import Any

from ....errors import AliasError
from ....rules.table import TABLE
from ... import ir
from ...domain.facts import Num
from ..checkpoint.plan import is_draw, may_write
from ..tape.required_restores import is_needed, readings
from .transform import Reverse


def refuse_unseen(r: Reverse, reverse: ir.Block) -> None:
    """Refuse calls that may change memory whose content from before is needed."""
    given = {stmt: memory for stmt in r.order if is_draw(stmt) and (memory := memory_given(r, stmt))}
    if not given:
        return
    found = readings(r, reverse, {}, set().union(*given.values()))
    for stmt, memory in given.items():
        if any(is_needed(r, stmt, region, found) for region in memory):
            raise AliasError(
                "a function of which nothing is known may write into an array whose content is needed later",
                "give it a copy (`x.copy()`)",
                stmt.origin,
                code="unknown-write",
            )


def memory_given(r: Reverse, stmt: ir.Let) -> set[int]:
    """The regions of the arrays that a function is given which may write into them."""
    if stmt.op is None or stmt.op.fn in TABLE or not may_write(r, stmt):
        return set()
    first = stmt.op.arguments.get("argument 0")
    base = getattr(stmt.expr.func, "value", None)  # methods of arrays that write are known
    names = {n for value in stmt.op.arguments.values() for n in r.s.leaves(value)}
    if first is not None and base is not None and is_array(r, getattr(first, "name", "")):
        names -= set(ir.names_in(base))
    return {region for n in names if is_array(r, n) and (region := r.regions.of(n)) is not None}


def is_array(r: Reverse, name: Any) -> bool:
    facts = r.s.facts.get(name)
    return isinstance(facts, Num) and facts.kind == "array"
