"""Tangents of functions of lists that are no linear function of one list."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ....errors import NoRule
from ....rules.table import BY_ITEM
from ....runtime import broadcast
from ... import ir
from ...domain.facts import Listed
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op
from ..reverse.cotangents import facts_like, helper

if TYPE_CHECKING:
    from ...ir.builder import Specialiser
    from .transform import Forward


def sum_from(f: Forward, stmt: ir.Let, op: ir.Op, names: list[str]) -> Value:
    """``sum(items, start)``"""
    items, start = op.arguments
    alone = replace(stmt, expr=ir.call(stmt.expr.func, stmt.expr.args[0]))
    added = f.linear(alone, op, items) if items in names else Const(None)
    total = f.plus(added, f.of(op.arguments[start].name) if start in names else Const(None))
    first = f.s.num(op.arguments[start])
    if first is None or first.dims == ():
        return total
    # The tangents of items that are broadcast beside an array to begin with may be smaller than it.
    full = helper(f.s, broadcast.spread, total, Leaf(stmt.target))
    return f.s.let(full, facts_like(f.s, stmt.target), may_raise=False)


def multilinear(f: Forward, stmt: ir.Let, op: ir.Op) -> Value:
    """The sum of the values of a function of a list with one item at a time replaced by its tangent."""
    (items,) = op.arguments.values()
    total: Value = Const(None)
    for tangent, k in f.inputs(items):
        replaced = ListV(tuple(tangent if k == j else item for j, item in enumerate(items.items)))
        expr = ir.call(stmt.expr.func, f.s.expr(replaced))
        total = f.plus(total, emit_op.apply(f.s, op.fn, expr, [replaced], {}))
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


def without_constants(s: Specialiser, stmt: ir.Let, argument: Value) -> Any:
    """The expression of a statement with zeros for the numbers written into a list that it reads."""
    flat = zeros_for_constants(argument)
    if flat == argument:
        return stmt.expr
    wanted = gast.dump(s.expr(argument))
    found = [node for node in gast.walk(stmt.expr) if gast.dump(node) == wanted]
    if len(found) != 1:
        raise NoRule(
            "numbers in this list have no forward rule",
            "make arrays of them first",
            stmt.origin,
            code="no-forward-rule",
        )
    return Exchange(found[0], s.expr(flat)).visit(stmt.expr)


def zeros_for_constants(value: Value) -> Value:
    """A list with zeros for its numbers."""
    if isinstance(value, TupleV):
        return TupleV(tuple(zeros_for_constants(v) for v in value.items), value.cls)
    if isinstance(value, ListV):
        return ListV(tuple(zeros_for_constants(v) for v in value.items), value.site)
    return Const(0.0) if isinstance(value, Const) and isinstance(value.value, (int, float, complex)) else value


class Exchange(gast.NodeTransformer):
    """Put an expression in the place of one node; nothing that is shared changes."""

    def __init__(self, old: Any, new: Any) -> None:
        self.old, self.new = old, new

    def visit(self, node: Any) -> Any:
        if node is self.old:
            return self.new
        changes = {}
        for field, value in gast.iter_fields(node):
            if isinstance(value, list):
                changes[field] = [self.visit(v) if isinstance(v, gast.AST) else v for v in value]
            else:
                changes[field] = self.visit(value) if isinstance(value, gast.AST) else value
        return gast.copy_location(type(node)(**changes), node) if changes else node


def takes_items(row: Any, fn: Any, parameter: str) -> bool:
    """True if a forward rule gives the share of each item of a list, and not that of the list as an array."""
    starred = row.signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL
    return starred or fn in (max, min, math.prod, math.dist, np.select, np.choose) or fn in BY_ITEM


def refuse_lists(s: Specialiser, row: Any, op: ir.Op, p: str, origin: Any) -> None:
    """Refuse a list that carries a derivative, where the rule of the function takes none."""
    argument = op.arguments[p]
    listed = isinstance(argument, Leaf) and isinstance(s.facts[argument.name], Listed)
    if listed and op.fn not in (max, min, math.prod, math.dist):
        raise NoRule(
            f"{getattr(op.fn, '__name__', op.fn)} of a list whose length is known only at run time has no forward rule",
            "use the NumPy function on an array",
            origin,
            code="no-forward-rule",
        )
    if isinstance(argument, (ListV, TupleV)) and not takes_items(row, op.fn, p):
        raise NoRule(
            f"{getattr(op.fn, '__name__', op.fn)} of a list has no forward rule",
            "use np.array of the list",
            origin,
            code="no-forward-rule",
        )
