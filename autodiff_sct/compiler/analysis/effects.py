"""Effects: the writes of statements, and whether they touch the memory of a variable."""

from __future__ import annotations

from typing import Any

from .. import ir
from ..ir.builder import Specialiser
from .alias import roots_of, written_arguments


def touches(s: Specialiser, stmt: Any, region: frozenset[int] | set[int], writing: bool) -> bool:
    """True if a statement writes to (or, unless `writing`, reads) memory of a region."""
    return any(touches_itself(s, inner, region, writing) for inner in ir.inside(stmt))


def touches_itself(s: Specialiser, stmt: Any, region: frozenset[int] | set[int], writing: bool) -> bool:
    """The same for a statement without the blocks inside it."""
    kind = type(stmt)
    if kind is ir.Store and not region.isdisjoint(roots_of(s.facts[stmt.base])):
        return True
    if writing and kind is not ir.Effect:
        return False
    return any(not region.isdisjoint(roots_of(s.facts[n])) for n in ir.reads(stmt))


def is_loop(stmt: Any) -> bool:
    return isinstance(stmt, ir.Loop)


def written_names(stmt: Any) -> set[str]:
    """The variables through which a statement and the blocks inside it may write memory."""
    names: set[str] = set()
    for inner in ir.inside(stmt):
        names |= set(written_arguments(inner).values())
        if isinstance(inner, ir.Store):
            names.add(inner.base)
        elif (isinstance(inner, ir.Effect) and inner.kind != "save") or (
            isinstance(inner, ir.Let) and (inner.effect or inner.in_place)
        ):
            names |= set(ir.reads(inner))
    return names
