"""Sums over pairs, and products with a matrix and with its transpose, as products of matrices.

=======================================================  ======================================================
``np.einsum("ijk,ijk->ik", w[:, :, None], d)``           ``(w[:, None] @ d)[:, 0]``
``np.einsum("ijk,ijk->jk", w[:, :, None], d)``           ``(w.T[:, None] @ d.swapaxes(0, 1))[:, 0]``
``np.einsum("ijk,ijk->ij", f[:, None], d)``              ``(d @ f[:, :, None])[:, :, 0]``
``x @ d_c + x @ d_c.T``                                  ``x @ (d_c + d_c.T)``
=======================================================  ======================================================

Here ``d`` has one vector for each pair, as ``x[:, None] - x[None]`` does: two of its axes are equally long.  That many
products of matrices take a quarter of the time of one loop over all numbers, whatever the lengths; so they do where the
axis that is summed over is a long one.  Of others, a product for each step of one might be a product of two numbers.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...domain.facts import Axis, Dim
from ...ir.builder import Specialiser
from ...ir.patterns import numpy_name
from .canonicalize import cotangents, rewrite
from .contractions import Contractions
from .new_axes import new_axes

ALL = gast.Slice(None, None, None)
NEW = ir.constant(None)
FIRST = ir.tuple_([ALL, ir.constant(0)])
SUMMED = {"ik": 1, "jk": 0, "ij": 2}  # what is left of three axes -> the one that is gone


def batch_matmuls(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite the cotangents of the reverse sweep, and what `front` computes, in place."""
    pairs = Pairs(s)
    for stmt, part in cotangents(s, back):
        expr = getattr(stmt, part)
        if not has_products(expr):
            continue
        if getattr(stmt, "in_place", False) and isinstance(expr, gast.BinOp) and isinstance(expr.left, gast.Name):
            stmt.expr = gast.BinOp(expr.left, expr.op, pairs.expr(expr.right))  # what is added to stays apart
        else:
            rewrite(s, stmt, part, pairs.expr(expr))
    for stmt in ir.walk(front):
        if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not (stmt.effect or stmt.augments or stmt.in_place):
            if has_products(stmt.expr):
                stmt.expr = pairs.expr(stmt.expr)


def has_products(expr: Any) -> bool:
    """True if there are products of matrices in an expression, or sums of products."""
    return any(is_product(n) or (type(n) is gast.Call and numpy_name(n) == "einsum") for n in ir.nodes_in(expr))


