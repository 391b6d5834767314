"""Comparisons of one variable with two others are one comparison, and an ``and`` inside an ``and`` is part of it.

::

    (0 <= i and i < n) and 0 <= j and j < m    ->    0 <= i < n and 0 <= j < m
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir


def chain(program: ir.Block) -> None:
    """Rewrite the tests of a program, in place."""
    for stmt in ir.walk(program):
        for part in ("expr", "test"):
            expr = getattr(stmt, part, None)
            if type(expr) in (gast.BoolOp, gast.IfExp, gast.UnaryOp):
                setattr(stmt, part, chained(expr))


def chained(expr: Any) -> Any:
    if isinstance(expr, gast.IfExp):
        return gast.IfExp(chained(expr.test), chained(expr.body), chained(expr.orelse))
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Not):
        return gast.UnaryOp(expr.op, chained(expr.operand))
    if not isinstance(expr, gast.BoolOp):
        return expr
    values: list[Any] = []
    for value in map(chained, expr.values):
        inner = isinstance(value, gast.BoolOp) and type(value.op) is type(expr.op)
        for part in value.values if inner else [value]:
            if isinstance(expr.op, gast.And) and values and follows(values[-1], part):
                values[-1] = joined(values[-1], part)
            else:
                values.append(part)
    return gast.BoolOp(expr.op, values) if len(values) > 1 else values[0]


def follows(first: Any, second: Any) -> bool:
    """Whether one comparison ends with the variable that another begins with."""
    if not isinstance(first, gast.Compare) or not isinstance(second, gast.Compare):
        return False
    end, start = first.comparators[-1], second.left
    return isinstance(end, gast.Name) and isinstance(start, gast.Name) and end.id == start.id


def joined(first: Any, second: Any) -> Any:
    return gast.Compare(first.left, [*first.ops, *second.ops], [*first.comparators, *second.comparators])
