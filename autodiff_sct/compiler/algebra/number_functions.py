"""A function of numbers is called once for the same numbers.

::

    d_e = d_t * math.cos(E)                     cos_E = math.cos(E)
    d_E = d_E - d_f * e * math.cos(E)    ->     d_e = d_t * cos_E
                                                d_E = d_E - d_f * e * cos_E

Derivatives of functions come to each other: that of a sine is a cosine, that of a power another one.  What the reverse
sweep would compute is read where it has been computed before, by either sweep, in the same block or in one around it.
"""

from __future__ import annotations

import math
from typing import Any

import gast
import numpy as np

from .. import ir
from ..facts import Num
from ..specialise.state import Specialiser
from .spelling import literal


def call_once(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Let the reverse sweep read what either sweep has called a function for, in place."""
    known: dict[Any, str] = {}
    for stmt in front:
        if (key := key_of(s, stmt)) is not None:
            known.setdefault(key, stmt.target)
    share(s, back, known)


def share(s: Specialiser, block: ir.Block, known: dict[Any, str]) -> None:
    """Share within a block; `known` is what has been computed before it."""
    for stmt in block:
        if (key := key_of(s, stmt)) is not None and known.setdefault(key, stmt.target) != stmt.target:
            stmt.expr, stmt.op, stmt.may_raise = ir.name(known[key]), None, False
        for inner in ir.bodies(stmt):
            share(s, inner, dict(known))


def key_of(s: Specialiser, stmt: Any) -> Any:
    """What a statement computes, where that is a function of numbers."""
    if type(stmt) is not ir.Let or len(stmt.targets) != 1 or stmt.effect or not is_number(s, ir.name(stmt.target)):
        return None
    expr = stmt.expr
    if isinstance(expr, gast.Call):
        fn, operands = function_of_numbers(s, expr), expr.args
    elif isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow) and literal(expr.right) != 2:
        fn, operands = pow, [expr.left, expr.right]
    else:
        return None
    if fn is None or not all(is_number(s, operand) for operand in operands) or all(map(is_literal, operands)):
        return None
    return fn, *(repr(literal(x)) if is_literal(x) else x.id for x in operands)


def function_of_numbers(s: Specialiser, call: gast.Call) -> Any:
    """The function of `math`, or the one of NumPy that is computed for each element, which is called."""
    func = call.func
    if call.keywords or not isinstance(func, gast.Attribute) or not isinstance(func.value, gast.Name):
        return None
    module = s.globals.get(func.value.id)
    if module is not math and module is not np:
        return None
    fn = getattr(module, func.attr)
    return fn if module is math or isinstance(fn, np.ufunc) else None


def is_number(s: Specialiser, expr: Any) -> bool:
    """Whether an expression is a number, or a variable that holds one."""
    if isinstance(expr, gast.Name) and ir.is_variable(expr.id):
        facts = s.facts[expr.id]
        return isinstance(facts, Num) and facts.kind in ("float", "int", "bool", "complex", "npscalar")
    return is_literal(expr)


def is_literal(expr: Any) -> bool:
    return literal(expr) is not None
