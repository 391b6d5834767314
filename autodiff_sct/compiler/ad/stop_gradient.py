"""Writes through a name that ``stop_gradient`` returned.

``stop_gradient`` returns the array itself, through which no derivative passes.  What is read of it is a constant; a
write into it would change an array that carries a derivative in a place where the reverse sweep does not see it.
"""

from __future__ import annotations

import operator

from ...errors import AliasError
from .. import ir
from ..analysis.alias import Regions, changed_through
from ..ir.builder import Specialiser
from .activity import Activity
from .value_flow import joins


def refuse_writes(s: Specialiser, block: ir.Block, where: Regions, active: Activity) -> None:
    """Refuse a write into an array that carries a derivative, through a name for which that derivative is stopped."""
    if not s.stopped:
        return
    names = with_views(s, block)
    for stmt in ir.walk(block):
        for base in changed_through(stmt):
            if base in names and where.of(base) in active.varied_regions:
                raise AliasError(
                    f"what stop_gradient returned ({s.in_words(base)}) is written, and is an array with a derivative",
                    "write into a copy: `stop_gradient(x).copy()`",
                    stmt.origin,
                )


def with_views(s: Specialiser, block: ir.Block) -> set[str]:
    """The names that ``stop_gradient`` returned, and those of what is part of them."""
    names: set[str] = set()
    found = set(s.stopped)
    while found - names:
        names |= found
        for stmt in ir.walk(block):
            if isinstance(stmt, ir.Let) and stmt.op is not None and any(n in names for n in sources(s, stmt.op)):
                found |= set(stmt.targets)
            found |= {target for target, inner in joins(stmt) if any(n in names for n in inner)}
    return names


def sources(s: Specialiser, op: ir.Op) -> list[str]:
    """The operands whose memory the result may be."""
    if op.fn is operator.getitem:
        return [*op.shares, *s.leaves(op.arguments["x"])]
    return list(op.shares)