class Pairs:
    """Rewrites expressions, from the inside out."""

    def __init__(self, s: Specialiser) -> None:
        self.s, self.contractions = s, Contractions(s)

    def expr(self, expr: Any) -> Any:
        if isinstance(expr, list):
            return [self.expr(item) for item in expr]
        if not isinstance(expr, gast.AST):
            return expr
        parts = {part: getattr(expr, part, None) for part in expr._fields}
        inner = {part: self.expr(value) for part, value in parts.items()}
        if any(inner[part] is not value and inner[part] != value for part, value in parts.items()):
            expr = type(expr)(**inner)
        if isinstance(expr, gast.Call) and numpy_name(expr) == "einsum" and len(expr.args) == 3 and not expr.keywords:
            return self.of_pairs(expr) or expr
        return self.both_ways(expr) or expr if isinstance(expr, gast.BinOp) else expr

    def of_pairs(self, call: Any) -> Any | None:
        """A sum of products of numbers or vectors of pairs with those of one of the two."""
        inputs, _, output = str(getattr(call.args[0], "value", "")).partition("->")
        if inputs != "ijk,ijk":
            return None
        for narrow, wide in (call.args[1:], call.args[:0:-1]):
            dims, have = self.contractions.dims(wide), self.contractions.dims(narrow)
            if not dims or not have or have.count(1) != 1 or output not in SUMMED:
                continue
            summed = dims[SUMMED[output]]
            if not self.equal(call, dims[:1], dims[1:2]) and not (isinstance(summed, Dim) and summed.is_positive):
                continue
            place = have.index(1)
            if not self.equal(call, have[:place] + have[place + 1 :], dims[:place] + dims[place + 1 :]):
                continue
            found = self.as_products(narrow, wide, place, output)
            if found is not None:
                return found
        return None

    def as_products(self, narrow: Any, wide: Any, place: int, output: str) -> Any | None:
        """The sum along one axis of the products of arrays, of which the first has length 1 along the axis `place`."""
        inner = narrow.value if is_widened(narrow) else None
        if place == 2 and output == "ik":
            rows = swapped(narrow, 1, 2) if inner is None else ir.subscript(inner, ir.tuple_([ALL, NEW]))
            return ir.subscript(product(rows, wide), FIRST)
        if place == 2 and output == "jk" and inner is not None:
            rows = ir.subscript(ir.attribute(inner, "T"), ir.tuple_([ALL, NEW]))
            return ir.subscript(product(rows, swapped(wide, 0, 1)), FIRST)
        if place == 1 and output == "ij":
            columns = swapped(narrow, 1, 2) if inner is None else ir.subscript(inner, ir.tuple_([ALL, ALL, NEW]))
            return ir.subscript(product(wide, columns), ir.tuple_([ALL, ALL, ir.constant(0)]))
        return None

    def equal(self, expr: Any, a: tuple[Axis, ...], b: tuple[Axis, ...]) -> bool:
        return self.s.same_lengths(a, b, self.contractions.where(expr))

    def both_ways(self, expr: Any) -> Any | None:
        """``a @ (b + b.T)`` for ``a @ b + a @ b.T``, and alike from the right and with minus, among other terms."""
        terms = terms_of(expr)
        for k, (sign, first) in enumerate(terms):
            for n, (other_sign, second) in enumerate(terms[k + 1 :], k + 1):
                joint = with_transpose(first, second, gast.Add() if sign == other_sign else gast.Sub())
                if joint is not None:
                    terms[k] = sign, joint
                    del terms[n]
                    return self.both_ways(added(terms)) or added(terms)
        return None


def terms_of(expr: Any) -> list[tuple[int, Any]]:
    """The terms of a sum, with their signs."""
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Add, gast.Sub)):
        return [(1, expr)]
    sign = 1 if isinstance(expr.op, gast.Add) else -1
    return [*terms_of(expr.left), *((sign * own, term) for own, term in terms_of(expr.right))]


def added(terms: list[tuple[int, Any]]) -> Any:
    """A sum of terms, of which the first is not subtracted."""
    result = terms[0][1]
    for sign, term in terms[1:]:
        result = gast.BinOp(result, gast.Add() if sign > 0 else gast.Sub(), term)
    return result


def with_transpose(left: Any, right: Any, op: Any) -> Any | None:
    """The sum of two products with a matrix and with its transpose, as one product."""
    if not is_product(left) or not is_product(right):
        return None
    for side, other in (("left", "right"), ("right", "left")):
        same = [getattr(getattr(e, side), "id", None) for e in (left, right)]
        turned = [getattr(e, other) for e in (left, right)]
        if same[0] is not None and same[0] == same[1] and is_transpose_of(*turned):
            both = gast.BinOp(turned[0], op, turned[1])
            return product(left.left, both) if side == "left" else product(both, left.right)
    return None


def swapped(expr: Any, a: int, b: int) -> Any:
    return ir.call(ir.attribute(expr, "swapaxes"), ir.constant(a), ir.constant(b))


def product(left: Any, right: Any) -> Any:
    return gast.BinOp(left, gast.MatMult(), right)


def is_product(expr: Any) -> bool:
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.MatMult)


def is_widened(expr: Any) -> bool:
    """True if an operand has an axis that was put in."""
    return isinstance(expr, gast.Subscript) and new_axes(expr) is not None


def is_transpose_of(a: Any, b: Any) -> bool:
    """True if one of two expressions is the transpose of the other, a variable."""
    for plain, turned in ((a, b), (b, a)):
        inner = turned.value if isinstance(turned, gast.Attribute) and turned.attr == "T" else None
        if isinstance(plain, gast.Name) and getattr(inner, "id", None) == plain.id:
            return True
    return False
