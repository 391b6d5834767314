"""Values whose recomputation costs no more than saving them."""

from __future__ import annotations

import math
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.liveness import Liveness
from ...ir.builder import Specialiser

ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def is_arithmetic(expr: Any) -> bool:
    """True if an expression is one of the four operations, a change of sign or a square."""
    if isinstance(expr, gast.UnaryOp):
        return isinstance(expr.op, gast.USub)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow):
        return isinstance(expr.right, gast.Constant) and expr.right.value in (2, 2.0)
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, ARITHMETIC)


def is_power_of_constant(expr: Any) -> bool:
    """True if an expression is a number from the program's text to some power: ``0.9**t``."""
    power = isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow)
    return power and isinstance(expr.left, gast.Constant)


def is_math(stmt: ir.Let) -> bool:
    """True if a statement calls `float` or a function of `math`, which take no longer than to save a number."""
    if stmt.op is None or not isinstance(stmt.expr, gast.Call):
        return False
    return stmt.op.fn is float or getattr(stmt.op.fn, "__module__", "") == "math"


def is_function(stmt: ir.Let) -> bool:
    """True if a statement calls an elementwise function of NumPy's, or one of `math`, of one number."""
    if stmt.op is None or not isinstance(stmt.expr, gast.Call) or len(stmt.expr.args) != 1 or stmt.expr.keywords:
        return False
    return isinstance(stmt.op.fn, np.ufunc) or is_math(stmt)


QUICK = (float, math.sqrt, math.fabs)


def computed_anyway(s: Specialiser, forward: ir.Block, reverse: ir.Block, final: ir.Return) -> frozenset[str]:
    """The functions of `math` that machine code saves: those that take longer, and that the forward sweep computes.

    It computes what somebody reads beside the reverse sweep, for which it may be computed there.
    """
    found = {
        stmt.target
        for stmt in ir.walk(forward)
        if isinstance(stmt, ir.Let) and is_math(stmt) and stmt.op is not None and stmt.op.fn not in QUICK
    }
    if not found:
        return frozenset()
    read = {n for stmt in [*reverse, final] for n in ir.reads_inside(stmt)} - found
    rest = ir.Return(ir.tuple_([ir.name(n) for n in sorted(read)]))
    return frozenset(found & Liveness(s, [*forward, rest], set(), set()).live)


def is_test(expr: Any) -> bool:
    """True if an expression compares numbers, or is a test the other way round."""
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Not):
        return isinstance(expr.operand, gast.Name) or is_test(expr.operand)
    operands = [expr.left, *expr.comparators] if isinstance(expr, gast.Compare) else [None]
    return all(isinstance(operand, (gast.Name, gast.Constant)) for operand in operands)
