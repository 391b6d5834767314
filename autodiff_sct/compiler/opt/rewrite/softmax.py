"""The cotangent of a softmax is the softmax times what is above its mean.

::

    e = np.exp(z)                                         e = np.exp(z)
    p = e / np.sum(e, axis=1, keepdims=True)              p = e / np.sum(e, axis=1, keepdims=True)
    ...                                                   ...
    d_e = d_p / sum_e - (d_p * p / sum_e).sum(...)  ->    d_z = (d_p - (d_p * p).sum(...)) * p
    d_z = d_e * e

The division by the sum is taken out of both terms, and with the factor ``e`` it makes ``p``, which is there.  It works
for whatever is normalised so and has a cotangent times itself: the exponential of anything, or a power of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions
from ...analysis.liveness import count_uses
from ...ir.builder import Specialiser
from ...ir.patterns import is_method, literal, numpy_name


def softmax_vjp(s: Specialiser, where: Regions, forward: ir.Block, reverse: ir.Block) -> None:
    """Rewrite the cotangents of what is divided by its own sum, in place."""
    known = {(p, total): q for p, total, q in normalised(where, forward)}
    if known:
        uses = count_uses(reverse)
        for block in ir.blocks(reverse):
            rewrite(s, block, known, uses)


def normalised(where: Regions, forward: ir.Block) -> Iterator[tuple[str, tuple[str, Any], str]]:
    """The parts of ``q = p / total`` and ``total = np.sum(p, ...)``: p, the total with its options, and q."""
    sums: dict[str, tuple[str, Any]] = {}
    for stmt in ir.walk(forward):
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1:
            continue
        if (array := summed(stmt.expr)) is not None:
            sums[stmt.target] = (array, options(stmt.expr))
        elif (sides := operands(stmt, gast.Div)) is not None and sides[1] in sums:
            p, settings = sums[sides[1]]
            if p == sides[0] and not any(where.is_written(n) for n in (p, sides[1], stmt.target)):
                yield p, (sides[1], settings), stmt.target


def summed(expr: Any) -> str | None:
    """The variable that is summed by ``np.sum`` or by the method."""
    array: Any = expr.args[0] if is_numpy_sum(expr) else expr.func.value if is_method(expr, "sum") else None
    known = isinstance(array, gast.Name) and ir.is_variable(array.id) and len(positional(expr)) < 2
    return array.id if known and {k.arg for k in expr.keywords} <= {"axis", "keepdims"} else None


def is_numpy_sum(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and numpy_name(expr) == "sum" and len(expr.args) > 0


def positional(call: Any) -> list[Any]:
    """The arguments by position of a sum beside the array."""
    return list(call.args[is_numpy_sum(call) :])


def options(call: Any) -> tuple[Any, bool] | None:
    """The axis of a sum and whether it keeps it; None where that is not spelled out."""
    found = {k.arg: k.value for k in call.keywords} | dict(zip(["axis"], positional(call)))
    axis, keeps = literal(found.get("axis", ir.constant(None))), literal(found.get("keepdims", ir.constant(False)))
    return (axis, bool(keeps)) if "axis" not in found or type(axis) is int else None


def operands(stmt: Any, op: type) -> tuple[str, str] | None:
    """The two variables that a statement joins with an operator."""
    expr = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not stmt.effect else None
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, op):
        return None
    sides = (expr.left, expr.right)
    return (sides[0].id, sides[1].id) if all(isinstance(e, gast.Name) for e in sides) else None


def rewrite(s: Specialiser, block: ir.Block, known: dict[Any, str], uses: dict[str, int]) -> None:
    makers = {x.target: x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1}
    once = {name: x for name, x in makers.items() if uses.get(name) == 1}
    for stmt in list(block):
        for d, p in pairs(operands(stmt, gast.Mult)):
            match = next((m for key, q in known.items() if key[0] == p and (m := terms(s, once, d, key[1], q))), None)
            if match is not None:
                total, quotient, scaled, cotangent, q = match
                total.expr = gast.BinOp(cotangent, total.expr.op, total.expr.right)
                total.in_place = False
                scaled[0].expr = ir.substitute(scaled[0].expr, {scaled[1].target: scaled[1].expr.left})
                stmt.expr = ir.binop(ir.name(d), gast.Mult, ir.name(q))
                block.remove(quotient)
                block.remove(scaled[1])


def pairs(sides: tuple[str, str] | None) -> list[tuple[str, str]]:
    return [] if sides is None else [sides, sides[::-1]]


def terms(s: Specialiser, once: dict[str, ir.Let], d: str, total: tuple[str, Any], q: str) -> Any | None:
    """The statements that make ``d = cotangent / total + sum(-cotangent * q / total)``, each read once."""
    added = once.get(d)
    sides = operands(added, gast.Add) if added is not None else None
    first, second = (once.get(n) for n in sides) if sides else (None, None)
    quotient = operands(first, gast.Div)
    if added is None or first is None or second is None or quotient is None or quotient[1] != total[0]:
        return None
    total_of = inner_sum(s, once, second, total[1])
    scaled = once.get(str(summed(total_of.expr))) if total_of is not None else None
    divided = operands(scaled, gast.Div)
    product = operands(once.get(divided[0]), gast.Mult) if divided is not None and divided[1] == total[0] else None
    for minus, factor in pairs(product):
        maker = once.get(minus)
        negative = maker is not None and isinstance(maker.expr, gast.UnaryOp) and isinstance(maker.expr.op, gast.USub)
        if factor == q and maker is not None and negative and getattr(maker.expr.operand, "id", None) == quotient[0]:
            return added, first, (total_of, scaled), ir.name(quotient[0]), q
    return None


def inner_sum(s: Specialiser, once: dict[str, ir.Let], stmt: ir.Let, settings: Any) -> ir.Let | None:
    """The sum over the axis of the total, with that axis kept or put in again where the total has it."""
    expr = stmt.expr
    if settings is None:
        return None
    axis, keeps = settings
    if not keeps and axis == 0 and isinstance(expr, gast.Call) and numpy_name(expr) == "expand_dims":
        name, place = expr.args if len(expr.args) == 2 else (None, None)
        stmt = once.get(getattr(name, "id", ""), stmt) if literal(place) == 0 else stmt
        return stmt if summed(stmt.expr) is not None and options(stmt.expr) == (0, False) else None
    if summed(expr) is None or (found := options(expr)) is None:
        return None
    if axis is None and not keeps:
        return stmt if found == (None, False) else None
    rank = getattr(s.facts[stmt.target], "ndim", None)
    same = rank is not None and found[0] is not None and axis is not None and found[0] % rank == axis % rank
    return stmt if keeps and found[1] and same else None
