"""Products of cotangents with values that are there: products of two factors, and softmax.

::

    price = price * growth                  price = price * growth
    saved_price.append(...)  # before       saved_price.append(price)
    ...                               ->    ...
    d_t = d_price * before * growth         d_t = d_price * price

That is one pass over memory less, and often one value less to keep: it is what the derivative of an exponential or of a
power comes to where the result is multiplied by something.  The same for a quotient ``q = a / b`` and ``d / b * a``.
A product of a branch or a loop is known where these are reversed only: elsewhere it may be of another path or step.
Where values are saved in a loop, one of the factors must not be read by anything else.  Only cotangents round
differently; memory that the program writes is left alone.

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

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import Regions
from ...analysis.liveness import count_uses
from ...domain.facts import Num, is_same
from ...ir.function import Function
from ...ir.patterns import is_method, literal, numpy_name
from ...ir.traversal import substitute_own

PRODUCT = (gast.Mult, gast.Div)


@dataclass(frozen=True)
class Leaf:
    """A variable as it stands in a product that several statements compute: in which of them, and whether below."""

    name: str
    stmt: ir.Let
    left: bool
    below: bool


def reuse_products(s: Function, where: Regions, forward: ir.Block, reverse: ir.Block) -> None:
    """Rewrite the products of the reverse sweep, in place."""
    if any(is_product(getattr(stmt, "expr", None)) for stmt in ir.walk(forward)):
        Again(s, where, count_uses(reverse)).block(reverse, forward, {}, False)


def products(s: Function, where: Regions, block: ir.Block, looped: bool) -> Iterator[tuple[tuple, tuple[str, bool]]]:
    """The products and quotients of a block of the forward sweep -> the variable of each, and whether in a loop."""
    for stmt in block:
        if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and is_product(stmt.expr) and is_array(s, stmt.target):
            a, b = stmt.expr.left.id, stmt.expr.right.id
            if a != b and not any(where.is_written(n) for n in (a, b, stmt.target)):
                yield (type(stmt.expr.op), a, b), (stmt.target, looped)


def is_product(expr: object) -> bool:
    """True if an expression is the product or quotient of two variables."""
    if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, PRODUCT):
        return False
    return all(isinstance(e, gast.Name) and ir.is_variable(e.id) for e in (expr.left, expr.right))


def is_array(s: Function, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.kind == "array" and facts.dtype is not None and facts.dtype.kind == "f"


class Again:
    """Finds the products that are known, in a block of the reverse sweep and the blocks inside it."""

    def __init__(self, s: Function, where: Regions, uses: dict[str, int]) -> None:
        self.s, self.where, self.uses = s, where, Counter(uses)
        self.gone: set[str] = set()

    def block(self, block: ir.Block, primal: ir.Block, around: dict, looped: bool) -> None:
        """Rewrite what reverses `primal`: what that and the blocks around it have computed is there, no more."""
        known = around | dict(products(self.s, self.where, primal, looped))
        for stmt in block:
            inner = ir.bodies(stmt)
            reversed_stmt = getattr(stmt, "primal", None)
            of = ir.bodies(reversed_stmt) if type(reversed_stmt) is type(stmt) else [[] for _ in inner]
            for body, part in zip(inner, of, strict=True):
                self.block(body, part, known, looped or isinstance(stmt, ir.Loop))
        makers = {x.target: x for x in block if isinstance(x, ir.Let) and len(x.targets) == 1} if known else {}
        factors = {name for _, a, b in known for name in (a, b)}
        for stmt in list(block) if known else []:
            if isinstance(stmt, ir.Let) and is_multiplication(stmt) and stmt.target not in self.gone:
                leaves = [leaf for leaf in self.leaves(stmt, makers, False) if leaf.name in factors]
                found = self.pair(stmt, leaves, known)
                if found is not None:
                    self.rewrite(block, *found)

    def leaves(self, stmt: ir.Let, makers: dict[str, ir.Let], below: bool, depth: int = 0) -> Iterator[Leaf]:
        """The factors of what a statement computes, through the nearest temporaries that are made for it only."""
        for left, side in ((True, stmt.expr.left), (False, stmt.expr.right)):
            under = below != (not left and isinstance(stmt.expr.op, gast.Div))
            maker = makers.get(side.id) if isinstance(side, gast.Name) else None
            if maker is not None and self.uses[side.id] == 1 and is_multiplication(maker):
                if depth < thresholds.PRODUCTS_FOLLOWED:
                    yield from self.leaves(maker, makers, under, depth + 1)
            elif isinstance(side, gast.Name) and ir.is_variable(side.id):
                yield Leaf(side.id, stmt, left, under)

    def pair(self, root: ir.Let, leaves: list[Leaf], known: dict) -> tuple[ir.Let, Leaf, Leaf, str] | None:
        """Two factors that are one value: the one that goes, and the one that becomes that value."""
        for gone in leaves:
            for kept in leaves:
                key = (gast.Div, kept.name, gone.name) if gone.below else (gast.Mult, kept.name, gone.name)
                found = known.get(key) or (None if gone.below else known.get((gast.Mult, *key[:0:-1])))
                if found is None or kept.below or gone.stmt is root or not self.may_go(gone):
                    continue
                if self.is_worth(gone.name, kept.name, *found) and self.is_alike(root, found[0]):
                    return root, gone, kept, found[0]
        return None

    def may_go(self, leaf: Leaf) -> bool:
        """True if the statement that multiplies or divides by a factor does nothing else to the other side."""
        divides = isinstance(leaf.stmt.expr.op, gast.Div)
        return isinstance(self.rest(leaf), gast.Name) and (not divides or not leaf.left)

    def rest(self, leaf: Leaf) -> object:
        return leaf.stmt.expr.right if leaf.left else leaf.stmt.expr.left

    def is_worth(self, a: str, b: str, product: str, looped: bool) -> bool:
        """True if no more has to be kept than before."""
        if not looped or self.uses[product]:
            return True
        return any(self.uses[n] == 1 and is_array(self.s, n) for n in (a, b))

    def is_alike(self, root: ir.Let, product: str) -> bool:
        """True if the product is as precise as what is computed from it."""
        facts, other = self.s.facts[root.target], self.s.facts[product]
        return isinstance(facts, Num) and isinstance(other, Num) and is_same(facts.dtype, other.dtype)

    def rewrite(self, block: ir.Block, root: ir.Let, gone: Leaf, kept: Leaf, product: str) -> None:
        """Drop one factor, and put the product in the place of the other."""
        operand = kept.stmt.expr.left if kept.left else kept.stmt.expr.right
        mine: Callable = lambda side: ir.name(product) if side is operand else side  # noqa: E731
        kept.stmt.expr = gast.BinOp(mine(kept.stmt.expr.left), kept.stmt.expr.op, mine(kept.stmt.expr.right))
        mapping = {gone.stmt.target: self.rest(gone)}
        block.remove(gone.stmt)
        self.gone.add(gone.stmt.target)
        for stmt in block:
            if gone.stmt.target in ir.reads(stmt):
                substitute_own(stmt, mapping)
                self.forget_shape(stmt, root)
        self.uses.update([product])
        self.uses.subtract([gone.name, kept.name])

    def forget_shape(self, stmt: ir.Let, root: ir.Let) -> None:
        """Forget the shape of a product that lacks a factor: it may have fewer elements until that comes in."""
        facts = self.s.facts[stmt.target]
        if stmt is not root and isinstance(facts, Num) and facts.dims is not None:
            self.s.facts[stmt.target] = replace(facts, dims=(None,) * len(facts.dims))
            self.s.fits.pop(stmt.target, None)


def is_multiplication(stmt: ir.Let) -> bool:
    plain = not stmt.effect and not stmt.in_place and len(stmt.targets) == 1
    return plain and isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, PRODUCT)


def softmax_vjp(s: Function, where: Regions, forward: ir.Block, reverse: ir.Block) -> None:
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


def rewrite(s: Function, block: ir.Block, known: dict[Any, str], uses: dict[str, int]) -> None:
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


def terms(s: Function, once: dict[str, ir.Let], d: str, total: tuple[str, Any], q: str) -> Any | None:
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


def inner_sum(s: Function, once: dict[str, ir.Let], stmt: ir.Let, settings: Any) -> ir.Let | None:
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
