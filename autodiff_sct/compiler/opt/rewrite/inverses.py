"""Inverses in cotangents: those that are computed anyway solve systems, too; those of Cholesky factors are avoided.

::

    d_b = np.linalg.solve(a.T, d_x)                inv_a = np.linalg.inv(a)
    d_a = d_log * np.linalg.inv(a).T        ->     d_b = inv_a.T @ d_x
                                                   d_a = d_log * inv_a.T

The rules of ``slogdet``, ``det`` and ``cholesky`` need the inverse.  No inverse is made for the sake of a solution:
a factorisation is the more accurate by itself, where a solution is far smaller than the condition of the matrix allows.
Beside the inverse, whose own error is in the same gradients, it would gain nothing.

Where the value is not asked for, the forward sweep has the inverse first and solves with it, too::

    x = np.linalg.solve(a, b)                      inv_a = np.linalg.inv(a)
    ...                                     ->     x = inv_a @ b
    inv_a = np.linalg.inv(a)                       ...

A program that decides or prints something keeps its solutions as they are, to the last bit.

The cotangent of a matrix from that of its Cholesky factor is computed block by block::

    inverse = np.linalg.inv(factor)
    weights = np.tri(n) - 0.5 * np.eye(n)                                  d_k = cholesky_pullback(factor, d_factor)
    s = inverse.T @ (factor.T @ d_factor * weights) @ inverse       ->
    d_k = (s + s.T) * weights

That takes the time of two factorisations, where the inverse and the products take that of twelve. It is for inverses
that nothing else needs: one that also solves systems is there anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from ....runtime.linalg.determinants import cholesky_pullback
from ... import ir
from ...analysis.alias import Regions, roots_of, written_by
from ...analysis.effects import touches
from ...analysis.liveness import count_uses
from ...domain.facts import Num
from ...ir.function import Function
from ..loops.batch_blas import drop_unread, is_transpose
from .outer_products import changes
from .product_reuse import operands

Systems = dict[str, dict[int, list[ir.Let]]]  # by the matrix and the block that solves them


def reuse_inverses(s: Function, block: ir.Block) -> None:
    """Rewrite a block of the reverse sweep and the blocks inside it, in place."""
    if share_in(s, block):
        drop_unread(block, count_uses(block))


def solve_with_inverses(s: Function, where: Regions, forward: ir.Block, reverse: ir.Block) -> None:
    """Let the forward sweep make the inverses that the reverse sweep needs, where it has systems to solve, in place."""
    if not all(is_plain(stmt) for stmt in ir.walk(forward)):
        return
    systems: Systems = {}
    turned = transposes(ir.walk(forward))
    for block in [forward, *(inner for stmt in ir.walk(forward) for inner in ir.bodies(stmt))]:
        for stmt in block:
            if (matrix := operand(stmt, "solve")) is not None and fits(s, matrix, stmt.expr.args[1].id):
                if not where.is_written(matrix):
                    systems.setdefault(turned.get(matrix, matrix), {}).setdefault(id(block), []).append(stmt)
    if systems:
        share_in(s, reverse)
        solve_in(s, where, reverse, [forward], systems)


def solve_in(s: Function, where: Regions, block: ir.Block, primal: list[ir.Block], systems: Systems) -> None:
    """The same for what reverses the last of the blocks in `primal`, each inside the one before: all have run."""
    for stmt in block:
        found = systems.get(operand(stmt, "inv") or "", {})
        place = next((outer for outer in primal if id(outer) in found), None)
        if place is not None:
            stmt.expr = ir.name(made_first(s, where, place, found[id(place)], stmt))
        of = getattr(stmt, "primal", None)
        for inner, part in zip(ir.adjoint_bodies(stmt), ir.bodies(of) if type(of) is type(stmt) else ()):
            solve_in(s, where, inner, [*primal, part], systems)


def is_plain(stmt: Any) -> bool:
    """True if a statement neither decides anything nor is seen outside."""
    if isinstance(stmt, ir.Loop):
        return stmt.kind != "while" and stmt.stop is None
    if isinstance(stmt, ir.Effect):
        return stmt.kind == "save" or written_by(stmt) is not None
    return isinstance(stmt, ir.Store) or (isinstance(stmt, ir.Let) and not stmt.effect)


def fits(s: Function, matrix: str, right: str) -> bool:
    """True if a right side surely is as long as a square matrix, and of the same precision."""
    facts, other = s.facts[matrix], s.facts[right]
    if not is_matrix(s, matrix) or not isinstance(facts, Num) or not isinstance(other, Num) or not other.dims:
        return False
    alike = other.kind == "array" and facts.dtype == other.dtype == np.float64 and len(other.dims) <= 2
    return alike and s.same_lengths((facts.dims or ())[:1], other.dims[:1], s.where_made(matrix, right))


def made_first(s: Function, where: Regions, block: ir.Block, systems: list[ir.Let], inverse: ir.Let) -> str:
    """The inverse, made before the first of the systems, if it is not there by then; all are solved with it."""
    first, matrix = systems[0], inverse.expr.args[0].id
    earlier = [x for x in block[: block.index(first)] if operand(x, "inv") == matrix]
    before = next((x for x in earlier if not where.is_written(x.target)), None)
    if before is None:
        before = ir.Let((s.fresh_like(inverse.target),), inverse.expr, None, first.origin)
        block.insert(block.index(first), before)
    for stmt in systems:
        if (of := operand(stmt, "solve")) is not None:
            own = ir.name(before.target)
            left = own if of == matrix else ir.attribute(own, "T")
            stmt.expr = ir.binop(left, gast.MatMult, stmt.expr.args[1])
    for stmt in block[block.index(first) :]:
        if isinstance(stmt, ir.Let) and is_determinant(stmt.expr, matrix):
            stmt.may_raise = False  # of what has an inverse
    return before.target


def is_determinant(expr: Any, matrix: str) -> bool:
    if not isinstance(expr, gast.Call) or len(expr.args) != 1 or getattr(expr.args[0], "id", "") != matrix:
        return False
    return ir.path_of(expr.func) in ("np.linalg.det", "np.linalg.slogdet")


def share_in(s: Function, block: ir.Block) -> bool:
    """Rewrite a block; whether there was anything to share."""
    found = sum(share_in(s, inner) for stmt in block for inner in ir.adjoint_bodies(stmt)) > 0
    inverses = {of: x for x in block if (of := operand(x, "inv")) is not None and is_matrix(s, of)}
    turned = transposes(block)
    for stmt in list(block) if inverses else ():
        matrix = operand(stmt, "solve")
        inverse = inverses.get(turned.get(matrix or "", matrix or ""))
        if inverse is not None and matrix is not None and is_made_before(s, block, inverse, stmt):
            own = ir.name(inverse.target)
            left = ir.attribute(own, "T") if matrix in turned else own
            stmt.expr = ir.binop(left, gast.MatMult, stmt.expr.args[1])
            found = True
    return found


def transposes(statements: Sequence[Any]) -> dict[str, str]:
    """The variables that are the transposes of others."""
    return {x.target: x.expr.value.id for x in statements if isinstance(x, ir.Let) and is_transpose(x.expr)}


def operand(stmt: Any, function: str) -> str | None:
    """The variable that is the first argument of a function of ``np.linalg``, if a statement calls that."""
    call = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 else None
    if not isinstance(call, gast.Call) or call.keywords:
        return None
    if ir.path_of(call.func) != f"np.linalg.{function}":
        return None
    return call.args[0].id if all(isinstance(a, gast.Name) for a in call.args) else None


def is_matrix(s: Function, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 2


def is_made_before(s: Function, block: ir.Block, inverse: ir.Let, stmt: ir.Let) -> bool:
    """True if the inverse is there when a statement runs; it is moved there if nothing in between forbids that."""
    start, end = block.index(stmt), block.index(inverse)
    if end < start:
        return not written(s, block[end:start], inverse)
    if written(s, block[start:end], inverse) or any(n in made(block[start:end]) for n in ir.reads(inverse)):
        return False
    inverse.origin = stmt.origin
    block.remove(inverse)
    block.insert(start, inverse)
    return True


def written(s: Function, between: ir.Block, inverse: ir.Let) -> bool:
    """True if statements may change the matrix."""
    roots = roots_of(s.facts[ir.reads(inverse)[0]])
    in_place = any(isinstance(x, ir.Let) and x.in_place and x.expr.left.id in ir.reads(inverse) for x in between)
    return in_place or any(touches(s, x, roots, True) for x in between)


def made(between: ir.Block) -> set[str]:
    return {name for stmt in between for name in ir.ir_targets(stmt)}


def cholesky_vjp(s: Function, back: ir.Block) -> None:
    """Rewrite the blocks of the reverse sweep, in place."""
    uses = count_uses(back)
    for block in [back, *(inner for stmt in ir.adjoint_walk(back) for inner in ir.adjoint_bodies(stmt))]:
        made = {x.target: x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1 and not x.effect}
        if not any(called(stmt.expr, "tri") for stmt in made.values()):
            continue
        for stmt in list(block):
            found = factor_cotangent(made, stmt)
            if found is not None and uses.get(found.inverse) == 2 and is_double_matrix(s, found.factor):
                if not is_disturbed(s, block, made[found.inverse], stmt, found):
                    stmt.expr = ir.call(
                        s.bind("cholesky_pullback", cholesky_pullback), ir.name(found.factor), ir.name(found.cotangent)
                    )
                    drop_unused(block, made, found.total, count_uses(back))


def is_double_matrix(s: Function, name: str) -> bool:
    """True if a variable is one matrix of doubles."""
    facts = s.facts[name]
    known = isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 2 and facts.dtype is not None
    return known and facts.dtype.kind == "f"  # type: ignore[union-attr]


def is_disturbed(s: Function, block: ir.Block, first: ir.Let, last: ir.Let, found: FactorCotangent) -> bool:
    """True if the factor or its cotangent may change before the cotangent of the matrix is there."""
    memory = roots_of(s.facts[found.factor]) | roots_of(s.facts[found.cotangent])
    between = block[block.index(first) : block.index(last)]
    return any(touches(s, stmt, memory, True) or changes(s, stmt, memory) for stmt in between)


def drop_unused(block: ir.Block, made: dict[str, ir.Let], name: str, uses: dict[str, int]) -> None:
    """Drop what made a variable, if nobody reads it any more, and what that has read."""
    stmt = made.get(name)
    if stmt is None or uses.get(name):
        return
    del made[name]
    block.remove(stmt)
    read = ir.reads(stmt)
    for other in dict.fromkeys(read):
        uses[other] -= read.count(other)
        drop_unused(block, made, other, uses)


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
