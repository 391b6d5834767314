"""Axis order: arrays that surely lie in memory in one order of their axes.

An elementwise operation makes an array in the order of its operands (NumPy's ``order="K"``), and in C order where they
do not agree.  What is written into the memory of the left one has that one's order instead, and the sum of all items
may differ in the last digit.

==========================  =============================================================
``p * 2.0``, ``p + row``    has the order of ``p``: what has one long axis has no order
``p - 0.1 * np.tanh(p)``    has the order of ``p``
``p * w``                   has the order of ``p`` where both are of one, such as that of C
``p / np.sum(p, axis=-1,``  has the order of ``p``, and so has the sum
``keepdims=True)``
==========================  =============================================================
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.effects import path
from ...domain.facts import Num
from ...ir.function import Function
from ...ir.patterns import ELEMENTWISE, numpy_name
from ..rewrite.canonicalize import Spelling
from ..rewrite.new_axes import new_axes

C_ORDER, NO_ORDER = ".C", ".none"  # no names of variables
IN_C_ORDER = {"zeros", "ones", "full"}
REDUCTIONS = {"sum", "mean", "max", "min", "prod", "std", "var"}


class Orders:
    """The orders of a program's arrays; each is called by the name of a variable that has it."""

    def __init__(self, s: Function, makers: dict[str, Any], carries: dict[str, tuple[ir.Loop, ir.Carry]]) -> None:
        self.s, self.makers, self.carries = s, makers, carries
        self.spelling = Spelling(s)
        self.known: dict[str, str | None] = {}

    def keeps(self, operation: Any) -> bool:
        """True if what an operation makes has the order of its left side."""
        left = self.of(operation.left)
        return left == NO_ORDER or (left is not None and self.of(operation.right) in (left, NO_ORDER))

    def of(self, expr: Any) -> str | None:
        """The order of an array; None where it is not known."""
        if isinstance(expr, gast.Name) and ir.is_variable(expr.id):
            return self.of_variable(expr.id)
        if self.is_lean(expr):
            return NO_ORDER
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.MatMult):
            return C_ORDER if self.ranks([expr.left, expr.right]) <= {1, 2} else None
        if isinstance(expr, gast.Call) and numpy_name(expr) in IN_C_ORDER:
            return C_ORDER if len(expr.args) <= 2 and not expr.keywords else None
        if is_copy(expr):
            return C_ORDER
        if (reduced := self.kept_axes(expr)) is not None:
            return self.of(reduced)
        operands = self.operands(expr)
        if operands is None:
            return None
        found = {self.of(operand) for operand in operands} - {NO_ORDER}
        return found.pop() if len(found) == 1 else None if found else C_ORDER

    def ranks(self, operands: list[Any]) -> set[int | None]:
        return {self.spelling.rank(operand) for operand in operands}

    def operands(self, expr: Any) -> list[Any] | None:
        """The operands of an elementwise operation, each of which has its rank or no order."""
        if isinstance(expr, gast.BinOp):
            found = [expr.left, expr.right]
        elif isinstance(expr, gast.UnaryOp):
            found = [expr.operand]
        elif is_elementwise(self.s, expr):
            found = expr.args
        else:
            return None
        ranks = self.ranks([operand for operand in found if not self.is_lean(operand)])
        if not ranks:
            return found
        lean = self.ranks([operand for operand in found if self.is_lean(operand)])
        rank = ranks.pop()
        return found if not ranks and rank is not None and all((other or 0) <= rank for other in lean) else None

    def of_variable(self, name: str) -> str | None:
        if name not in self.known:
            self.known[name] = name  # for what it is carried around to
            self.known[name] = self.found(name)
        return self.known[name]

    def found(self, name: str) -> str | None:
        facts = self.s.facts[name]
        if self.is_lean(ir.name(name)):
            return NO_ORDER
        if not isinstance(facts, Num) or facts.kind != "array" or facts.dims is None:
            return None
        if name in self.carries:
            return self.carried(name, self.carries[name][1])
        maker = self.makers.get(name)
        if not isinstance(maker, ir.Let) or len(maker.targets) != 1 or maker.effect:
            return name
        if maker.in_place or maker.augments:
            return self.of(maker.expr.left) if isinstance(maker.expr, gast.BinOp) else name
        return self.of(maker.expr) or name

    def carried(self, name: str, carry: ir.Carry) -> str | None:
        """The order of what a loop carries: that which it has at first where each step keeps it."""
        if name != carry.phi:
            return self.of_variable(carry.phi)
        if carry.init is None or carry.next is None:
            return name
        first, before = self.of_variable(carry.init), self.known
        self.known = {**before, name: first}
        if self.of_variable(carry.next) == first:
            return first
        self.known = before
        return name

    # -- arrays that have no order

    def is_lean(self, expr: Any) -> bool:
        """True if an expression surely is a number, or an array with at most one axis that is not of length 1."""
        if self.spelling.is_number(expr) or self.spelling.rank(expr) in (0, 1):
            return True
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            dims = facts.dims if isinstance(facts, Num) else None
            return dims is not None and sum(axis != 1 for axis in dims) <= 1
        if isinstance(expr, gast.Subscript):
            return new_axes(expr) is not None and self.is_lean(expr.value)
        if isinstance(expr, gast.UnaryOp):
            return self.is_lean(expr.operand)
        if isinstance(expr, gast.BinOp):
            arrays = [x for x in (expr.left, expr.right) if not self.spelling.is_number(x) and not self.is_single(x)]
            return isinstance(expr.op, ELEMENTWISE) and len(arrays) <= 1 and all(map(self.is_lean, arrays))
        return isinstance(expr, gast.Call) and (self.is_single(expr) or self.is_reduction(expr))

    def is_single(self, expr: Any) -> bool:
        """True if an expression is a reduction to one number."""
        if not isinstance(expr, gast.Call) or not isinstance(expr.func, gast.Attribute):
            return False
        given = len(expr.args) - (numpy_name(expr) is not None)
        return expr.func.attr in REDUCTIONS and not given and not expr.keywords

    def kept_axes(self, expr: Any) -> Any | None:
        """The array that is reduced by a call which keeps its axes."""
        kept = isinstance(expr, gast.Call) and any(
            k.arg == "keepdims" and getattr(k.value, "value", False) is True for k in expr.keywords
        )
        return reduced_by(expr) if kept else None

    def is_reduction(self, expr: Any) -> bool:
        """True if an expression is a reduction of a matrix along an axis."""
        reduced = reduced_by(expr)
        if reduced is None:
            return False
        has_axis = any(k.arg == "axis" for k in expr.keywords) or len(expr.args) == 1 + (reduced in expr.args)
        return has_axis and self.spelling.rank(reduced) in (1, 2)


def is_elementwise(s: Function, expr: Any) -> bool:
    """True if an expression calls an elementwise function of NumPy's for a new array."""
    if not isinstance(expr, gast.Call) or expr.keywords:
        return False
    callee = path(s, expr.func)
    return isinstance(callee, np.ufunc) and callee.signature is None and len(expr.args) == callee.nin


def is_copy(expr: Any) -> bool:
    """True if an expression is ``x.copy()``, which lies in C order."""
    plain = isinstance(expr, gast.Call) and not expr.args and not expr.keywords
    return plain and isinstance(expr.func, gast.Attribute) and expr.func.attr == "copy"


def reduced_by(call: Any) -> Any | None:
    """The array that a call reduces."""
    if not isinstance(call.func, gast.Attribute) or call.func.attr not in REDUCTIONS:
        return None
    return call.args[0] if numpy_name(call) is not None and call.args else call.func.value
