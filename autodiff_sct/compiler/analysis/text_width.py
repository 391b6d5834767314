"""The width of expressions as they will be printed."""

from __future__ import annotations

from typing import Any

import gast

COLUMNS = 88
FOREIGN = 1000  # the width of what is never put into a row


def columns_of(expr: Any) -> int:
    """The printed width of an expression, without parentheses around it."""
    kind_of = type(expr)
    if kind_of is gast.Name:
        return len(expr.id)
    if kind_of is gast.Constant:
        return 3 if expr.value is Ellipsis else len(repr(expr.value))
    if kind_of is gast.Attribute:
        return columns_of(expr.value) + 1 + len(expr.attr)
    if kind_of is gast.Subscript:
        index = expr.slice
        return columns_of(expr.value) + 2 + (listed(index.elts) if type(index) is gast.Tuple else columns_of(index))
    if kind_of is gast.BinOp:
        wide = isinstance(expr.op, (gast.Pow, gast.FloorDiv))
        return columns_of(expr.left) + 3 + wide + columns_of(expr.right)
    if kind_of is gast.UnaryOp:
        return 1 + columns_of(expr.operand)
    if kind_of is gast.Call:
        words = sum(len(k.arg or "") + 3 + columns_of(k.value) for k in expr.keywords)
        return columns_of(expr.func) + 2 + listed(expr.args) + words
    if kind_of in (gast.Tuple, gast.List):
        return 2 + listed(expr.elts)
    if kind_of is gast.Compare:
        return columns_of(expr.left) + sum(columns_of(e) + 4 for e in expr.comparators)
    if kind_of is gast.BoolOp:
        return sum(columns_of(e) + 5 for e in expr.values) - 5
    if kind_of is gast.IfExp:
        return columns_of(expr.body) + columns_of(expr.test) + columns_of(expr.orelse) + 10
    if kind_of is gast.Dict:
        return 2 + sum(columns_of(e) + 2 for e in [*expr.keys, *expr.values])
    if kind_of is gast.ListComp:
        return 2 + columns_of(expr.elt) + sum(map(columns_of, expr.generators))
    if kind_of is gast.comprehension:
        return 9 + columns_of(expr.target) + columns_of(expr.iter) + sum(columns_of(e) + 4 for e in expr.ifs)
    if kind_of is gast.Slice:
        stepped = expr.step is not None
        return 1 + stepped + sum(columns_of(part) for part in (expr.lower, expr.upper, expr.step) if part is not None)
    return FOREIGN


def listed(exprs: list[Any]) -> int:
    """The printed width of expressions with commas between them."""
    return sum(map(columns_of, exprs)) + 2 * max(len(exprs) - 1, 0)
