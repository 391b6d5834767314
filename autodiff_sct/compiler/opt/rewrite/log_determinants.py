"""The cotangent of a matrix by its log-determinant, from its Cholesky factor, is its inverse.

::

    factor = np.linalg.cholesky(k)                     factor = np.linalg.cholesky(k)
    y = c * np.sum(np.log(np.diag(factor)))            ...
    ...                                                inverse = np.linalg.inv(factor)
    s = inverse.T @ (... * weights) @ inverse   ->     s = inverse.T @ inverse
    d_k = (s + s.T) * weights                          d_k = c * s * weights

What is between the inverses in the adjoint of `np.linalg.cholesky` is then ``factor.T @ np.diag(c / np.diag(factor))``,
of which the weights leave the half of the diagonal: ``c / 2`` times the identity.

The same of ``np.log(np.linalg.det(k))``: by ``c / det * det * inverse.T`` it is ``c * inverse.T``, also where the
determinant is too small or too large for a float.  Of what has an inverse, a determinant raises nothing.  A derivative
that is differentiated again has ``c / det * cofactors(k)`` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from ....runtime.linalg.determinants import cofactors
from ... import ir
from ...analysis.alias import Regions
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import is_method
from .softmax import operands, pairs


def log_determinants(s: Specialiser, where: Regions, forward: ir.Block, reverse: ir.Block) -> None:
    """Rewrite the adjoints of determinants, and of Cholesky factors, of which only the logarithm is read, in place."""
    note_inverses(where, forward)
    for block in ir.blocks(reverse):
        made = {x.target: x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1}
        for stmt in list(block):
            cancel(s, block, made, stmt)
        if any(isinstance(x, ir.Let) and called(x.expr, "tri") for x in block):
            for stmt in block:
                rewrite(s, where, made, stmt)


def note_inverses(where: Regions, forward: ir.Block) -> None:
    """Note which determinants of a program surely exist, for the inverses of their matrices have been made."""
    for block in ir.blocks(forward):
        inverted: set[str] = set()
        for stmt in block:
            matrix = getattr(stmt.expr.args[0], "id", "") if isinstance(stmt, ir.Let) and of_matrix(stmt.expr) else ""
            if matrix and not where.is_written(matrix):
                if called(stmt.expr, "linalg.inv"):
                    inverted.add(matrix)
                elif matrix in inverted and not stmt.loud:
                    stmt.may_raise = False


def of_matrix(expr: Any) -> bool:
    return called(expr, "linalg.inv", "linalg.det", "linalg.slogdet")


def cancel(s: Specialiser, block: ir.Block, made: dict[str, ir.Let], stmt: Any) -> None:
    """Leave the determinant out of ``c / det * det``, and the cofactors out of ``c / det * cofactors``."""
    for quotient, factor in pairs(operands(stmt, gast.Mult)):
        number, divisor = sides(made, quotient, gast.Div)
        determinant: Any = s.definitions.get(divisor)
        facts = s.facts[number] if number else None
        is_number = isinstance(facts, Num) and facts.dims == () and facts.kind != "array"
        if not is_number or not called(determinant, "linalg.det"):
            continue
        if divisor == factor:
            stmt.expr = ir.name(number)
            return
        if factor in made and is_cofactors(s, made[factor].expr, determinant.args[0]):
            inverse, turned = (s.fresh(hint, s.facts[factor]) for hint in ("inverse", "transposed"))
            call = ir.call(ir.attribute(ir.attribute(s.bind("np", np), "linalg"), "inv"), determinant.args[0])
            transpose = ir.attribute(ir.name(inverse), "T")
            stmt.expr = ir.binop(ir.name(number), gast.Mult, ir.name(turned))
            place = block.index(stmt)
            block[place:place] = [ir.Let((n,), e, None, stmt.origin) for n, e in ((inverse, call), (turned, transpose))]
            return


def is_cofactors(s: Specialiser, expr: Any, matrix: Any) -> bool:
    """True for a call of `cofactors` of a matrix, and of nothing else."""
    if not isinstance(expr, gast.Call) or not isinstance(expr.func, gast.Name) or len(expr.args) != 1:
        return False
    alike = all(isinstance(x, gast.Name) for x in (expr.args[0], matrix)) and expr.args[0].id == matrix.id
    return alike and s.globals.get(expr.func.id) is cofactors


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
    """What a statement computes the cotangent of a matrix from, if it does so from that of its Cholesky factor."""
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


def rewrite(s: Specialiser, where: Regions, made: dict[str, ir.Let], stmt: Any) -> None:
    """Rewrite ``(product + product.T) * weights`` of such a factor; what nobody reads then is dropped later."""
    found = factor_cotangent(made, stmt)
    number = of_logarithms(s, where, made, found.cotangent, found.factor) if found is not None else None
    if found is not None and number is not None:
        made[found.product].expr = ir.binop(ir.name(found.back), gast.MatMult, ir.name(found.inverse))
        made[found.total].expr = ir.binop(ir.name(number), gast.Mult, ir.name(found.product))


def of_logarithms(s: Specialiser, where: Regions, made: dict[str, ir.Let], name: str, factor: str) -> str | None:
    """The number c of a cotangent ``np.diag(c / np.diag(factor))``."""
    call: Any = made[name].expr if name in made else None
    quotient = getattr(call.args[0], "id", "") if called(call, "diag") else ""
    number, divisor = sides(made, quotient, gast.Div)
    if not number or where.is_written(factor) or where.is_written(divisor):
        return None
    roots: list[Any] = [made[n].expr if n in made else s.definitions.get(n) for n in (divisor, factor)]
    facts = s.facts[number]
    is_number = isinstance(facts, Num) and facts.dims == ()
    fits = diagonal_of(roots[0]) == factor and called(roots[1], "linalg.cholesky")
    return number if is_number and fits else None


def diagonal_of(expr: Any) -> str | None:
    """The variable of which an expression is the diagonal."""
    if is_method(expr, "diagonal") and not expr.args and not expr.keywords:
        return getattr(expr.func.value, "id", None)
    return getattr(expr.args[0], "id", None) if called(expr, "diag", "diagonal") else None


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
    """Whether a variable holds ``np.tri(n)`` less something."""
    return called(made[sides(made, name, gast.Sub)[0] or name].expr if name in made else None, "tri")


def called(expr: Any, *functions: str) -> bool:
    """Whether an expression calls one of some functions of NumPy's with one argument and nothing else."""
    alone = isinstance(expr, gast.Call) and len(expr.args) == 1 and not expr.keywords
    return alone and (ir.path_of(expr.func) or "").removeprefix("np.") in functions
