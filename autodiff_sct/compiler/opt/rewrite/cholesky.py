"""The cotangent of a matrix from that of its Cholesky factor is computed block by block.

::

    inverse = np.linalg.inv(factor)
    weights = np.tri(n) - 0.5 * np.eye(n)                                  d_k = cholesky_pullback(factor, d_factor)
    s = inverse.T @ (factor.T @ d_factor * weights) @ inverse       ->
    d_k = (s + s.T) * weights

That takes the time of two factorisations, where the inverse and the products take that of twelve. It is for inverses
that nothing else needs: one that also solves systems is there anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from ....runtime.linalg.factors import cholesky_pullback
from ... import ir
from ...analysis.alias import roots_of
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...domain.facts import Num
from ...ir.builder import Specialiser
from .outer_products import changes
from .softmax import operands


def cholesky_vjp(s: Specialiser, back: ir.Block) -> None:
    """Rewrite the blocks of the reverse sweep, in place."""
    uses = count_uses(back)
    for block in [back, *(inner for stmt in ir.adjoint_walk(back) for inner in ir.adjoint_bodies(stmt))]:
        made = {x.target: x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1 and not x.effect}
        if not any(called(stmt.expr, "tri") for stmt in made.values()):
            continue
        for stmt in list(block):
            found = factor_cotangent(made, stmt)
            if found is not None and uses.get(found.inverse) == 2 and is_matrix(s, found.factor):
                if not is_disturbed(s, block, made[found.inverse], stmt, found):
                    stmt.expr = ir.call(
                        s.bind("cholesky_pullback", cholesky_pullback), ir.name(found.factor), ir.name(found.cotangent)
                    )
                    drop_unread(block, made, found.total, count_uses(back))


def is_matrix(s: Specialiser, name: str) -> bool:
    """True if a variable is one matrix of doubles."""
    facts = s.facts[name]
    known = isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 2 and facts.dtype is not None
    return known and facts.dtype.kind == "f"  # type: ignore[union-attr]


def is_disturbed(s: Specialiser, block: ir.Block, first: ir.Let, last: ir.Let, found: FactorCotangent) -> bool:
    """True if the factor or its cotangent may change before the cotangent of the matrix is there."""
    memory = roots_of(s.facts[found.factor]) | roots_of(s.facts[found.cotangent])
    between = block[block.index(first) : block.index(last)]
    return any(touches(s, stmt, memory, True) or changes(s, stmt, memory) for stmt in between)


def drop_unread(block: ir.Block, made: dict[str, ir.Let], name: str, uses: dict[str, int]) -> None:
    """Drop what made a variable, if nobody reads it any more, and what that has read."""
    stmt = made.get(name)
    if stmt is None or uses.get(name):
        return
    del made[name]
    block.remove(stmt)
    read = ir.reads(stmt)
    for other in dict.fromkeys(read):
        uses[other] -= read.count(other)
        drop_unread(block, made, other, uses)


@dataclass(frozen=True)
class FactorCotangent:
    """The variables of ``s = inverse.T @ (factor.T @ cotangent * weights) @ inverse; (s + s.T) * weights``."""

    total: str
    product: str
    back: str
    inverse: str
    factor: str
    cotangent: str
    weights: str


def factor_cotangent(made: dict[str, ir.Let], stmt: Any) -> FactorCotangent | None:
    """The cotangent of a Cholesky factor from which a statement computes that of the matrix, else None."""
    total, weights = operands(stmt, gast.Mult) or ("", "")
    product, mirrored = sides(made, total, gast.Add)
    if not product or transposed(made, mirrored) != product or not is_triangle(made, weights):
        return None
    left, inverse = sides(made, product, gast.MatMult)
    back, halved = sides(made, left, gast.MatMult)
    inner, same = sides(made, halved, gast.Mult)
    upper, cotangent = sides(made, inner, gast.MatMult)
    factor = transposed(made, upper)
    if not factor or same != weights or transposed(made, back) != inverse or not is_inverse(made, inverse, factor):
        return None
    return FactorCotangent(total, product, back, inverse, factor, cotangent, weights)


def sides(made: dict[str, ir.Let], name: str, op: type) -> tuple[str, str]:
    """The two variables that make another with an operator; two empty names where that is not so."""
    return (operands(made.get(name), op) or ("", "")) if name else ("", "")


def transposed(made: dict[str, ir.Let], name: str) -> str:
    """The variable of which another is the transpose."""
    expr: Any = made[name].expr if name in made else None
    found = isinstance(expr, gast.Attribute) and expr.attr == "T" and isinstance(expr.value, gast.Name)
    return expr.value.id if found else ""


def is_inverse(made: dict[str, ir.Let], name: str, of: str) -> bool:
    expr: Any = made[name].expr if name in made else None
    return called(expr, "linalg.inv") and getattr(expr.args[0], "id", None) == of


def is_triangle(made: dict[str, ir.Let], name: str) -> bool:
    """True if a variable holds ``np.tri(n)`` less something."""
    return called(made[sides(made, name, gast.Sub)[0] or name].expr if name in made else None, "tri")


def called(expr: Any, *functions: str) -> bool:
    """True if an expression calls one of some functions of NumPy's with one argument and nothing else."""
    alone = isinstance(expr, gast.Call) and len(expr.args) == 1 and not expr.keywords
    return alone and (ir.path_of(expr.func) or "").removeprefix("np.") in functions
