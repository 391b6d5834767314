"""What costs no more to compute again than to save."""

from __future__ import annotations

from typing import Any

import gast

from . import ir

ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def is_arithmetic(expr: Any) -> bool:
    """Whether an expression is one of the four operations, or a change of sign."""
    if isinstance(expr, gast.UnaryOp):
        return isinstance(expr.op, gast.USub)
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, ARITHMETIC)


def is_math(stmt: ir.Let) -> bool:
    """Whether a statement calls a function of Python's `math`, which takes no longer than to save a number."""
    return stmt.op is not None and isinstance(stmt.expr, gast.Call) and stmt.op.fn.__module__ == "math"


def is_test(expr: Any) -> bool:
    """Whether an expression compares numbers, or is a test the other way round."""
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Not):
        return isinstance(expr.operand, gast.Name) or is_test(expr.operand)
    operands = [expr.left, *expr.comparators] if isinstance(expr, gast.Compare) else [None]
    return all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)
