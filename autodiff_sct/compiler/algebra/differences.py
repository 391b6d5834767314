"""A sign that is left in front of a product turns a difference in it around: one pass over an array less.

==============================  ==========================
``-(d_y * (1 - t * t))``        ``d_y * (t * t - 1)``
``-d_y * x * (a - b) / c``      ``d_y * x * (b - a) / c``
==============================  ==========================

Rounding does not know signs, so the bits are the same, but for that of a zero.
"""

from __future__ import annotations

from typing import Any

import gast

from .. import ir
from ..negatives import is_negative
from ..specialise.state import Specialiser
from ..substitution import with_operands
from .spelling import Spelling, cotangents, rewrite

PRODUCTS = (gast.Mult, gast.Div)


def turn_differences(s: Specialiser, back: ir.Block) -> None:
    """Rewrite the cotangents of the reverse sweep, in place."""
    differences = Differences(Spelling(s))
    for stmt, part in cotangents(s, back):
        expr = getattr(stmt, part)
        if any(map(is_negative, ir.nodes_in(expr))):
            rewrite(stmt, part, differences.without_sign(expr))


class Differences:
    """Which differences may be turned around: those of integers without a sign would be other numbers."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling

    def without_sign(self, expr: Any) -> Any:
        """An expression whose parts have no sign where a difference in a product can have it."""
        found = None
        if is_negative(expr):
            found = self.turned(expr.operand)
        elif is_product(expr):
            positive = unsigned(expr)
            found = None if positive is None else self.turned(positive)
        return with_operands(expr if found is None else found, self.without_sign)

    def turned(self, expr: Any) -> Any | None:
        """The negative of a product, by way of a difference that is one of its factors."""
        if not isinstance(expr, gast.BinOp):
            return None
        if isinstance(expr.op, gast.Sub):
            return ir.operation(expr.right, expr.op, expr.left) if self.is_of_floats(expr) else None
        if not is_product(expr):
            return None
        right = self.turned(expr.right) if isinstance(expr.op, gast.Mult) else None
        if right is not None:
            return ir.operation(expr.left, expr.op, right)
        left = self.turned(expr.left)
        return None if left is None else ir.operation(left, expr.op, expr.right)

    def is_of_floats(self, expr: Any) -> bool:
        dtypes = self.spelling.dtypes([expr])
        compared = any(isinstance(node, gast.Compare) for node in ir.nodes_in(expr))
        return bool(dtypes) and not compared and all(dtype is not None and dtype.kind in "fc" for dtype in dtypes)


def unsigned(expr: Any) -> Any | None:
    """A product whose first factor has a sign, without that."""
    if is_negative(expr):
        return expr.operand
    first = unsigned(expr.left) if is_product(expr) else None
    return None if first is None else ir.operation(first, expr.op, expr.right)


def is_product(expr: Any) -> bool:
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, PRODUCTS)
