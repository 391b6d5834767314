"""A product with diagonal matrices and outer products takes no product of matrices.

::

    d_factor = np.diag(v) - np.outer(a, b)             t = factor.T * v - np.outer(factor.T @ a, b)
    t = factor.T @ d_factor                      ->

The adjoints of `np.diag`, of solutions and of products with vectors are such matrices: n squared operations do for n
cubed.  Only cotangents that nothing else reads are taken apart.
"""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import numpy_name
from .inverses import is_matrix
from .softmax import operands

THIN = {"diag": 1, "outer": 2}  # how many vectors make such a matrix


def structured_matmul(s: Specialiser, reverse: ir.Block) -> None:
    """Rewrite the products of the reverse sweep, in place."""
    if not any(isinstance(x, ir.Let) and thin(s, x) for x in ir.adjoint_walk(reverse)):
        return
    uses = count_uses(reverse)
    for block in ir.blocks(reverse):
        once = {x.target: x for x in block if isinstance(x, ir.Let) and uses.get(x.targets[0]) == 1}
        for stmt in list(block):
            sides = operands(stmt, gast.MatMult)
            makers: list[ir.Let] = []
            if sides is None or not is_matrix(s, sides[0]) or (terms := parts(s, once, sides[1], 1, makers)) is None:
                continue
            place = block.index(stmt)
            between = [x for x in block[min(map(block.index, makers)) : place] if x not in makers]
            if terms[0][0] > 0 and not any(changes(s, x, terms) for x in between):
                block[place : place + 1] = product(s, stmt, sides[0], terms)
                block[:] = [x for x in block if x not in makers]


def changes(s: Specialiser, stmt: Any, terms: list[tuple[int, ir.Let]]) -> bool:
    """True if a statement may write to the vectors of which matrices were made before it."""
    names = {name for _, term in terms for name in ir.reads(term)}
    in_place = isinstance(stmt, ir.Let) and stmt.in_place and bool(names & set(ir.names_in(stmt.expr)))
    return in_place or touches(s, stmt, {root for name in names for root in roots_of(s.facts[name])}, True)


def thin(s: Specialiser, stmt: ir.Let) -> list[str] | None:
    """The vectors of which a statement makes a diagonal matrix or an outer product."""
    call = stmt.expr
    count = THIN.get(numpy_name(call) or "") if isinstance(call, gast.Call) else None
    if count is None or call.keywords or len(call.args) != count or not is_matrix(s, stmt.target):
        return None
    names = [a.id for a in call.args if isinstance(a, gast.Name)]
    facts = [s.facts.get(n) for n in names]
    return names if len(names) == count and all(isinstance(f, Num) and f.ndim == 1 for f in facts) else None


def parts(
    s: Specialiser, once: dict[str, ir.Let], name: str, sign: int, makers: list[ir.Let]
) -> list[tuple[int, ir.Let]] | None:
    """The thin matrices that add up to a variable, with their signs; `makers` are the statements that make it."""
    stmt = once.get(name)
    if stmt is None or stmt.effect:
        return None
    makers.append(stmt)
    expr: Any = stmt.expr
    if thin(s, stmt) is not None:
        return [(sign, stmt)]
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub) and isinstance(expr.operand, gast.Name):
        return parts(s, once, expr.operand.id, -sign, makers)
    if isinstance(expr, gast.Attribute) and expr.attr == "T" and isinstance(expr.value, gast.Name):
        found = parts(s, once, expr.value.id, sign, makers)
        return found and [(each, transposed(term)) for each, term in found]
    sides = operands(stmt, gast.Add) or operands(stmt, gast.Sub)
    if sides is None:
        return None
    left = parts(s, once, sides[0], sign, makers)
    right = parts(s, once, sides[1], sign if isinstance(expr.op, gast.Add) else -sign, makers)
    return None if left is None or right is None else [*left, *right]


def transposed(term: ir.Let) -> ir.Let:
    """The transpose of a thin matrix, which is one."""
    call: Any = term.expr
    return ir.Let(term.targets, gast.Call(call.func, call.args[::-1], []), None, term.origin)


def product(s: Specialiser, stmt: ir.Let, matrix: str, terms: list[tuple[int, ir.Let]]) -> ir.Block:
    """The statements that compute the product of a matrix with a sum of thin ones."""
    made: ir.Block = []

    def let(expr: Any, like: str) -> Any:
        made.append(ir.Let((s.fresh("t", s.facts[like]),), expr, None, stmt.origin))
        return ir.name(made[-1].target)

    total: Any = None
    for sign, term in terms:
        call: Any = term.expr
        if len(call.args) == 1:
            value = ir.binop(ir.name(matrix), gast.Mult, call.args[0])
        else:
            column = let(ir.binop(ir.name(matrix), gast.MatMult, call.args[0]), call.args[0].id)
            value = gast.Call(call.func, [column, call.args[1]], [])
        if total is None:
            total = value
        else:
            op = gast.Add if sign > 0 else gast.Sub
            total = ir.binop(let(total, stmt.target), op, let(value, stmt.target))
    return [*made, ir.Let(stmt.targets, total, None, stmt.origin)]
