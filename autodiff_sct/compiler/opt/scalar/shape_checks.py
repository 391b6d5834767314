"""Checks of shapes in the place of operations that are only there since their operands may not fit.

::

    (a + trace) * w                           check_broadcast(a, w)
    t @ a                              ->     t @ a[:, :0]
    a @ b                                     a[:0] @ b

A product of matrices without any rows or columns raises what the whole one does, and costs a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from ....runtime.shapes import check_broadcast
from ... import ir
from ...analysis.effects import fact, path
from ...domain.facts import Num
from ...ir.builder import Specialiser

ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div)
NONE_OF_IT = gast.Slice(None, ir.constant(0), None)
ALL = gast.Slice(None, None, None)


def shape_check(s: Specialiser, stmt: ir.Let) -> Any | None:
    """An expression that raises what a statement without a reader may raise, from the shapes alone."""
    expr: Any = stmt.expr
    if stmt.loud or not isinstance(expr, (gast.BinOp, gast.Call)):
        return None
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.MatMult):
        return of_product(s, expr)
    found = [*operands(s, expr)]
    arrays = dict.fromkeys(array.id for array in found if array is not None)
    if None in found:
        return None
    return ir.call(s.bind("check_broadcast", check_broadcast), *map(ir.name, arrays)) if len(arrays) > 1 else None


def of_product(s: Specialiser, expr: Any) -> Any | None:
    """A product of matrices with no rows, or of a vector with no columns."""
    facts = [fact(s, side) for side in (expr.left, expr.right)]
    if not all(map(is_of_floats, facts)):
        return None
    ranks = tuple(found.ndim for found in facts)
    if ranks in ((2, 1), (2, 2)):
        return gast.BinOp(ir.subscript(expr.left, NONE_OF_IT), expr.op, expr.right)
    if ranks == (1, 2):
        return gast.BinOp(expr.left, expr.op, ir.subscript(expr.right, ir.tuple_([ALL, NONE_OF_IT])))
    return None


def operands(s: Specialiser, expr: Any) -> Iterator[Any | None]:
    """The arrays that an expression computes with element by element; None for anything else."""
    found = fact(s, expr)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
        sides = [[*operands(s, side)] for side in (expr.left, expr.right)]
        yield from [*sides[0], *sides[1]] if any(sides) else [None]  # of numbers alone, a quotient may raise
    elif isinstance(expr, gast.Call):
        callee, plain = path(s, expr.func), not expr.keywords and len(expr.args) == 1
        clipped = callee is np.clip and not expr.keywords and len(expr.args) == 3
        if clipped and all(isinstance(arg, gast.Constant) and arg.value is not None for arg in expr.args[1:]):
            yield from operands(s, expr.args[0])
        else:
            yield from operands(s, expr.args[0]) if plain and isinstance(callee, np.ufunc) else [None]
    elif is_of_floats(found):
        yield expr
    elif not isinstance(found, Num) or found.dims != () or found.kind not in ("float", "int", "npscalar"):
        yield None


def is_of_floats(found: Any) -> bool:
    """True if facts are those of an array of real floating-point numbers."""
    known = isinstance(found, Num) and found.kind == "array" and found.ndim is not None and not found.tensor
    return known and found.dtype is not None and found.dtype.kind == "f"
