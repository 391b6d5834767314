"""What surely raises no exception, whatever numbers it is given."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from . import ir
from .facts import Num
from .specialise.state import Specialiser

SUMS = (gast.Add, gast.Sub, gast.Mult)
POWERS = (gast.Div, gast.Pow)


def is_safe(s: Specialiser, stmt: Any) -> bool:
    """Whether a statement itself, without the blocks inside it, surely raises no exception."""
    if not isinstance(stmt, (ir.Let, ir.If)):
        return False
    expr = stmt.expr if isinstance(stmt, ir.Let) else stmt.test
    if isinstance(expr, (gast.Name, gast.Constant)) or (isinstance(stmt, ir.Let) and not stmt.may_raise):
        return True
    if isinstance(expr, gast.UnaryOp):
        return isinstance(fact(s, expr.operand), Num) and not isinstance(expr.op, gast.Not)
    if isinstance(expr, gast.BinOp):
        return is_safe_operation(expr.op, fact(s, expr.left), fact(s, expr.right))
    return isinstance(expr, gast.Call) and is_safe_call(s, expr)


def fact(s: Specialiser, expr: Any) -> Any:
    """What is known of a variable or a number."""
    if isinstance(expr, gast.Constant) and type(expr.value) in (int, float):
        return Num(type(expr.value).__name__, np.dtype(type(expr.value)), ())
    return s.facts.get(expr.id) if isinstance(expr, gast.Name) else None


def is_safe_operation(op: Any, left: Any, right: Any) -> bool:
    """Whether an operator works for all numbers of these kinds: NumPy's do, where shapes fit, but Python's may not."""
    if not isinstance(left, Num) or not isinstance(right, Num) or left.dims is None or right.dims is None:
        return False
    if left.dims and right.dims and left.dims != right.dims:
        return False
    if any(f.dtype is None or f.dtype.kind not in "iuf" for f in (left, right)):
        return False
    if isinstance(op, SUMS):
        return True
    floats = any(f.dtype is not None and f.dtype.kind == "f" and f.kind in ("array", "npscalar") for f in (left, right))
    return isinstance(op, POWERS) and floats


def is_safe_call(s: Specialiser, expr: Any) -> bool:
    """Whether a call is one of an elementwise function of NumPy's on one array."""
    path = expr.func
    if not isinstance(path, gast.Attribute) or not isinstance(path.value, gast.Name) or len(expr.args) != 1:
        return False
    callee, found = getattr(s.globals.get(path.value.id), path.attr, None), fact(s, expr.args[0])
    known = isinstance(found, Num) and found.dtype is not None and found.dtype.kind in "iuf"
    return known and not expr.keywords and isinstance(callee, np.ufunc) and callee.nin == 1
