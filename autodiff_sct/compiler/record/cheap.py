"""What costs no more to compute again than to save."""

from __future__ import annotations

from typing import Any

import gast

from .. import ir

ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def is_arithmetic(expr: Any) -> bool:
    """Whether an expression is one of the four operations, a change of sign or a square."""
    if isinstance(expr, gast.UnaryOp):
        return isinstance(expr.op, gast.USub)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow):
        return isinstance(expr.right, gast.Constant) and expr.right.value in (2, 2.0)
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, ARITHMETIC)


def is_math(stmt: ir.Let) -> bool:
    """Whether a statement calls `float` or a function of `math`, which take no longer than to save a number."""
    if stmt.op is None or not isinstance(stmt.expr, gast.Call):
        return False
    return stmt.op.fn is float or stmt.op.fn.__module__ == "math"


def is_test(expr: Any) -> bool:
    """Whether an expression compares numbers, or is a test the other way round."""
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Not):
        return isinstance(expr.operand, gast.Name) or is_test(expr.operand)
    operands = [expr.left, *expr.comparators] if isinstance(expr, gast.Compare) else [None]
    return all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)
