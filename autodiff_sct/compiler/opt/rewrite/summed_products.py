"""A product of arrays that is only summed, along one axis and along another, is not made.

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
from ...domain.facts import Num
from ...ir.builder import Role, Specialiser
from ...ir.patterns import is_call, size
from ...ir.traversal import substitute_in
from .canonicalize import factors_of, is_cotangent, multiplied, signed
from .contractions import Contractions
from .new_axes import new_axes, summed_axis


def summed_products(s: Specialiser, block: ir.Block) -> None:
    """Write the products of a block of the reverse sweep and the blocks inside it into their sums, in place."""
    if not any(is_axis_sum(n) for stmt in ir.adjoint_walk(block) for e in ir.expressions(stmt) for n in ir.nodes_in(e)):
        return
    uses, contractions = count_uses(block), Contractions(s)
    for body in [block, *(inner for stmt in ir.adjoint_walk(block) for inner in ir.adjoint_bodies(stmt))]:
        for stmt in list(body):
            if is_product(s, stmt) and 1 < uses[stmt.target] <= thresholds.SUMS_OF_A_PRODUCT:
                inline(s, body, stmt, uses[stmt.target], contractions)


def is_product(s: Specialiser, stmt: Any) -> bool:
    """True if a statement makes a cotangent that is a product of arrays."""
    if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or stmt.effect or stmt.in_place or stmt.state_reads:
        return False
    return (
        isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp))
        and len(factors_of(stmt.expr)[1]) > 1
        and is_cotangent(s, stmt)
    )


def inline(s: Specialiser, body: ir.Block, product: ir.Let, uses: int, contractions: Contractions) -> None:
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


def apart(s: Specialiser, product: ir.Let, contractions: Contractions) -> tuple[ir.Block, Any]:
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


def changes(s: Specialiser, stmt: Any, names: list[str]) -> bool:
    """True if a statement may write to the memory of one of some variables."""
    region = frozenset(root for name in names for root in roots_of(s.facts[name]))
    for inner in ir.inside(stmt):
        left = inner.expr.left if isinstance(inner, ir.Let) and inner.in_place else None
        if left is not None and any(roots_of(s.facts[n]) & region for n in ir.variables_in(left)):
            return True
    return touches(s, stmt, region, True)
