"""Selections of a cotangent by a condition, with 0 elsewhere, are made by the bits of the numbers in large arrays.

::

    d_x = np.where(x > 0.0, d_y, 0.0)
    ->
    d_x = select(x > 0.0, d_y, 0.0)

`select` gives the same numbers (see `runtime.selection`).  For vectors in loops, which are
mostly short, looking at their size is not worth it.
"""

from __future__ import annotations

from typing import Any

import gast

from ....runtime.selection import select
from ... import ir
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import literal
from ...ir.rewrite import with_operands
from .canonicalize import cotangents
from .ties import is_selection


def select_quickly(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the cotangents that a block of the reverse sweep computes, in place."""
    looped = {id(x) for stmt in ir.walk(block) if isinstance(stmt, ir.Loop) for x in ir.walk(stmt.body)}
    halves = {x.target for x in ir.adjoint_walk(block) if isinstance(x, ir.Let) and is_half(x.expr)}
    for stmt, part in cotangents(s, block):
        expr = getattr(stmt, part)
        if any(type(node) is gast.Call and is_selection(node) for node in ir.nodes_in(expr)):
            setattr(stmt, part, quick(s, expr, 2 if id(stmt) in looped else 1, halves))


def quick(s: Specialiser, expr: Any, axes: int, halves: set[str]) -> Any:
    """An expression whose selections by arrays of so many axes and more are quick."""
    expr = with_operands(expr, lambda e: quick(s, e, axes, halves))
    if not is_selection(expr) or not any(has_axes(s, e, axes) for e in expr.args[:2]):
        return expr
    other = expr.args[2]
    if literal(other) != 0 and not is_half(other) and getattr(other, "id", "") not in halves:
        return expr
    return ir.call(s.bind("select", select), *expr.args)


def is_half(other: Any) -> bool:
    """True if an expression is the half of a cotangent where two arrays tie, and so mostly 0."""
    return isinstance(other, gast.Call) and getattr(other.func, "id", "") == "half_where"


def has_axes(s: Specialiser, expr: Any, axes: int) -> bool:
    """Whether a variable, or one side of a comparison, is an array of doubles or of truth values with so many axes."""
    if isinstance(expr, gast.Compare):
        return any(has_axes(s, side, axes) for side in (expr.left, *expr.comparators))
    facts = s.facts.get(expr.id) if isinstance(expr, gast.Name) else None
    known = isinstance(facts, Num) and facts.kind == "array" and facts.dtype is not None and not facts.tensor
    return known and facts.dtype.kind in "bf" and (facts.ndim or 0) >= axes  # type: ignore[union-attr]
