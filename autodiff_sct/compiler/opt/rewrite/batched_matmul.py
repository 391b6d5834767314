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

A product of arrays that is only summed, along one axis and along another, is not made.

::

    d_d = d_r[:, :, None] * d                         d_p = np.einsum("ijk,ijk->ik", d_r[:, :, None], d)
    d_p = d_d.sum(axis=1) - d_d.sum(axis=0)     ->    d_p -= np.einsum("ijk,ijk->jk", d_r[:, :, None], d)

That is what the cotangents of differences of all pairs come to.  The product is written into both sums, where
`fuse_contractions` finds it; what is computed for a factor is computed once, before.  It is done where both sums are
contracted and nothing writes to the factors before the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...domain.facts import Axis, Dim, Num
from ...ir.function import Function, Role
from ...ir.patterns import is_call, numpy_name, size
from ...ir.traversal import substitute_in
from .canonicalize import cotangents, factors_of, is_cotangent, multiplied, rewrite, signed
from .contractions import Contractions
from .new_axes import new_axes, summed_axis

ALL = gast.Slice(None, None, None)
NEW = ir.constant(None)
FIRST = ir.tuple_([ALL, ir.constant(0)])
SUMMED = {"ik": 1, "jk": 0, "ij": 2}  # what is left of three axes -> the one that is gone


def batch_matmuls(s: Function, front: ir.Block, back: ir.Block) -> None:
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

    def __init__(self, s: Function) -> None:
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


def summed_products(s: Function, block: ir.Block) -> None:
    """Write the products of a block of the reverse sweep and the blocks inside it into their sums, in place."""
    if not any(is_axis_sum(n) for stmt in ir.adjoint_walk(block) for e in ir.expressions(stmt) for n in ir.nodes_in(e)):
        return
    uses, contractions = count_uses(block), Contractions(s)
    for body in [block, *(inner for stmt in ir.adjoint_walk(block) for inner in ir.adjoint_bodies(stmt))]:
        for stmt in list(body):
            if is_array_product(s, stmt) and 1 < uses[stmt.target] <= thresholds.SUMS_OF_A_PRODUCT:
                inline(s, body, stmt, uses[stmt.target], contractions)


def is_array_product(s: Function, stmt: Any) -> bool:
    """True if a statement makes a cotangent that is a product of arrays."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place or stmt.state_reads:
        return False
    return (
        isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp))
        and len(factors_of(stmt.expr)[1]) > 1
        and is_cotangent(s, stmt)
    )


def inline(s: Function, body: ir.Block, product: ir.Let, uses: int, contractions: Contractions) -> None:
    """Write a product into the sums that read it, if nothing else does."""
    name, start = product.target, body.index(product)
    readers = [stmt for stmt in body[start + 1 :] if name in ir.reads_inside(stmt)]
    if not all(isinstance(stmt, ir.Store) or (isinstance(stmt, ir.Let) and is_cotangent(s, stmt)) for stmt in readers):
        return
    sums = [node for stmt in readers for expr in ir.expressions(stmt) for node in sums_of(expr, name)]
    if len(sums) != uses:
        return
    made, expr = apart(s, product, contractions)
    new = [gast.Call(gast.Attribute(expr, "sum", gast.Load()), [], node.keywords) for node in sums]
    if any(contractions.sum(call) is call for call in new):
        return
    read = [*ir.variables_in(expr), *(n for stmt in made for n in ir.reads(stmt))]
    if any(changes(s, stmt, read) for stmt in body[start + 1 : body.index(readers[-1])]):
        return
    body[start : start + 1] = made
    for stmt in readers:
        substitute_in(stmt, {name: expr})


def sums_of(expr: Any, name: str) -> Iterator[Any]:
    """The sums of a variable along one axis in an expression."""
    for node in ir.nodes_in(expr):
        if is_axis_sum(node) and getattr(node.func.value, "id", None) == name:
            yield node


def is_axis_sum(node: Any) -> bool:
    """True if an expression is the sum of something along one axis."""
    return is_call(node, "sum") and summed_axis(node) is not None


def apart(s: Function, product: ir.Let, contractions: Contractions) -> tuple[ir.Block, Any]:
    """Statements for what is computed for the factors of a product, and the product of what they make."""
    sign, factors = factors_of(product.expr)
    made: ir.Block = []
    simple = []
    for factor in factors:
        inner = factor.value if isinstance(factor, gast.Subscript) and new_axes(factor) is not None else factor
        facts = s.facts[product.target]
        if size(inner) and isinstance(facts, Num) and not contractions.spelling.is_number(inner):
            name = s.fresh("d_t", replace(facts, dims=contractions.dims(inner)), Role.COTANGENT)
            made.append(ir.Let((name,), inner, None, product.origin))
            factor = ir.name(name) if inner is factor else ir.subscript(ir.name(name), factor.slice)
        simple.append(factor)
    result = multiplied(simple)
    return made, result if sign > 0 else signed(result)


def changes(s: Function, stmt: Any, names: list[str]) -> bool:
    """True if a statement may write to the memory of one of some variables."""
    region = frozenset(root for name in names for root in roots_of(s.facts[name]))
    for inner in ir.inside(stmt):
        left = inner.expr.left if isinstance(inner, ir.Let) and inner.in_place else None
        if left is not None and any(roots_of(s.facts[n]) & region for n in ir.variables_in(left)):
            return True
    return touches(s, stmt, region, True)
