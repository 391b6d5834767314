"""Expressions with a minus sign in front, and where in a product that stands."""

from __future__ import annotations

from typing import Any

import gast


def signed(expr: Any) -> Any:
    """A product with its sign at its first factor."""
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        return gast.BinOp(signed(expr.left), expr.op, expr.right)
    return gast.UnaryOp(gast.USub(), expr)


def signed_first(expr: Any) -> Any:
    """A number with its sign where a product begins: ``-(a * b) * c`` is ``-a * b * c``."""
    if is_negative(expr):
        return negated(expr.operand) or signed(expr.operand)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Mult, gast.Div)):
        return gast.BinOp(signed_first(expr.left), expr.op, expr.right)
    return expr


def negated(expr: Any) -> Any | None:
    """What an expression with a minus sign in front is the negative of."""
    if is_negative(expr):
        return expr.operand
    if not isinstance(expr, gast.BinOp):
        return None
    left = negated(expr.left)
    if isinstance(expr.op, gast.Sub):
        return None if left is None else gast.BinOp(left, gast.Add(), expr.right)
    if not isinstance(expr.op, (gast.Mult, gast.Div, gast.MatMult)):
        return None
    if left is not None:
        return gast.BinOp(left, expr.op, expr.right)
    right = negated(expr.right) if isinstance(expr.op, gast.MatMult) else None
    return None if right is None else gast.BinOp(expr.left, expr.op, right)


def is_negative(expr: Any) -> bool:
    return isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub)
