"""Tangents of functions of lists that are no linear function of one list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import ir
from ..specialise import arrays
from ..specialise.values import Const, ListV, Value

if TYPE_CHECKING:
    from .sweep import Forward


def sum_from(f: Forward, stmt: ir.Let, op: ir.Op, names: list[str]) -> Value:
    """``sum(items, start)``"""
    items, start = op.arguments
    alone = replace(stmt, expr=ir.call(stmt.expr.func, stmt.expr.args[0]))
    added = f.linear(alone, op, items) if items in names else Const(None)
    return f.plus(added, f.of(op.arguments[start].name) if start in names else Const(None))


def multilinear(f: Forward, stmt: ir.Let, op: ir.Op) -> Value:
    """The sum of the values of a function of a list with one item at a time replaced by its tangent."""
    (items,) = op.arguments.values()
    total: Value = Const(None)
    for tangent, k in f.inputs(items):
        replaced = ListV(tuple(tangent if k == j else item for j, item in enumerate(items.items)))
        expr = ir.call(stmt.expr.func, f.s.expr(replaced))
        total = f.plus(total, arrays.apply(f.s, op.fn, expr, [replaced], {}))
    return total


def popped(f: Forward, stmt: ir.Let) -> bool:
    """``x = items.pop()``, also of a value that nobody reads; False where the list has no tangents."""
    s = f.s
    assert stmt.op is not None
    base = stmt.op.arguments["x"].name
    if not f.active(base):
        return False
    s.block.append(stmt)
    index = map(s.expr, [stmt.op.arguments["index"]] if "index" in stmt.op.arguments else [])
    expr = ir.call(ir.attribute(s.expr(f.of(base)), "pop"), *index)
    tangent = s.let(expr, s.facts[stmt.target], effect=True)
    if f.active(stmt.target):
        f.tangents[stmt.target] = f.variable(tangent, stmt.target)
    return True
