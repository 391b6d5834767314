"""Small powers of arrays are products of squares.

::

    h ** 3                    ->      h ** 2 * h
    h ** 6                    ->      (h ** 2 * h) ** 2
    h ** -4                   ->      1 / (h ** 2) ** 2

NumPy multiplies for squares only; other powers take 4 times as long, and of negative numbers 100 times.  The last
digits may be others, so that the forward sweep keeps its powers where the value is asked for or decides anything.
Arrays of a few numbers are left alone, for which every operation takes as long as a power.

In loops of the reverse sweep, the square of a number is a product where nothing is decided by it: Python takes three
times as long for a power.
"""

from __future__ import annotations

import math
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import literal
from ...ir.rewrite import change_own, with_operands

EXPONENTS = {*range(3, 13), *range(-12, -1)}


def reduce_powers(s: Specialiser, statements: list[Any]) -> None:
    """Rewrite some statements of a program, in place."""
    for stmt in statements:
        if isinstance(stmt, ir.Let) and (stmt.effect or stmt.loud):
            continue
        if any(is_power(s, node) for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)):
            change_own(stmt, lambda expr: as_product(s, expr))


def reduce_squares(s: Specialiser, back: ir.Block) -> None:
    """Write squares of numbers as products in the loops of the reverse sweep, in place, if that has no branches."""
    statements = ir.adjoint_walk(back)
    loops = [stmt for stmt in statements if isinstance(stmt, ir.Loop)]
    if any(map(decides, statements)) or any(loop.kind == "while" or loop.stop is not None for loop in loops):
        return
    for stmt in ir.adjoint_walk([stmt for loop in loops for stmt in loop.body]):
        if isinstance(stmt, (ir.Let, ir.Store)) and any(
            is_square_of_number(s, node) for expr in ir.expressions(stmt) for node in ir.nodes_in(expr)
        ):
            change_own(stmt, lambda expr: with_products(s, expr))


def with_products(s: Specialiser, expr: Any) -> Any:
    """An expression with products for such squares."""
    if is_square_of_number(s, expr):
        return ir.binop(expr.left, gast.Mult, expr.left)
    return with_operands(expr, lambda e: with_products(s, e))


def is_square_of_number(s: Specialiser, expr: Any) -> bool:
    """True if an expression is the square of a variable that is a float."""
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, gast.Pow) or not isinstance(expr.left, gast.Name):
        return False
    facts = s.facts.get(expr.left.id)
    if literal(expr.right) != 2 or not isinstance(facts, Num) or facts.dims != () or facts.tensor:
        return False
    return facts.kind in ("float", "npscalar") and facts.dtype is not None and facts.dtype.kind == "f"


def decides(stmt: Any) -> bool:
    """True if a statement itself chooses between two sides."""
    if isinstance(stmt, ir.If):
        return True
    return any(isinstance(node, gast.IfExp) for expr in ir.expressions(stmt) for node in ir.nodes_in(expr))


def as_product(s: Specialiser, expr: Any) -> Any:
    """An expression with products for such powers."""
    if not is_power(s, expr):
        return with_operands(expr, lambda e: as_product(s, e))
    exponent = int(literal(expr.right))
    whole = product(expr.left, abs(exponent))
    return whole if exponent > 0 else ir.binop(ir.constant(1), gast.Div, whole)


def product(base: Any, exponent: int) -> Any:
    """A natural power by squares."""
    if exponent == 1:
        return base
    square = ir.binop(product(base, exponent // 2), gast.Pow, ir.constant(2))
    return ir.binop(square, gast.Mult, base) if exponent % 2 else square


def is_power(s: Specialiser, expr: Any) -> bool:
    """True if an expression is such a power of an array of floats."""
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, gast.Pow) or not isinstance(expr.left, gast.Name):
        return False
    exponent, facts = literal(expr.right), s.facts.get(expr.left.id)
    if type(exponent) not in (int, float) or exponent not in EXPONENTS or not isinstance(facts, Num):
        return False
    if facts.kind != "array" or not facts.dims or facts.dtype is None or facts.dtype.kind != "f" or facts.tensor:
        return False
    known = [n for n in facts.dims if isinstance(n, int)]
    return len(known) < len(facts.dims) or math.prod(known) > thresholds.NUMBERS_OF_A_POWER
