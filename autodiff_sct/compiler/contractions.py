"""Sums of products without an array of the products: a third of the passes over memory, and none that is written.

=====================================  =========================================
``(d_y * x).sum()``                    ``np.vdot(d_y, x)``
``(2 * d_y * x).sum()``                ``2 * np.vdot(d_y, x)``
``(d_y * x).sum(axis=1)``              ``np.einsum("ij,ij->i", d_y, x)``
=====================================  =========================================

The terms are added in another order, which a cotangent may; only of doubles, for single precision would feel it.
Arrays that are broadcast against each other stay as they are where all is summed, for `vdot` pairs elements.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from . import ir
from .facts import Axis, Num, broadcast
from .specialise.lengths import Lengths
from .specialise.state import Specialiser
from .spelling import (
    ELEMENTWISE,
    Spelling,
    cotangents,
    factors_of,
    multiplied,
    new_axes,
    numpy_name,
    summed_axis,
    widened,
)

LETTERS = "ijklmnop"
KEPT = {"keepdims": True}


def contract(s: Specialiser, block: ir.Block) -> None:
    """Rewrite the cotangents that a block of the reverse sweep computes, in place."""
    contractions = Contractions(s)
    for stmt, part in cotangents(s, block):
        setattr(stmt, part, contractions.expr(getattr(stmt, part)))


class Contractions:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Specialiser) -> None:
        self.s, self.spelling = s, Spelling(s)

    def expr(self, expr: Any) -> Any:
        if isinstance(expr, gast.BinOp):
            return gast.BinOp(self.expr(expr.left), expr.op, self.expr(expr.right))
        if isinstance(expr, gast.UnaryOp):
            return gast.UnaryOp(expr.op, self.expr(expr.operand))
        if isinstance(expr, gast.Call):
            summed = isinstance(expr.func, gast.Attribute) and expr.func.attr == "sum" and not expr.args
            return self.sum(expr) if summed else gast.Call(expr.func, [self.expr(a) for a in expr.args], expr.keywords)
        return expr

    def sum(self, call: Any) -> Any:
        """A sum, as a contraction if it is one of a product of two arrays."""
        sign, factors = factors_of(call.func.value)
        numbers = [f for f in factors if self.spelling.is_number(f)]
        *others, last = [f for f in factors if not self.spelling.is_number(f)] or [None]
        found = self.of_two(call, multiplied(others), last) if others else None
        if found is None:
            return call
        result = multiplied([*numbers, found])
        return result if sign > 0 else gast.UnaryOp(gast.USub(), result)

    def dims(self, expr: Any) -> tuple[Axis, ...] | None:
        """The axes of an array of doubles that is computed element by element."""
        if isinstance(expr, gast.Name):
            facts = self.s.facts.get(expr.id)
            double = isinstance(facts, Num) and facts.kind == "array" and facts.dtype == np.float64
            return facts.dims if double and isinstance(facts, Num) else None
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
            return broadcast(*(() if self.spelling.is_number(e) else self.dims(e) for e in (expr.left, expr.right)))
        if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
            return self.dims(expr.operand)
        if isinstance(expr, gast.Subscript) and (places := new_axes(expr)) is not None:
            return with_axes(self.dims(expr.value), places)
        if isinstance(expr, gast.Call) and (axis := summed_axis(expr)) is not None:
            dims = self.dims(expr.func.value)
            return dims[:axis] + dims[axis + 1 :] if dims and axis < len(dims) else None
        if isinstance(expr, gast.Call) and isinstance(getattr(np, numpy_name(expr) or "", None), np.ufunc):
            return self.dims(expr.args[0]) if len(expr.args) == 1 and not expr.keywords else None
        return None

    def of_two(self, call: Any, a: Any, b: Any) -> Any | None:
        have, other = self.dims(a), self.dims(b)
        if not have or not other:
            return None
        settings = {k.arg: getattr(k.value, "value", None) for k in call.keywords}
        if not settings:
            return self.numpy("vdot", a, b) if self.s.same_lengths(have, other, self.where(a, b)) else None
        axis, rank = settings.get("axis"), len(have)
        if type(axis) is not int or not 0 <= axis < rank or rank != len(other) or rank > len(LETTERS):
            return None
        return self.along(call, a, b, axis, rank) if settings in ({"axis": axis}, KEPT | {"axis": axis}) else None

    def where(self, *exprs: Any) -> Lengths:
        """What is equal where the variables of expressions are there."""
        return self.s.where_made(*(n for expr in exprs for n in ir.names_in(expr)))

    def along(self, call: Any, a: Any, b: Any, axis: int, rank: int) -> Any | None:
        letters = LETTERS[:rank]
        subscripts = ir.constant(f"{letters},{letters}->{letters[:axis]}{letters[axis + 1 :]}")
        result = self.numpy("einsum", subscripts, a, b)
        return result if len(call.keywords) == 1 else widened(result, ir.constant(axis), rank - 1)

    def numpy(self, fn: str, *args: Any) -> Any:
        return ir.call(ir.attribute(self.s.bind("np", np), fn), *args)


def with_axes(dims: tuple[Axis, ...] | None, places: list[int]) -> tuple[Axis, ...] | None:
    """`dims` with axes of length 1 at some places."""
    if dims is None:
        return None
    result = list(dims)
    for place in places:
        result.insert(place, 1)
    return tuple(result)
